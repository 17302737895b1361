#!/bin/bash
# predict.sh OUT.jsonl: what the clock predicts for every case of cases.txt, one JSON line a case: the case's
# number, then what build/predict-N says of its main launch; "none" and why where it cannot. Two at a time.
set -u
out=$1 cases=$(dirname "$0")/cases.txt
one() {
    local number=$1 stage=$2 options=$3 said
    # shellcheck disable=SC2086
    said=$(timeout 100 build/predict-"$stage" $options 2> /dev/null | head -n 1)
    case $said in
        \{*) printf '{"case": %d, %s\n' "$number" "${said#\{}" ;;
        *) printf '{"case": %d, "none": "no prediction in 100 s"}\n' "$number" ;;
    esac
}
export -f one
grep -v '^#' "$cases" | awk -F'\t' '{printf "%d\t%s\t%s\n", NR, $1, $3}' | tr '\n' '\0' |
    xargs -0 -P "${JOBS:-2}" -I{} bash -c 'IFS=$'"'\t'"' read -r n s o <<< "$1"; one "$n" "$s" "$o"' _ {} > "$out.new"
sort -t: -k2n "$out.new" > "$out" && rm "$out.new"
