# For shell tests: every attention stage that is built, against the pass rule, on one device. Source
# it after tap.sh with `device` set (and `options`, for all runs), and call:
#
#   stages_inputs SHAPE...   each shape (options in one word) on all eleven inputs, unmasked and causal
#   stages_shapes SHAPE...   each shape once
#   stages_sweep N           N random problems
#   stages_repeat N SHAPE    N bitwise equal runs
#   stages_steps SHAPE...    each shape by every rung of stage 6
#
# A shape that the stage refuses by name (status 3) is skipped, with its reason; an instruction that
# the emulator does not know is a failure.
inputs="normal outlier normal3 uniform ascending descending negative constant ramp identity index"
options=

# The attention stages, of $STAGES ("1 4") if it names some; `stages all`: those too that compute
# something else (a line `problem` in their file images).
stages() {
    local program number
    for program in "$build"/stage-[1-9]*; do
        [[ $program == *.so ]] && continue # the same, for Python
        number=${program##*-}
        [ "${1:-}" != all ] && grep -q '^problem' stages/"$number"-*/images && continue
        [ -n "${STAGES:-}" ] && [[ " $STAGES " != *" $number "* ]] && continue
        [ -x "$program" ] && echo "$program"
    done
}

# One test: NAME PROGRAM OPTIONS... Beside others on the emulator, which small problems do not keep busy.
stage_test() {
    if [ "$device" = emu ]; then later stage_run "$@"; else stage_run "$@"; fi
}
stage_run() {
    local name=$1 got
    shift
    "$@" --device "$device" $options > "$tap_own/out" 2>&1
    got=$?
    if [ $got -eq 3 ] && ! grep -q 'does not know' "$tap_own/out"; then
        skip "$name" "$(tail -n 1 "$tap_own/out")"
        return
    fi
    tap_result "$name" $((got == 0)) "$tap_own/out"
}

stages_shapes() {
    local program shape
    for program in $(stages); do
        for shape; do
            stage_test "$(basename "$program") $shape" "$program" $shape --no-time \
                --counters none --quiet
        done
    done
}

stages_inputs() {
    local shape input shapes=()
    for shape; do
        for input in $inputs; do
            shapes+=("$shape --input $input" "$shape --input $input --causal")
        done
    done
    stages_shapes "${shapes[@]}"
}

stages_sweep() {
    local program
    for program in $(stages); do
        stage_test "$(basename "$program"), $1 random problems" "$program" --sweep-random "$1" \
            --seed "${SEED:-1}"
    done
}

stages_repeat() {
    local program
    for program in $(stages); do
        stage_test "$(basename "$program") $2, $1 equal runs" "$program" --repeat-check "$1" $2
    done
}

stages_steps() {
    local dim step shape
    [[ $(stages) == *stage-6* ]] || return 0
    for step in $(cut -f 1 stages/6-wgmma-attention/steps/steps.txt | grep -v kernel); do
        for dim in 64 128; do
            for shape; do
                stage_test "stage-6 d$dim-$step $shape" "$build/stage-6" --image "d$dim-$step" \
                    --head-dim $dim $shape --no-time --counters none --quiet
            done
        done
    done
}
