#!/bin/bash
# public_ptx.sh NAME=FOLDER...: of the CUDA sources in these folders, whose PTX does the emulator take? Compiles
# each .cu as it is with nvcc for compute_90a, loads the PTX (build/load-ptx), runs nothing, fetches nothing. Prints
# for each folder its revision, the sources, those that compile, and those with no kernel refused; then every file
# that does not load, with what it lacks, and every source that does not compile. KEEP=DIR keeps the PTX, and uses
# what is there; FLAGS="-I..." go to nvcc, for sources that need headers from elsewhere; SKIP=REGEX leaves paths out.
set -u
cd "$(dirname "$0")/../.."
build=${BUILD:-build} keep=${KEEP:-$(mktemp -d)} nvcc=${NVCC:-nvcc}
[ $# -gt 0 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
[ -n "${KEEP:-}" ] || trap 'rm -rf "$keep"' EXIT
mkdir -p "$keep"

compile() { # NAME FOLDER SOURCE: $keep/NAME_SOURCE.ptx, or .why
    local name=$1 folder=$2 source=$3 out
    out=$keep/${name}_$(echo "${source%.cu}" | tr '/ ' '__')
    [ -s "$out.ptx" ] || [ -s "$out.why" ] && return
    nice timeout 600 "$nvcc" -ptx -arch=compute_90a -lineinfo -std=c++17 -w --expt-relaxed-constexpr --extended-lambda \
        -I"$folder" -I"$folder/Common" -I"$folder/include" -I"$folder/src" -I"$folder/dev/cuda" -I"$(dirname "$folder/$source")" \
        -I"$(dirname "$folder/$source")/.." ${FLAGS:-} -o "$out.ptx" "$folder/$source" > "$out.said" 2>&1 && rm "$out.said" && return
    rm -f "$out.ptx"
    { grep -m1 -E 'error|fatal' "$out.said" || echo "nvcc failed"; } | sed "s|$folder/||g" > "$out.why"
    rm "$out.said"
}

printf '%s\n' "$("$nvcc" --version | tail -2 | head -1)"
printf '%-14s %-10s %8s %9s %6s\n' folder revision sources compile load
files=0 loaded=0
for word in "$@"; do
    name=${word%%=*} folder=${word#*=}
    revision=$(git -C "$folder" log -1 --format=%h 2> /dev/null)
    [ -e "$folder/.revision" ] && revision=$(cat "$folder/.revision")
    n=0
    while read -r source; do
        compile "$name" "$folder" "$source"
        n=$((n + 1))
    done < <(cd "$folder" && find . -name '*.cu' | sed 's|^\./||' | grep -vE "${SKIP:-^$}" | sort)
    shopt -s nullglob
    ptx=("$keep/${name}_"*.ptx)
    good=0
    [ ${#ptx[@]} -eq 0 ] || good=$("$build/load-ptx" "${ptx[@]}" | tee "$keep/$name.loads" | sed -n '$s/ of .*//p')
    printf '%-14s %-10s %8d %9d %6d\n' "$name" "${revision:--}" "$n" ${#ptx[@]} "$good"
    files=$((files + ${#ptx[@]})) loaded=$((loaded + good))
done
printf '%-14s %-10s %8s %9d %6d   %s %%\n' all - - $files $loaded "$(awk "BEGIN {printf \"%.1f\", $files ? 100 * $loaded / $files : 0}")"

printf '\nDoes not load\n'
for word in "$@"; do
    name=${word%%=*}
    sed -n '/ 0 refused$/!p' "$keep/$name.loads" 2> /dev/null | sed "s|$keep/||; /files load$/d; s/ of [^ ]*\.ptx cannot run here//" |
        cut -c1-190
done
printf '\nDoes not compile\n'
for word in "$@"; do
    name=${word%%=*}
    for why in "$keep/${name}_"*.why; do printf '%s: %s\n' "$(basename "$why" .why)" "$(cut -c1-120 "$why")"; done
done
