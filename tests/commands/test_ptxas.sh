#!/bin/bash
# What ptxas said of every cubin: no spills, registers within the limit that the stage states (but for
# images with a source of their own), none of the warnings that say that WGMMA was serialised or
# setmaxnreg ignored (C7508 to C7518), or a wait or a fence put in (C7517, C7519). Those two a stage with
# a problem of its own may ask for: it leaves them out to show what happens, and to time nothing else.
. tests/tap.sh

within() { # FILE LIMIT
    local used
    used=$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$1")
    [ -n "$used" ] || { echo "$1 names no registers"; return 1; }
    for n in $used; do [ "$n" -le "$2" ] || { echo "$1: $n registers, limit $2"; return 1; }; done
}
no_spills() { # FILE
    grep -q '0 bytes spill stores' "$1" && ! grep -E '[1-9][0-9]* bytes spill' "$1"
}
no_warnings() { # FILE
    ! grep -E 'C75[0-9]{2}' "$1" | grep -vE "$asked_for"
}

for folder in stages/[0-9]*-*; do
    number=$(basename "$folder" | sed 's/-.*//')
    asked_for='no warning'
    grep -q '^problem' "$folder/images" && asked_for='C75(17|19)'
    limit=$(sed -n 's/.*\.max_registers = \([0-9]*\).*/\1/p' "$folder"/*.c)
    check "stage-$number states a register limit" test -n "$limit"
    for report in "$build/images/stage-$number"/*.sm_*.ptxas; do
        [ -e "$report" ] || continue
        name="stage-$number $(basename "$report" .ptxas)"
        image=$(basename "$report" | sed 's/[.].*//')
        [ -n "$limit" ] && ! grep -qE "^$image .*[.]cu( |$)" "$folder/images" &&
            check "$name: registers" within "$report" "$limit"
        check "$name: no spills" no_spills "$report"
        check "$name: no warnings" no_warnings "$report"
    done
done
tap_done
