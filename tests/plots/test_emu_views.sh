#!/bin/bash
# What the emulator shows of a run, --trace, --watch, --banks and --without, and what a kernel prints.
. tests/tap.sh
kernel=stages/1-scalar/kernel.cu
stage() { # N OPTIONS...
    "${folder:-$build}/stage-$1" --device emu --seqlen 64 --heads 1 --no-time --counters none --quiet "${@:2}"
}
line_of() { grep -nF "$2" "stages/$1/kernel.cu" | head -n 1 | cut -d: -f1; } # FOLDER TEXT

# Counts: of every line, and in the record.
counts_lines() { # 4 warps, 32 elements a lane, a subtraction and an ex2 each
    "$build/stage-1" --device emu --seqlen 64 --heads 1 --source > "$tap_dir/source" &&
        grep -qE '(^| )256 +32[.]0 .*[|] +[0-9]+ .*float p = ex2' "$tap_dir/source"
}
counts_into_records() {
    stage 2 --counters TENSOR,SHARED --json "$tap_dir/r.jsonl" && python3 -c '
import json, sys
r = json.loads(open(sys.argv[1]).read())
c = {x["name"]: x for x in r["counters"]}
assert c["hmma_instructions"]["value"] == 128 and c["hmma_instructions"]["source"] == "emulator", c
assert "na" in c["hardware_conflicts"] and "value" not in c["hardware_conflicts"]' "$tap_dir/r.jsonl"
}
check "--source counts a line" counts_lines
check "--json holds counts and reasons" counts_into_records
status "an image that is not there" 3 stage 1 --image nosuch

