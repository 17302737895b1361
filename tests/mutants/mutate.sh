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

# STAGE RUN: the image to launch. Stage 6 chooses by a model of time among more than these, and at 128 all its ideas are met;
# stage 4 takes these by itself.
mutate_image() {
    case $1$2 in
    6*--causal*) echo d128-split-causal ;;
    6*"--heads 134"*) echo d128-short ;;
    6*) echo d128-split ;;
    4*"--heads 134"*) echo d64 ;;
    4*) echo d64-small ;;
    *) echo d64 ;;
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

# FOLDER-OF-STAGE STAGE FOLDER SCRIPT: the wrong sources, and the program
mutant_sources() {
    local file changed=
    for file in "$1"/kernel.cu "$1"/*.cuh; do # quoted includes are first looked for beside kernel.cu
        [ -e "$file" ] || continue
        sed -E "$4" "$file" > "$3/$(basename "$file")" || return 1
        cmp -s "$file" "$3/$(basename "$file")" || changed=1
    done
    [ "$changed" ] || { echo "stale: it changes nothing"; return 1; }
    mkdir -p "$3/images/stage-$2" && ln -f "$build/stage-$2" "$3/stage-$2"
}

# FOLDER-OF-STAGE STAGE FOLDER IMAGE: compiled when a run first needs it; many mutants fall before
mutant_image() {
    local arch kind extension made
    if [ "$device" = emu ]; then extension=ptx kind='compute_[0-9a]+'
    else extension=cubin kind='sm_9[0-9a]+'
    fi
    arch=$(awk -v image="$4" '$1 == "arch" {arch = $0} $1 == image {print arch}' "$1/images" | grep -oE "$kind" | tail -n 1)
    made=$3/images/stage-$2/$4.$arch.$extension
    # shellcheck disable=SC2046
    [ -e "$made" ] || "${NVCC:-nvcc}" -std=c++17 -lineinfo -I. "-I$build/include" "-I$1" -w "-$extension" "-arch=$arch" \
        $(awk -v image="$4" '$1 == image {$1 = ""; print}' "$1/images") -o "$made" "$3/kernel.cu"
}

# FOLDER STAGE [FOLDER-OF-STAGE]: prints which run rejects the program there, 0; 1 if none does, 2 if one could not say,
# 3 if an image cannot be built
mutant_killed() {
    local run said status image
    for run in "${mutate_runs[@]}"; do
        image=$(mutate_image "$2" "$run")
        [ -z "${3-}" ] || mutant_image "$3" "$2" "$1" "$image" || return 3
        # shellcheck disable=SC2086
        said=$(timeout 120 "$1/stage-$2" --device "$device" --head-dim "$(mutate_dim "$2")" $run --image "$image" --no-time \
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
    local status=3
    if mutant_sources "$@" > "$3/log" 2>&1; then
        mutant_killed "$3" "$2" "$1" > "$3/log" 2>&1
        status=$?
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
        check "stage-$stage itself passes" survives "$build" "$stage"
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
