#!/bin/bash
# A kernel's parts, the .cuh files that it includes as text, say in their first comment which names they need, and whose.
. tests/tap.sh
check "every .cuh says what it needs" python3 tests/house/needs.py
stray() { # a part that uses one name more is found
    mkdir -p "$tap_dir/stages" && cp -r stages/4-tuned "$tap_dir/stages/" && sed -i 's/^constexpr float FAR = 1024;/constexpr float FAR = KV_BYTES;/' "$tap_dir/stages/4-tuned/references.cuh" &&
        ! (cd "$tap_dir" && python3 "$OLDPWD/tests/house/needs.py" > said) && grep -q '^stages/4-tuned/references.cuh: .*KV_BYTES' "$tap_dir/said"
}
check "a name that is not named is found" stray
tap_done
