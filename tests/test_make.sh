#!/bin/bash
# What make answers where it has nothing to do: a cause and what to do about it, before it builds anything.
. tests/tap.sh
unset MAKEFLAGS MFLAGS MAKELEVEL ARGS DEVICE RECORDED

refuses() { # STATUS PATTERN GOALS...: make's status is 2; the recipe's is in the line "Error STATUS", or 0: no recipe ran
    local status=$1 pattern=$2
    shift 2
    make BUILD="$build" "$@" > "$tap_dir/said" 2>&1
    local rc=$?
    cat "$tap_dir/said"
    [ $rc -eq 2 ] && grep -q -e "$pattern" "$tap_dir/said" || return 1
    [ "$status" -eq 0 ] || grep -q "Error $status\$" "$tap_dir/said"
}
check "a stage that is not there" refuses 0 "there is no stage-9; there are stage-1 " stage-9 run
check "options that a shell would take apart" refuses 0 "has no place there" stage-1 run "ARGS=--causal;ls"
check "a stage without a sweep" refuses 2 "stage-6 has no sweep; these have: stage-4 stage-5" stage-6 sweep RECORDED=h200
check "a ladder that was not recorded" refuses 5 "no plots/recorded/none.jsonl" ladder RECORDED=none
check "a timeline that was not recorded" refuses 5 "no plots/recorded/none-timeline-6.tsv" stage-6 timeline RECORDED=none
check "peers that were not recorded" refuses 1 "there is no plots/recorded/none-peers.jsonl" stage-6 peers-table RECORDED=none
status "a table of what?" 1 python3 plots/peers_table.py

tap_done
