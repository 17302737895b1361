# For shell tests: the mutation gate on the real kernels. Source it after tap.sh with `device` set.
#
#   mutate STAGE...    compiles every mutant of tests/mutants/mutants.txt that the stage can have and runs it on
#                      shapes and inputs until one run fails, as many mutants at a time as there are
#                      cores; one result for each semantic mutant, one for all precision mutants
#                      together: 9 of 10 must fail
#
# Needs nvcc ($NVCC). What is tried in turn, the cheapest first; groups of three heads cannot be packed in
# tiles of 64 rows; the last two leave no SM free, so that nothing splits the keys.
mutate_runs=(
    "--seqlen-q 70 --seqlen-k 130 --heads 4 --kv-heads 2 --batch 2"
    "--seqlen-q 70 --seqlen-k 60 --heads 4 --kv-heads 2"
    "--seqlen-q 70 --seqlen-k 60 --heads 6 --kv-heads 2"
    "--seqlen-q 70 --seqlen-k 203 --heads 2 --causal"
    "--seqlen-q 203 --seqlen-k 70 --heads 2 --causal"
    "--seqlen-q 70 --seqlen-k 450 --heads 2 --input ascending"
    "--seqlen-q 70 --seqlen-k 450 --heads 2 --input descending"
    "--seqlen-q 70 --seqlen-k 203 --heads 2 --input index"
    "--seqlen-q 70 --seqlen-k 203 --heads 2 --input outlier"
    "--seqlen-q 70 --seqlen-k 203 --heads 2 --input negative"
    "--seqlen-q 70 --seqlen-k 203 --heads 2 --input normal3"
    "--seqlen-q 70 --seqlen-k 203 --heads 2 --input constant"
    "--seqlen-q 64 --seqlen-k 16384 --heads 1"
    "--seqlen-q 64 --seqlen-k 16384 --heads 1 --input outlier"
    "--seqlen-q 70 --seqlen-k 130 --heads 134 --kv-heads 67"
    "--seqlen-q 70 --seqlen-k 450 --heads 134 --kv-heads 67 --input outlier"
)

# The images that these runs need, and their head_dim: at 128 all of stage 6's ideas are met.
mutate_images() {
    case $1 in
    4) echo d64 d64-small ;;
    6) echo d128-split d128-split-causal d128-short ;;
    *) echo d64 ;;
    esac
}
# Stage 6 chooses by a model of time among more images than these: RUN -> the one to launch
mutate_image() { # STAGE RUN
    [ "$1" = 6 ] || return 0
    case $2 in
    *--causal*) echo --image d128-split-causal ;;
    *"--heads 134"*) echo --image d128-short ;;
    *) echo --image d128-split ;;
    esac
}
mutate_dim() { if [ "$1" = 6 ]; then echo 128; else echo 64; fi; }

# STAGE: lines "KIND<tab>NAME<tab>SCRIPT" for the mutants that it can have
mutants_of() {
    awk -v stage="$1" '
        /^#/ || !NF {next}
        /^[^ ]/     {kind = $0; sub(/.*\(/, "", kind); sub(/\)$/, "", kind); name = $0; sub(/ \([a-z]*\)$/, "", name); next}
        {n = index($0, ":"); split(substr($0, 1, n - 1), stages, " ")
         for (i in stages) if (stages[i] == stage) print kind "\t" name "\t" substr($0, n + 2)}' tests/mutants/mutants.txt
}