# A line's values: 2^x of 32 lanes, none above 1.
exp_line=$(line_of 1-scalar "float p = ex2(")
traces_values() {
    stage 1 --trace "$exp_line" > "$tap_dir/trace" || return 1
    grep -m 1 -A 4 "^line $exp_line, block (0,0,0), warp 0, lanes ffffffff: ex2" "$tap_dir/trace" |
        awk '/lane +[0-9]+:/ {for (i = NF - 7; i <= NF; i++) {n++; if ($i < 0 || $i > 1) bad++}} END {exit n != 32 || bad}'
}
traces_addresses() {
    stage 1 --trace "$(line_of 1-scalar "q_d[i] = __half2float(")" > "$tap_dir/trace" &&
        grep -q '^shared addresses of line .*, 2 bytes a lane' "$tap_dir/trace"
}
traces_nothing() { stage 1 --trace 1 | grep -q "executes nothing of line 1$"; }
traces_every_line() { # the values of that line, as often as where it is asked for alone; and other lines
    stage 1 --trace all > "$tap_dir/every" || return 1
    cmp <(grep "^line $exp_line, .*: ex2" "$tap_dir/every" | head -n 60) <(stage 1 --trace "$exp_line" | grep "^line $exp_line, .*: ex2" | head -n 60) &&
        [ "$(grep -oE '^line [0-9]+' "$tap_dir/every" | sort -u | wc -l)" -gt 20 ]
}
check "--trace prints a line's values" traces_values
check "--trace all prints the values of every line" traces_every_line
check "--trace prints a line's addresses" traces_addresses
check "--trace of a line without code says so" traces_nothing

watches() { # a word of q_smem: one lane writes it, eight read it
    stage 1 --watch shared:0x440 > "$tap_dir/watch" || return 1
    cut -d: -f1 "$tap_dir/watch" | sort | uniq -c
    [ "$(grep -c '^lane [0-9]* writes 0x440: line' "$tap_dir/watch")" -ge 1 ] &&
        [ "$(grep -c '^lane [0-9]* reads 0x440: line' "$tap_dir/watch")" -ge 8 ]
}
check "--watch prints every access to a word" watches

wavefronts() { # the most that one access of a line of stage 2 wants
    stage 2 --no-races --banks "$(line_of 2-wmma-qk "load_matrix_sync(q_frag")" "$@" |
        awk 'NF == 4 && $1 ~ /^[0-9]+$/ {if ($4 + 1 > n) n = $4 + 1} END {print n + 0}'
}
padding_pays() { local with without; with=$(wavefronts); without=$(wavefronts --image d64-nopad)
    echo "wavefronts: $with padded, $without not"; [ "$with" -gt 0 ] && [ "$without" -gt "$with" ]; }
check "--banks shows the wavefronts of an access" padding_pays

# Wavefronts in the map of each access, times how often it was made, are those that the counters have.
adds_up() { # STAGE TEXT OPCODE: the line with TEXT makes accesses of OPCODE
    local line; line=$(line_of "$1" "$2")
    stage "${1%%-*}" --no-races --source --banks "$line" > "$tap_dir/map" && "$build/stage-${1%%-*}" --device emu --seqlen 64 --heads 1 --no-races --source --ptx --csv > "$tap_dir/counts.csv" &&
        python3 - "$tap_dir/map" "$tap_dir/counts.csv" "$3" << 'END'
import csv, re, sys
counts = {}
for r in csv.DictReader(open(sys.argv[2])):
    if r["of"] == "ptx":
        counts.setdefault(int(r["instruction"]), {})[r["name"]] = float(r["value"])
maps = re.findall(r"# (\S+) \(PTX line (\d+)\)(, \w+)?: (\d+) wavefronts, (\d+) at best\n# (?:lane|row).*\n((?:\d+ \d+ \S+ \d+\n)+)", open(sys.argv[1]).read())
assert any(m[0].startswith(sys.argv[3]) for m in maps), maps
total = {}
for opcode, ptx, part, said, best, rows in maps:
    cells = [r.split() for r in rows.splitlines()]
    drawn = 1 + max(int(c[3]) for c in cells)
    assert drawn == int(said) >= int(best) > 0
    assert all(int(c[1]) == int(c[2], 16) // 4 % 32 for c in cells)
    total[opcode, int(ptx)] = total.get((opcode, int(ptx)), 0) + drawn
    if part:  # a wavefront of wgmma and TMA reaches all banks
        assert all(len({c[1] for c in cells if int(c[3]) == wave}) == 32 for wave in range(drawn)), part
for (opcode, ptx), drawn in total.items():
    c = counts[ptx]
    print(opcode, ptx, "drawn", drawn, c)
    varies = c["instructions"] if opcode.startswith("cp.async.c") else 1  # with the row that a warp begins in
    warps = 4 if opcode.startswith("wgmma") else 1  # that issue one product
    assert abs(drawn * c["instructions"] / warps - c["shared_wavefronts"]) < varies, "they are not what was counted"
END
}
check "--banks adds up: cp.async" adds_up 3-wmma-pv "cp_async_16(" cp.async
check "--banks adds up: wmma's loads" adds_up 2-wmma-qk "load_matrix_sync(q_frag" wmma.load
check "--banks adds up: ldmatrix" adds_up 4-tuned "ldmatrix_x4(k_frag" ldmatrix
conflicts() { grep -q "^# cp.async.* 10 wavefronts, 4 at best" "$tap_dir/map3"; }
stage 3 --no-races --source --banks "$(line_of 3-wmma-pv "cp_async_16(")" > "$tap_dir/map3"
check "--banks shows the conflicts of cp.async" conflicts
check "--banks adds up: wgmma, both operands" adds_up 6-wgmma-attention "wgmma_m64k16_ss<" wgmma
check "A and B are drawn apart" [ "$(grep -c ', [AB]: ' "$tap_dir/map")" = "$((2 * $(grep -c ', A: ' "$tap_dir/map")))" ]
check "--banks adds up: wgmma, A in registers" adds_up 6-wgmma-attention "wgmma_m64k16_rs<" wgmma
check "--banks adds up: TMA" adds_up 6-wgmma-attention "if (!IS_Q) tma_load_4d(" cp.async.bulk
# With the checks on, asynchronous accesses are seen a second time: the map is the same.
with_checks() { stage 3 --source --banks "$(line_of 3-wmma-pv "cp_async_16(")" | diff - "$tap_dir/map3"; }
check "--banks of cp.async is the same with the checks on" with_checks
boxes() { stage 6 --source --banks "$(line_of 6-wgmma-attention "if (!IS_Q) tma_load_4d(")" | diff - "$tap_dir/map"; }
check "--banks of a TMA load is the same with the checks on" boxes

lists() { # every barrier of the source, once a run
    stage 1 --without list | tee "$tap_dir/all" | sort -u > "$tap_dir/list" && [ "$(grep -c : "$tap_dir/all")" = "$(grep -c : "$tap_dir/list")" ] &&
        [ "$(grep -c ':bar.sync ' "$tap_dir/list")" -eq "$(grep -c '__syncthreads()' $kernel)" ]
}
misses() { # the barrier after the loads: a race, between lines of the source
    stage 1 --without "$(grep -nF '__syncthreads()' $kernel | tail -n 1 | cut -d: -f1)" 2> "$tap_dir/race"
    [ $? -eq 1 ] && grep -q "race in kernel attention" "$tap_dir/race" && grep -q "$kernel:" "$tap_dir/race"
}
check "--without list names the barriers" lists
check "--without a barrier is a race" misses
status "--without nonsense" 2 stage 1 --without nonsense
status "--without where there is none" 2 stage 1 --without 9999
check "it says where to look" grep -q "^stage-1: --without 9999: .*--without list shows them" "$tap_dir/err"
status "--without where only --source launches" 2 stage 1 --without 9999 --source

# printf and assert, as a student would add them
instrumented() { # STATEMENT, where p is: stage 1 with it, in $tap_dir
    folder=$tap_dir
    mkdir -p "$folder/images/stage-1" && ln -f "$build/stage-1" "$folder/" 2> /dev/null || cp "$build/stage-1" "$folder/"
    { echo '#include <cassert>'; echo '#include <cstdio>'
      sed "$exp_line s|\$| $1|" $kernel; } > "$folder/kernel.cu"
    "${NVCC:-nvcc}" -std=c++17 -lineinfo -I. -Istages/1-scalar -DDIM=64 -ptx -arch=compute_89 \
        -o "$folder/images/stage-1/d64.compute_89.ptx" "$folder/kernel.cu"
}
prints() {
    instrumented 'if (tid == 3 \&\& i == 1 \&\& j == 0) printf("%s %d %5.1f %llx %u%% %c%3i\\n", "thread", tid, p < 0 ? 1. : 2.5, 1ull << 40, 7u, 65, -4);' &&
        stage 1 > "$tap_dir/said" && grep -qx 'thread 3   2.5 10000000000 7% A -4' "$tap_dir/said"
}
asserts() {
    instrumented 'assert(p < 0.5f);' || return 1
    stage 1 2> "$tap_dir/said"
    [ $? -eq 1 ] && grep -q 'an assertion of the kernel failed, lane' "$tap_dir/said"
}
check "a kernel prints" prints
check "a kernel asserts" asserts
tap_done
