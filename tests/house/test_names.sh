#!/bin/bash
# Every file that a comment, a README or a makefile names exists; every folder has a map.
. tests/tap.sh

# Links in Markdown: [text](path), relative to the file.
dead_links() {
    local file target found=0
    while IFS=: read -r file target; do
        target=${target%%#*}
        [[ -z $target || $target == *://* ]] && continue
        [ -e "$(dirname "$file")/$target" ] || { echo "$file: no $target"; found=1; }
    done < <(git ls-files '*.md' | while read -r f; do
        grep -oE '\]\([^) ]+\)' "$f" | sed "s,^](\(.*\))\$,$f:\1,"; done)
    return $found
}

# Names with an extension of ours in text and comments, with or without a folder: some tracked file has
# that name, in the same folder or at the end of its path. What programs write (results, build, F.npy) and
# patterns are left out.
text_of() { # of C and CUDA the comments and #include "..." only: x.c may be a field of x
    case $1 in
        *.c | *.h | *.cu | *.cuh | *.def) grep -E '^ ?\*|^#include "|/\*|//|^ \* ' "$1" | sed -E 's,^[^/#*"]*(/[/*]),\1,' ;;
        *) cat "$1" ;;
    esac
}
dead_names() {
    local known file name found=0
    known=$(git ls-files; git ls-files | sed 's,.*/,,')
    while read -r file name; do
        [ -e "$name" ] || [ -e "$(dirname "$file")/$name" ] && continue
        grep -qxF -e "$name" <<< "$known" || grep -qE "/${name//./\\.}\$" <<< "$known" || {
            echo "$file: no $name"
            found=1
        }
    done < <(git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.sh' '*.mk' '*.md' '*.py' '*.gp' '*.def' Makefile |
        grep -v -e '/test_' -e '/fuzz_' -e '^records/history/' | while read -r f; do
            text_of "$f" | grep -oP '(?<![\w./$}*-])[\w./-]*\w\.(c|h|cu|cuh|sh|mk|gp|def|py)\b' | grep -vE "$made" |
                grep -vE '^[-./]' | sort -u | sed "s,^,$f ,"
        done)
    return $found
}
# Made by programs, of other projects, or stand for any file.
made='^(build|results|my-labs)/|/(build|results)/|^my\.(cu|c)$|(^|/)(FILE|NAME|file|F|X)\.(c|h|cu)$|^cuda_occupancy\.h$|^jansson\.h$|^cmocka\.h$|^cuda(_fp16)?\.h$|^cooperative_groups\.h$|^mma\.h$|^std[a-z]*\.h$|^setjmp\.h$|^stdio\.h$|^cupti.*\.h$|^nvtx.*\.h$|^generate_cupti.*|^omp\.h$|^nvml\.h$|^(LAB|1-NAME|SCRIPT|plots|(.*/)?(K-name|test_NAME))\.|^steps\.c$|(^|/)1-NAME\.cu$|^1\.gp$|^wmma\.load\.c$|^[a-z]\.|(^|/)lab-N\.py$|^map\.c$|^_(kernel|main)\.cu$|^generate_CUDA_codes\.py$'

no_maps() {
    local folder found=0
    while read -r folder; do
        [ "$(git ls-files "$folder" | grep -c "^$folder/[^/]*\$")" -lt 4 ] || [ -e "$folder/README.md" ] || {
            echo "$folder has no README.md"
            found=1
        }
    done < <(git ls-files | sed -n 's,/[^/]*$,,p' | sort -u | grep -vE '^\.ci|/groups$|/seeds/|/steps$|/sweep$|/notes$|^notebooks/course/([0-9]|steps/[0-9][a-z])$|^tests/')
    for folder in $(git ls-files tests | cut -d/ -f2 -s | grep -v "[.]" | sort -u); do
        grep -qF "\`$folder/" tests/README.md || { echo "tests/README.md does not say what tests/$folder is for"; found=1; }
    done
    return $found
}

check "links lead somewhere" dead_links
check "files that are named exist" dead_names
check "every folder of four files or more has a README" no_maps
tap_done
