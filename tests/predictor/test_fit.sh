#!/bin/bash
# make fit's library is the model of stage 6's choice as it is: the first way of --explain takes what that says.
# Thorough: what it runs takes minutes to build, and make test leaves it out.
. tests/tap.sh
make -s build/fit/model.so build/stage-6 > "$tap_dir/make" 2>&1 || cat "$tap_dir/make"
build/stage-6 --device emu --explain --csv --batch 3 --heads 8 --kv-heads 2 --seqlen-q 70 --seqlen-k 900 --head-dim 128 --causal > "$tap_dir/ways"
same() { # FACTOR on the time of a launch: 1 is the model as it is
    python3 - "$tap_dir/ways" "$1" <<'END'
import csv, ctypes, re, sys
with open(sys.argv[1]) as f:
    ways = list(csv.DictReader(f))
lib, n = ctypes.CDLL("build/fit/model.so"), ctypes.c_int()
lib.model_shapes.restype = ctypes.POINTER(ctypes.c_double)
shapes = lib.model_shapes(ctypes.byref(n))
for i in range(0, n.value, n.value // 15): # five shapes, three head dims
    shapes[i] *= float(sys.argv[2])
wrong = 0
for w in ways:
    number = [re.search(p, w["what"]) for p in (r"(\d+) heads share", r"of (\d+) CTA", r"(\d+) of them", r"in (\d+) parts")]
    shape = {"": 0, "-short": 1, "-split": 2, "-many": 3, "-wide": 4}[re.match(r"d\d+(-short|-split|-many|-wide)?", w["image"])[1] or ""]
    way = (3, 8, 2, 70, 900, 128, 1, shape, *(int(m[1]) if m else none for m, none in zip(number, (1, 1, 0, 1))), lib.model_chip(b"NVIDIA H200"))
    us = ctypes.c_double()
    lib.model_us(1, (ctypes.c_int * 13)(*way), ctypes.byref(us))
    wrong += abs(us.value / float(w["expected us"]) - 1) > 0.01
sys.exit(wrong > 0 or len(ways) < 10)
END
}
check "all ways, to a hundredth" same 1
reject() { ! same 2; }
check "another constant is another time" reject
named() { # the constants that fit.py treats apart are those of that name in cut.c
    python3 - <<'END'
import ctypes, re, sys
lib, n = ctypes.CDLL("build/fit/model.so"), ctypes.c_int()
lib.model_speed.restype = ctypes.POINTER(ctypes.c_double)
speed = lib.model_speed(ctypes.byref(n))
with open("stages/6-wgmma-attention/cut.c") as f:
    text = f.read()
there = {name: float(re.search(rf"[.]{name} = ([0-9.]+)", text)[1]) for name in ("hot", "hot_wide")}
sys.exit(there["hot"] == there["hot_wide"] or any(speed[getattr(lib, f"model_{name}")()] != v for name, v in there.items()))
END
}
check "what short turns do not show is found by its name" named
tap_done
