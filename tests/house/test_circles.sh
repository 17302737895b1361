#!/bin/bash
# Which folder may include which. The layers, lowest first: a folder includes only what stands above it
# in this list, its own files by bare name, and all others by their whole path from here.
. tests/tap.sh

layers='
common/cuda
common/base
emulator/core
emulator/checks
emulator/instructions
emulator/front
emulator/views
emulator/launch
emulator
emulator/sass
emulator/predictor
common/device
chips/bench
chips
profiler
common/harness
emulator/bench chips/ceilings stages/* runtime
notebooks/course
'

# edges ROOT: a line FOLDER, FOLDER, FILE:LINE, INCLUDED for each include "...", both folders being parts
# of the house; the second is ? if there is no such file.
edges() {
    (cd "$1" && find chips common emulator profiler stages $([ ! -d runtime ] || echo runtime) $([ ! -d notebooks ] || echo notebooks) -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.def') \
        > "$tap_dir/files"
    (cd "$1" && tr '\n' '\0' < "$tap_dir/files" | xargs -0 grep -Hn '^ *# *include *"') |
        awk -v list="$tap_dir/files" '
            function folder(path,    part, n) { # stages/N-name and profiler are one part each
                n = split(path, part, "/")
                return n == 2 || part[1] == "profiler" || part[1] == "runtime" ? part[1] : part[1] "/" part[2]
            }
            function tidy(path) {
                while (path ~ /[^\/.]+\/\.\.\//) sub(/[^\/]+\/\.\.\//, "", path)
                return path
            }
            BEGIN { while ((getline path < list) > 0) there[path] = 1 }
            {
                split($0, at, ":"); split($0, name, "\"")
                own = at[1]; sub(/[^\/]*$/, "", own); own = tidy(own name[2])
                to = own in there ? own : name[2] in there ? name[2] : ""
                print folder(at[1]), to == "" ? "?" : folder(to), at[1] ":" at[2], name[2]
            }'
}

found() { ! awk '$2 == "?" {print $3 ": " $4 " is neither of this folder nor a path from the root"}' "$1" | grep .; }
by_bare_name() {
    ! awk '{own = $3; sub(/[^\/]*$/, "", own); name = substr($4, length(own) + 1)}
        index($4, own) == 1 && name !~ /\// {print $3 ": " $4 " is of its own folder"}' "$1" | grep .
}

# Prints, for each edge, the rank of both folders before it; - if the list has none.
ranked() {
    printf '%s\n' "$layers" | awk -v edges="$1" '
        { for (i = 1; i <= NF; i++) { rank[$i] = NR } }
        function of(folder) {
            if (folder in rank) return rank[folder]
            if (folder ~ /^stages\// && "stages/*" in rank) return rank["stages/*"]
            return "-"
        }
        END { while ((getline line < edges) > 0) { split(line, e, " "); print of(e[1]), of(e[2]), line } }'
}
placed() {
    ! ranked "$1" | awk '$1 == "-" {print $3} $2 == "-" && $4 != "?" {print $4}' | sort -u |
        sed 's/$/ has no place in the list of layers/' | grep .
}
downwards() {
    ! ranked "$1" | awk '$1 != "-" && $2 != "-" && $2 > $1 + 0 {print $5 " includes " $6 ": " $4 " lies above " $3}' | grep .
}

# Prints the edges of every circle: what is left when folders that include nothing that is left, or that
# nothing left includes, are taken away until there are none.
no_circle() {
    ! awk '$1 != $2 && $2 != "?" {from[NR] = $1; to[NR] = $2; text[NR] = $3 " includes " $4}
        END {
            do {
                delete out; delete in_; removed = 0
                for (e in from) out[from[e]] = in_[to[e]] = 1
                for (e in from) if (!(to[e] in out) || !(from[e] in in_)) { delete from[e]; removed = 1 }
            } while (removed)
            for (e in from) print from[e] " -> " to[e] ": " text[e]
        }' "$1" | sort | grep .
}

edges . > "$tap_dir/edges"
check "includes were found" test "$(wc -l < "$tap_dir/edges")" -gt 100
check "every include is a file of the same folder or a path from the root" found "$tap_dir/edges"
check "files of the same folder are included by bare name" by_bare_name "$tap_dir/edges"
check "every folder has a layer" placed "$tap_dir/edges"
check "no folder includes what lies above it" downwards "$tap_dir/edges"
check "no folders include each other in a circle" no_circle "$tap_dir/edges"

# Each of these must be able to fail.
fails() { ! "$@" > "$tap_dir/said" && grep -q "${wanted:?}" "$tap_dir/said"; }
house=$tap_dir/house
mkdir -p "$house"/{chips,common/base,emulator/core,emulator/checks,emulator/attic,profiler,stages/1-a,stages/2-b}
touch "$house"/common/base/reason.h "$house"/emulator/checks/race.h "$house"/emulator/core/state.h "$house"/stages/{1-a,2-b}/tile.h
edges_of() { # FILE INCLUDED...: the includes of a house that has only these
    local file=$1
    shift
    printf '#include "%s"\n' "$@" > "$house/$file"
    edges "$house" > "$tap_dir/planted"
}
edges_of emulator/core/state.c state.h common/base/reason.h
check "a good include passes" no_circle "$tap_dir/planted"
check "and is in order" downwards "$tap_dir/planted"
edges_of emulator/core/state.c race.h
wanted='emulator/core/state.c:1: race.h' check "a bare name of another folder is found" fails found "$tap_dir/planted"
edges_of emulator/core/state.c emulator/core/state.h
wanted='of its own folder' check "a whole path to the own folder is found" fails by_bare_name "$tap_dir/planted"
edges_of emulator/core/state.c emulator/checks/race.h
wanted='emulator/checks lies above emulator/core' check "an include upwards is found" fails downwards "$tap_dir/planted"
edges_of emulator/checks/race.c emulator/core/state.h
wanted='^emulator/core -> emulator/checks: emulator/core/state.c:1' check "a circle is found, with its edges" \
    fails no_circle "$tap_dir/planted"
rm "$house"/emulator/core/state.c "$house"/emulator/checks/race.c
edges_of stages/1-a/a.c stages/2-b/tile.h
check "a stage may read another" no_circle "$tap_dir/planted"
edges_of stages/2-b/b.c stages/1-a/tile.h
wanted='stages/2-b -> stages/1-a' check "two stages that read each other are found" fails no_circle "$tap_dir/planted"
edges_of emulator/attic/old.c emulator/core/state.h
wanted='emulator/attic has no place' check "a folder without a layer is found" fails placed "$tap_dir/planted"
tap_done
