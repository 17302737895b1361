# The labs: holes, skeletons, solutions, mistakes and their hints (tests/labs.py), a student's folder.
# Two mistakes a lab; all of them, minutes, and a table where it is named: make test TESTS=labs [LAB=2].
. tests/tap.sh
unset MAKEFLAGS MFLAGS # of the make that runs this

if [ ! -x .venv/bin/jupytext ]; then
    skip labs "no .venv/bin/jupytext; make setup installs it"
    tap_done
fi

bare() { # no mark of a solution is left, and what a solution says is gone
    local file
    for file in $(git grep -l 'BEGIN SOLUTION lab-' stages); do
        labs/strip.py "$file" > "$tap_dir/bare" && ! grep -n SOLUTION "$tap_dir/bare" && ! cmp -s "$file" "$tap_dir/bare" || return 1
    done
}
check "stripped kernels have no solutions" bare
printf '// BEGIN SOLUTION lab-1: x\n' > "$tap_dir/open.cu"
status "a solution without an end is said" 1 labs/strip.py "$tap_dir/open.cu"
status "no such file" 1 labs/strip.py "$tap_dir/nosuch.cu"
status "make: no such lab" 2 make -n lab-9
status "see: no such lab" 2 .venv/bin/python labs/see.py 9
status "see: no such folder" 2 .venv/bin/python labs/see.py 1 --source "$tap_dir/nosuch"
other_lab() { [ "$(labs/strip.py --lab 2 stages/1-scalar/kernel.cu | grep -c 'BEGIN SOLUTION lab-1')" -eq 3 ]; }
check "--lab leaves the others' alone" other_lab

hints() { # three for every part of every lab
    local n
    for n in 1 2 3 4 5 6; do
        [ "$(grep -c '^    - ' labs/$n/hints)" -eq $((3 * $(grep -rhE "(//|[*]) BEGIN SOLUTION lab-$n: " stages | wc -l))) ] || { echo "lab $n"; return 1; }
    done
}
check "three hints for every part" hints

while IFS=$'\t' read -r result lab what how; do
    [[ $result == '#|'* ]] && echo "$result" && continue
    printf '%s\n' "$how" > "$tap_dir/how"
    tap_result "$lab: $what" "$([ "$result" = ok ] && echo 1 || echo 0)" "$tap_dir/how"
done < <(BUILD=$build .venv/bin/python tests/labs.py $THOROUGH $LAB)
check "mistakes were tried" test $tap_n -gt $([ -n "${LAB:-}" ] && echo 12 || echo 40)
tap_done