# FOLDER-OF-STAGE STAGE FOLDER SCRIPT: a program beside a wrong image
mutant_build() {
    local source=$1 stage=$2 folder=$3 script=$4 images=$3/images/stage-$2 arch kind extension image file changed=
    mkdir -p "$images"
    for file in "$source"/kernel.cu "$source"/*.cuh; do # quoted includes are first looked for beside kernel.cu
        [ -e "$file" ] || continue
        sed -E "$script" "$file" > "$folder/$(basename "$file")" || return 1
        cmp -s "$file" "$folder/$(basename "$file")" || changed=1
    done
    [ "$changed" ] || { echo "stale: it changes nothing"; return 1; }
    if [ "$device" = emu ]; then extension=ptx kind='compute_[0-9a]+'
    else extension=cubin kind='sm_9[0-9a]+'
    fi
    ln -f "$build/stage-$stage" "$folder/stage-$stage" || return 1
    for image in $(mutate_images "$stage"); do
        arch=$(awk -v image="$image" '$1 == "arch" {arch = $0} $1 == image {print arch}' "$source/images" | grep -oE "$kind" | tail -n 1)
        # shellcheck disable=SC2046
        "${NVCC:-nvcc}" -std=c++17 -lineinfo -I. "-I$build/include" "-I$source" -w "-$extension" "-arch=$arch" \
            $(awk -v image="$image" '$1 == image {$1 = ""; print}' "$source/images") \
            -o "$images/$image.$arch.$extension" "$folder/kernel.cu" || return 1
    done
}

# PROGRAM STAGE: prints which run rejects it, 0; 1 if none does, 2 if one could not say
mutant_killed() {
    local run said status
    for run in "${mutate_runs[@]}"; do
        # shellcheck disable=SC2086
        said=$(timeout 120 "$1" --device "$device" --head-dim "$(mutate_dim "$2")" $run $(mutate_image "$2" "$run") --no-time \
            --counters none --quiet 2>&1)
        status=$?
        case $status in
        0) ;;
        1 | 4 | 124) echo "$run: $status, $said"; return 0 ;;
        *) echo "$run: status $status, which says nothing: $said"; return 2 ;;
        esac
    done
    echo "it survives"
    return 1
}

survives() { mutant_killed "$@"; [ $? -eq 1 ]; }

# FOLDER-OF-STAGE STAGE FOLDER SCRIPT: leaves what was said in FOLDER/log, and in FOLDER/status how it
# went: 0 killed, 1 it survives, 2 no run could say, 3 not built
mutant_try() {
    local status
    if mutant_build "$@" > "$3/log" 2>&1; then
        mutant_killed "$3/stage-$2" "$2" > "$3/log" 2>&1
        status=$?
    else status=3
    fi
    echo $status > "$3/status"
}

# FOLDER: as it went
mutant_went() { cat "$1/log"; return "$(cat "$1/status")"; }

mutate() {
    local stage source folder kind name script n=0 folders
    for stage; do
        source=$(echo stages/"$stage"-*)
        folders=()
        while IFS=$'\t' read -r kind name script; do
            n=$((n + 1))
            folder=$build/mutants/$stage/$n
            rm -rf "$folder"
            mkdir -p "$folder"
            printf '%s\n' "$kind" > "$folder/kind"
            printf '%s\n' "$name" > "$folder/name"
            while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
            mutant_try "$source" "$stage" "$folder" "$script" &
            folders+=("$folder")
        done < <(mutants_of "$stage")
        wait
        check "stage-$stage has mutants" test ${#folders[@]} -gt 0
        check "stage-$stage itself passes" survives "$build/stage-$stage" "$stage"
        mutate_report "$stage" "${folders[@]}"
    done
}

mutate_report() { # STAGE FOLDER...
    local stage=$1 folder precise=0 killed=0 survivors=
    shift
    for folder; do
        if [ "$(cat "$folder/kind")" = semantic ] || [ "$(cat "$folder/status")" -eq 3 ]; then
            check "stage-$stage: $(cat "$folder/name")" mutant_went "$folder"
            sed 's/^/# /' "$tap_dir/out" | head -n 2 # what killed it
        else
            precise=$((precise + 1))
            if mutant_went "$folder" > "$tap_dir/out"; then killed=$((killed + 1))
            else survivors="$survivors; $(cat "$folder/name"): $(cat "$tap_dir/out")"
            fi
        fi
    done
    check "stage-$stage: precision, $killed of $precise killed$survivors" \
        test $precise -gt 0 -a $((10 * killed)) -ge $((9 * precise))
}
