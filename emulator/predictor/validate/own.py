"""Cases that are kernels of a program in examples/ (stage own:PROGRAM, options: its arguments and, last, the kernel):

    python3 emulator/predictor/validate/own.py predict BUILD PROGRAM [ARGUMENT...] KERNEL    one JSON object, as build/predict-N prints
    python3 emulator/predictor/validate/own.py measure PROGRAM [ARGUMENT...] KERNEL          a record, as build/stage-N writes: with ncu,
                                                                                  each launch of the program ten times"""

import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

LAUNCHES, SECONDS = 10, 100
METRICS = {"cycles_elapsed": "sm__cycles_elapsed.max", "cycles_active": "sm__cycles_active.avg"}


def predict(build, program, arguments, kernel):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "run.json")
        subprocess.run([f"{build}/run", "--quiet", "--cache", "warm", "--predict-budget", str(SECONDS), "--json", out,
                        f"build/examples/{program}", *arguments], stdout=subprocess.DEVNULL)
        with open(out) as f:
            kernels = json.loads(f.readline())["kernels"]
    said = next(k for k in kernels if k["name"] == kernel)["launches"][0]["predicted"]
    if "na" in said:
        sys.exit(f"own.py: {program} {kernel}: {said['na']}")
    print(json.dumps({"elapsed": round(said["cycles_elapsed"]), "active": round(said["cycles_active"], 1)}))


def measure(program, arguments, kernel):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"examples/{program}.cu") as f:
            source = f.read()
        again = re.sub(r"(\w+(<\d+>)?<<<)", rf"for (int again = 0; again < {LAUNCHES}; again++) \1", source)
        path = os.path.join(folder, program)
        with open(path + ".cu", "w") as f:
            f.write(again)
        subprocess.run(["nvcc", "-O3", "-std=c++17", "-arch=sm_90a", "-Iexamples", "-I.", "-o", path, path + ".cu"], check=True)
        said = subprocess.run(["ncu", "--csv", "--cache-control", "none", "--clock-control", "none", "--kernel-name-base",
                               "demangled", "--metrics", ",".join(METRICS.values()), path, *arguments],
                              capture_output=True, text=True).stdout
    lines = said.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if first is None:
        sys.exit(f"own.py: {program}: ncu counted nothing")
    rows = [r for r in csv.DictReader(lines[first:]) if re.match(rf"(void )?{re.escape(kernel)}\b|.*\b{re.escape(kernel)}\(",
                                                                 r["Kernel Name"].replace("(int)", ""))]
    counters = []
    for name, metric in METRICS.items():
        values = [float(r["Metric Value"].replace(",", "")) for r in rows if r["Metric Name"] == metric]
        if len(values) != LAUNCHES:
            sys.exit(f"own.py: {program} {kernel}: {len(values)} launches counted, {LAUNCHES} expected")
        counters.append({"name": name, "value": statistics.median(values[1:]), "metric": metric})
    print(json.dumps({"command": " ".join([f"own:{program}", *arguments, kernel]), "counters": counters}))


what, rest = sys.argv[1], sys.argv[2:]
if what == "predict":
    predict(rest[0], rest[1], rest[2:-1], rest[-1])
else:
    measure(rest[0], rest[1:-1], rest[-1])
