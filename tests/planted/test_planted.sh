# Fifty planted bugs and thirty planted deadlocks: the emulator names each. Prints the two tables.
# Thorough: it compiles two programs and runs them eighty times.
. tests/tap.sh
if ! command -v "${NVCC:-nvcc}" > /dev/null; then
    skip "planted bugs" "no nvcc here"
    tap_done
fi
planted() { python3 tests/planted/planted.py "$@"; }
check "the sources say what is expected" planted check
for each in bugs deadlocks; do
    check "$each compile" env BUILD="$build" runtime/attnlab-nvcc -O2 -g -std=c++17 -w -I. -Icommon/cuda -I"$build/include" \
        -o "$tap_dir/$each" "tests/planted/$each.cu"
    check "$each are named" planted $each "$tap_dir"
    sed 's/^/#| /' "$tap_dir/out"
done

# Each of these must be able to fail: what is expected at another line, of another kind, or more than is said.
copy=$tap_dir/copy
mistaken() { # SED-SCRIPT FILE TABLE NAME PATTERN: with that change the case is not named
    rm -rf "$copy" && cp -r tests/planted "$copy" && sed -i "$1" "$copy/$2.cu"
    ! python3 "$copy/planted.py" "$2" "$tap_dir" "$3" > "$tap_dir/said" && grep -q "$4" "$tap_dir/said"
}
check "a bug that is reported at another line is not named" mistaken '1,50s,^.*// @missing_barrier$,&  // elsewhere,; 20s,$, // @missing_barrier,' bugs missing_barrier 'other line'
check "nor one of another kind" mistaken 's/^\(.*= ld_nc | \)stale read/\1race/' bugs ld_nc 'other kind'
check "nor a program without a bug" mistaken 's/RUN(ld_nc, .*/(void)0;/; s/= ld_nc |/= none |/; s/@ld_nc/@none/' bugs none 'missed'
check "nor a deadlock of which less is said" mistaken 's/^.*= swapped .*/&\n\/\/- barrier 3/' deadlocks swapped 'lacks: barrier 3'
tap_done
