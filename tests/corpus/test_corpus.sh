#!/bin/bash
# Thorough: runs every kernel of the corpus on the emulator, with nvcc's PTX of all of them; some 20 seconds.
#
# The bars: of the racy kernels at most 2 % missed, of the right ones at most 1 % called wrong. What is missed or false
# stands in known.txt with its reason; nothing else may be, and what is mended must leave that list.
. tests/tap.sh
corpus="python3 tests/corpus/corpus.py"

at_least() { # N racy|right
    local n
    n=$($corpus list | grep -c " $2 ")
    [ "$n" -ge "$1" ] || { echo "there are $n $2 kernels"; return 1; }
}
check "names, numbers and marks of the sources agree" $corpus check
check "150 racy kernels" at_least 150 racy
check "150 right kernels" at_least 150 right
check "nothing is missed or false but what known.txt explains" $corpus table "$build"
grep -E '^(\||missed)' "$tap_dir/out" | sed 's/^/#| /'

# A table that could not fail would say nothing: right kernels that are called racy are missed, and racy ones that are
# called right are false.
mistaken() { # FROM TO WORD: in a copy of the sources
    local copy=$tap_dir/corpus
    rm -rf "$copy" && cp -r tests/corpus "$copy"
    sed -i "$1" "$copy/bulk.cu"
    ! python3 "$copy/corpus.py" table "$build" load > "$tap_dir/said" && grep -q "$2" "$tap_dir/said"
}
check "a right kernel that is called racy counts as missed" \
    mistaken 's/^RIGHT(bulk_wait, load<0>,/RACY(bulk_wait, load<0>, "race",/' 'bulk_wait: missed'
check "a racy kernel that is called right counts as false" \
    mistaken 's/^RACY(bulk_no_wait, load<1>, "race|in flight",/RIGHT(bulk_no_wait, load<1>,/' 'bulk_no_wait: false'
check "a report at another line does not count" mistaken 's,// @1.*,,' 'bulk_no_wait: other line'
unmarked() { ! mistaken 's,// @1.*,,' never && ! python3 "$tap_dir/corpus/corpus.py" check > "$tap_dir/said" && grep -q "no line is marked @1" "$tap_dir/said"; }
check "a racy kernel without a marked line is found" unmarked
tap_done
