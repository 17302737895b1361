#!/bin/bash
# What make says of itself, from the blocks of comments beside the rules (setup/help.mk has their form):
#
#   help.sh start             the three commands to begin with
#   help.sh help [VERB...]    the verbs by what one wants, or one of them, or a stage
#   help.sh help-more         verbs for those who change the workbench itself
#   help.sh verbs             every verb, stage and lab, a line each, for completion
#   help.sh unknown GOAL...   a sentence if one of the goals is no verb, with the nearest one
#   help.sh completion
#
# Exit status: 0; 2 there is no such verb.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 5
shopt -s nullglob
makefiles=(Makefile)
for each in */*.mk */*/*.mk */*/*/*.mk; do [[ $each == build/* ]] || makefiles+=("$each"); done

titles='start  Start
look   Look inside a kernel
change Change a kernel and judge the change
own    Run your own program or kernel
step   The course: small steps
course The course: labs and exams
teach  Teach it
gpu    On a GPU'
more='many   One installation, many users
tests  Tests of the workbench
model  The emulator and its predictor
tables Records, tables and notebooks'

# GROUP, PLACE, VERB, SENTENCE, EXAMPLE, tab separated, in order of place
blocks() {
    awk -v OFS='\t' '
        function put() { if (verb != "") print group, place, verb, sentence, example; verb = "" }
        /^##[a-z]+-[0-9]+ / {
            put(); split(substr($1, 3), tag, "-"); group = tag[1]; place = tag[2]; verb = $2; sub(/:$/, "", verb)
            sentence = $0; sub(/^[^:]*: */, "", sentence); example = ""; next }
        /^##  / && verb != "" && example == "" { example = $0; sub(/^## */, "", example) }
        !/^##/ { put() }
        END { put() }' "${makefiles[@]}" | sort -t $'\t' -k1,1 -k2,2n
}

