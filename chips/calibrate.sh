#!/bin/bash
# calibrate.sh NAME CHIPS PROGRAM...: measures this GPU with all microbenchmarks, three minutes, into results/chips/NAME, and
# writes chips/NAME.txt from it unless a check fails. CHIPS: the folder of the compiled benchmarks, build/chips. PROGRAM:
# benchmarks that run by themselves; if one fails, its numbers stay those of another chip.
set -u
name=$1 chips=$2 build=${BUILD:-build} out=results/chips/$1
shift 2
mkdir -p "$out"
"$build/calibrate" --images "$chips" --pack "$chips/pipes.pack" --probe &&
    "$build/calibrate" --images "$chips" --pack "$chips/pipes.pack" --out "$out/calibrate.tsv" --seconds 120 || exit
for program in "$@"; do
    echo "$program"
    if timeout 60 "$chips/$program" > "$out/$program.new"; then mv "$out/$program.new" "$out/$program.tsv"
    else echo "make: $program failed or took over a minute: its numbers stay another chip's" >&2; fi
done
if command -v ncu > /dev/null; then
    ncu --csv --page raw --cache-control none --clock-control none --metrics sm__cycles_elapsed.avg,sm__cycles_active.avg \
        "$build/calibrate" --images "$chips" --pack "$chips/pipes.pack" --only counted > "$out/counted.csv" || rm "$out/counted.csv"
else echo "make: no ncu here: the launch overhead stays another chip's; install Nsight Compute" >&2; fi
files=("$out/calibrate.tsv")
for more in foreign.tsv counted.csv; do [ ! -e "$out/$more" ] || files+=("$out/$more"); done
python3 chips/chip.py "$name" --write "${files[@]}"
