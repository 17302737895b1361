# For tests of the labs: source this after tap.sh. labs_tried [all] [LAB]: tests/course/labs.py as TAP, and its table.
labs_tried() {
    local result lab what how
    while IFS=$'\t' read -r result lab what how; do
        [[ $result == '#|'* ]] && echo "$result" && continue
        printf '%s\n' "$how" > "$tap_dir/how"
        tap_result "$lab: $what" "$([ "$result" = ok ] && echo 1 || echo 0)" "$tap_dir/how"
    done < <(BUILD=$build ${PYTHON:-.venv/bin/python} tests/course/labs.py "$@")
}
