# For shell tests: every attention stage that is built, against the pass rule, on one device. Source it after
# tap.sh with `device` set, and call:
#
#   stages_inputs SHAPE...   each shape (options in one word) on all eleven inputs, unmasked and causal
#   stages_shapes SHAPE...   each shape once
#   stages_sweep N           N random problems
#   stages_repeat N SHAPE    N bitwise equal runs
inputs="normal outlier normal3 uniform ascending descending negative constant ramp identity index"

# The attention stages; stage 5 is one instruction under the microscope.
stages() {
    local program
    for program in "$build"/stage-[0-9]*; do
        [ -x "$program" ] && [ "${program##*-}" != 5 ] && echo "$program"
    done
}

# One run; a problem that the stage refuses by name (3) is no failure, but is counted.
n_refused=0
stage_run() {
    "$@" --device "$device" --no-time --counters none --quiet
    local got=$?
    [ $got -eq 3 ] && n_refused=$((n_refused + 1))
    [ $got -eq 0 ] || [ $got -eq 3 ]
}

stages_inputs() {
    local program shape input mask
    for program in $(stages); do
        for shape; do
            all_inputs() {
                for input in $inputs; do
                    for mask in "" --causal; do
                        stage_run "$program" $shape $mask --input "$input" ||
                            { echo "$program $shape $mask --input $input"; return 1; }
                    done
                done
            }
            check "$(basename "$program") $shape, eleven inputs" all_inputs
        done
    done
}

stages_shapes() {
    local program shape
    for program in $(stages); do
        for shape; do check "$(basename "$program") $shape" stage_run "$program" $shape; done
    done
}

stages_sweep() {
    local program
    for program in $(stages); do
        check "$(basename "$program"), $1 random problems" \
            "$program" --device "$device" --sweep-random "$1" --seed "${SEED:-1}"
    done
}

stages_repeat() {
    local program
    for program in $(stages); do
        check "$(basename "$program") $2, $1 equal runs" \
            "$program" --device "$device" --repeat-check "$1" $2
    done
}
