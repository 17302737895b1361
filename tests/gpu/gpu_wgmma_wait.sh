#!/bin/bash
# A WGMMA is one operation of its warpgroup: a warp that has waited for it knows that all four have read their operands.
# The emulator's check of races counts on this. Prints the table of tests/gpu/wgmma_wait.cu.
. tests/tap.sh
"$build/tests/wgmma_wait" > "$tap_dir/table"
status=$?
if [ $status -eq 77 ]; then
    skip "a wait covers the whole warpgroup" "only Hopper has WGMMA"
    tap_done
fi
sed 's/^/# /' "$tap_dir/table"
check "a wait covers the whole warpgroup" [ $status -eq 0 ]
tap_done