stage_title() { sed -n '1s/^# Stage [0-9]*: //p' "$1/README.md" 2> /dev/null; }
stage_folders() { printf '%s\n' stages/[0-9]*-*/ | sed 's,/$,,' | sort -V; }
number_of() { local name=${1##*/}; echo "${name%%-*}"; }

groups() { # TITLES: a paragraph for each
    blocks | awk -F '\t' -v titles="$1" '
        BEGIN { n = split(titles, line, "\n") }
        { sentences[$1] = sentences[$1] sprintf("  %-56s %s\n", $4, $5) }
        END { for (i = 1; i <= n; i++) {
            group = line[i]; sub(/ .*/, "", group); title = line[i]; sub(/^[a-z]+ +/, "", title)
            if (group in sentences) printf "\n%s\n%s", title, sentences[group] } }'
}

say_help() {
    echo "attnlab: one kernel, attention forward, climbs in six stages. GLOSSARY.md explains the words."
    groups "$titles"
    printf '\nStages, for any verb above that names one; without a stage a verb takes all of them\n'
    stage_folders | while read -r folder; do
        printf '  %-10s %s\n' "stage-$(number_of "$folder")" "$(stage_title "$folder")"
    done
    printf '\nmake help VERB explains a verb and its variables. make help-more: verbs for the workbench itself.\n'
}

say_verb() { # VERB
    local folder number
    if [[ $1 == stage-* ]]; then
        number=${1#stage-}
        for folder in stages/"$number"-*/; do
            printf '%s: %s\n\n' "$1" "$(stage_title "$folder")"
            printf '  %-24s %s\n' "make $1 run" "check it, time it, count its work" \
                "make $1 diff" "what changed since the stage before" "make $1 source" "what each line does"
            printf '\n%sREADME.md explains the stage.\n' "$folder"
            return
        done
    fi
    local name=$1
    [[ $name =~ ^lab-[0-9]+$ ]] && name=lab-N
    [[ $name =~ ^step-[0-9][a-z]$ ]] && name=step-N
    [[ $name =~ ^exam-[0-9]+$ ]] && name=exam-N
    awk -v name="$name" '
        /^##[a-z]+-[0-9]+ / { on = $2 == name ":"; if (on) { if (found) print ""; found = 1; sub(/^##[^ ]+ /, ""); print; print ""; next } }
        !/^##/ { on = 0 }
        on { sub(/^##/, ""); print }
        END { exit !found }' "${makefiles[@]}" && return
    local why
    why=$(unknown "$1")
    echo "make: ${why:-there is nothing to say of $1: make help lists the verbs}" >&2
    return 2
}

# Every target that a goal may name: what stands before a colon or behind .PHONY.
goals() {
    awk '/^\.PHONY:/ { for (i = 2; i <= NF; i++) if ($i ~ /^[a-z][a-z0-9-]*$/) print $i }
         /^[a-z][a-z0-9 -]*:([^=]|$)/ { split($0, half, ":"); n = split(half[1], word, " "); for (i = 1; i <= n; i++) print word[i] }' \
        "${makefiles[@]}"
}
nouns() {
    local path
    for path in $(stage_folders); do echo "stage-$(number_of "$path")"; done
    for path in notebooks/course/[0-9]*/; do echo "lab-$(basename "$path")"; done
    for path in notebooks/course/steps/*/; do echo "step-$(basename "$path")"; done
    for path in notebooks/course/exams/[0-9]*/; do echo "exam-$(basename "$path")"; done
}
verbs() { { blocks | cut -f3 | grep -vE '^(lab|step|exam)-N$'; nouns; } | sort -uV; }

unknown() { # GOAL...: a sentence about the first that make does not know
    local goal near list
    list=$(goals; verbs)
    for goal; do
        [[ $goal == */* || $goal == *.* || $goal == stage-[0-9]* || $goal == lab-[0-9]* || $goal == step-[0-9]* || $goal == exam-[0-9]* || $goal == *-stage-[0-9]* ]] && continue
        grep -qxF -e "$goal" <<< "$list" && continue
        [ -e "$goal" ] && continue
        near=$(verbs | nearest "$goal")
        echo "there is no verb '$goal': ${near:+did you mean $near? }make help lists the verbs"
        return
    done
}

# nearest WORD: of the lines of stdin the one with the fewest letters to change, add, drop or swap, if they are few.
nearest() {
    awk -v word="$1" '
        function least(a, b) { return a < b ? a : b }
        function letters(a, b,    i, j, d, m, n, cost) {
            m = length(a); n = length(b)
            for (i = 0; i <= m; i++) d[i, 0] = i
            for (j = 0; j <= n; j++) d[0, j] = j
            for (i = 1; i <= m; i++) for (j = 1; j <= n; j++) {
                cost = substr(a, i, 1) != substr(b, j, 1)
                d[i, j] = least(least(d[i - 1, j] + 1, d[i, j - 1] + 1), d[i - 1, j - 1] + cost)
                if (i > 1 && j > 1 && substr(a, i, 1) == substr(b, j - 1, 1) && substr(a, i - 1, 1) == substr(b, j, 1))
                    d[i, j] = least(d[i, j], d[i - 2, j - 2] + 1)
            }
            return d[m, n]
        }
        BEGIN { best = 1 + length(word) / 3 }
        { n = letters(word, $0); if (n < best || !found && n <= best) { best = n; near = $0; found = 1 } }
        END { if (found) print near }'
}

case ${1-} in
    start)
        echo "Three commands to begin with:"
        echo
        blocks | awk -F '\t' '$1 == "start" && $2 <= 3 { printf "  %-28s %s\n", $5, $4 }'
        echo
        echo "make help lists the others, README.md shows what they print, GLOSSARY.md explains the words."
        ;;
    help)
        shift
        status=0
        [ $# -gt 0 ] || say_help
        for verb; do say_verb "$verb" || status=$?; done
        exit $status
        ;;
    help-more) groups "$more" ;;
    verbs) verbs ;;
    unknown) unknown "${@:2}" ;;
    completion) cat setup/completion.sh ;;
    *) echo "help.sh: which of start, help, help-more, verbs, unknown, completion?" >&2; exit 2 ;;
esac
