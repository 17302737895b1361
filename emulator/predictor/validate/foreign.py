"""Programs that nobody here wrote: what the predictor says of their first launches, and what a GPU measured.

    foreign.py build WORK FOLDER...         every .cu file of the folders that has a main, as WORK/bin/SUITE-NAME (attnlab-nvcc)
    foreign.py predict WORK OUT.jsonl       the first launches of each program in WORK/bin, one JSON line a launch
    foreign.py measure WORK OUT.csv         the same launches on this GPU, by Nsight Compute
    foreign.py compare PREDICTED MEASURED   errors in elapsed cycles, by length and by suite; `each` adds a
                                            row for every launch and program; --out CHIP.txt writes
                                            the sums that build/run quotes into that file

Beside them stands WORK/bin/empty, launches of an empty kernel: what a launch takes differs from machine to machine by more than
a thousand cycles, so compare prints the errors a second time, with what an empty kernel took on the measured one.

With EACH=N build takes some N programs of each folder: of those that launch a kernel and need no other library, managed
memory or textures, in alphabetic order, every k-th from the k/2-th on. With ONLY=PREDICTED it builds the programs that this file predicts.

A program runs without arguments, in WORK/at/PROGRAM, which is its source's folder where there is one, or that folder's parent if
it is called src. JOBS programs at a time
are built and predicted (one for each core). Launches of more than MOST (2e8) warp instructions do not run. BUDGET_S (20) is
the work of each prediction, PREDICT_S (420) the time of a program's, MEASURE_S (3600) that of all measurements. Exit
status: 0, 1 if nothing was built or predicted, 2 for a wrong command."""

import concurrent.futures
import csv
import gzip
import hashlib
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

OTHERS = re.compile(  # what such a program asks for
    r"cublas|\bcub/|thrust|curand|cutlass|cufft|cusparse|cusolver|cudnn|nccl|mpi\.h|opencv|torch|glut|GL/|omp\.h|windows\.h"
    r"|texture<|cudaTextureObject|cudaMallocManaged|__managed__", re.I)
LAUNCHES, BUDGET_S = 8, int(os.environ.get("BUDGET_S", 20))
SECONDS = {"build": 120, "predict": int(os.environ.get("PREDICT_S", 420)), "measure": 25,
           "all": int(os.environ.get("MEASURE_S", 3600))}
METRICS = {  # of one pass: replayed passes would meet another L2
    "elapsed": "sm__cycles_elapsed.max",
    "active": "sm__cycles_active.avg",
    "ns": "gpu__time_duration.sum",
    "instructions": "smsp__inst_executed.sum",
}
EMPTY = "empty"  # the program that tells what a launch takes
EMPTY_SOURCE = """__global__ void empty() {}
int main() {
    for (int i = 0; i < 8; i++) empty<<<1, 1>>>();
    return cudaDeviceSynchronize();
}
"""
BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
NVCC = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../runtime/attnlab-nvcc"))


def jobs():
    return int(os.environ.get("JOBS", os.cpu_count()))


def in_parallel(do, over):
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        return list(pool.map(do, over))


def has_main(path):
    with open(path, errors="replace") as f:
        text = f.read()
    return re.search(r"\bmain\s*\(", text) and ("__global__" in text or "<<<" in text)


def sources(folder):
    for at, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if name.endswith(".cu") and has_main(os.path.join(at, name)):
                yield os.path.join(at, name)


def other_sources(source):
    """Of a program whose folder is called src: the folder's sources without a main. They are linked, too."""
    at = os.path.dirname(source)
    if os.path.basename(at) != "src":
        return []
    every = (os.path.join(at, name) for name in sorted(os.listdir(at)) if name.endswith((".cu", ".cpp")))
    return [path for path in every if path != source and not has_main(path)]


def is_alone(source):
    text = ""
    for path in [source, *other_sources(source)]:
        with open(path, errors="replace") as f:
            text += f.read()
    return "<<<" in text and not OTHERS.search(text)


def chosen(folder):
    each = int(os.environ.get("EACH", 0))
    if not each:
        return list(sources(folder))
    alone = sorted(s for s in sources(folder) if is_alone(s))
    k = max(1, len(alone) // each)
    return alone[k // 2::k]


def with_headers(folder):
    """Its folders that hold headers, such as include and common."""
    inside = (os.path.join(folder, name) for name in sorted(os.listdir(folder)))
    return [at for at in inside if os.path.isdir(at) and any(n.endswith((".h", ".cuh", ".hpp")) for n in os.listdir(at))]


def name_of(suite, folder, source):
    return suite + "-" + re.sub(r"[^A-Za-z0-9]+", "-", os.path.splitext(os.path.relpath(source, folder))[0])


def wanted(every):
    """Of (work, suite, folder, source): those that ONLY predicts, if it is given."""
    only = os.environ.get("ONLY")
    if not only:
        return every
    with opened(only) as f:
        names = {json.loads(line)["program"] for line in f}
    return [each for each in every if name_of(*each[1:]) in names]


def run_nvcc(program, *arguments):
    """None, or why it failed"""
    try:
        done = subprocess.run([NVCC, "--compat", "-O3", "-std=c++17", "-w", "-o", program, *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS["build"])
    except subprocess.TimeoutExpired:
        return f"not built in {SECONDS['build']} s"
    return next((line for line in done.stdout.splitlines() if "error" in line), "nvcc failed") if done.returncode else None


def compile_empty(work):
    source = os.path.join(work, EMPTY + ".cu")
    with open(source, "w") as f:
        f.write(EMPTY_SOURCE)
    return EMPTY, run_nvcc(os.path.join(work, "bin", EMPTY), source)


def compile_one(work, suite, folder, source):
    name = name_of(suite, folder, source)
    program, at = os.path.join(work, "bin", name), os.path.dirname(source)
    others = other_sources(source)
    common = [f"-I{p}" for p in (at, os.path.dirname(at), *with_headers(folder))]
    why = run_nvcc(program, *common, source, *others, "-lcublas")
    if not why:
        if os.path.basename(at) == "src":
            at = os.path.dirname(at)
        os.makedirs(os.path.join(work, "at"), exist_ok=True)
        link = os.path.join(work, "at", name)
        if not os.path.lexists(link):
            os.symlink(os.path.relpath(at, os.path.dirname(os.path.abspath(link))), link)
    return name, why


def build(work, folders):
    os.makedirs(os.path.join(work, "bin"), exist_ok=True)
    every = [(work, os.path.basename(os.path.abspath(f)), os.path.abspath(f), s) for f in folders for s in chosen(f)]
    done = in_parallel(lambda a: compile_one(*a), wanted(every))
    for name, why in [compile_empty(work), *done]:
        if why:
            print(f"{name}: {why[:140]}")
    print(f"built {sum(not why for _, why in done)} of {len(done)} programs")
    return any(not why for _, why in done)


def place_of(work, name):
    at = os.path.join(work, "at", name)
    return at if os.path.isdir(at) else work


def programs(work):
    """The empty one first, then in an order by chance, always the same: what an interrupted run has done is no selection."""
    names = (n for n in os.listdir(os.path.join(work, "bin")) if os.access(os.path.join(work, "bin", n), os.X_OK))
    return sorted(names, key=lambda n: (n != EMPTY, hashlib.sha256(n.encode()).hexdigest()))


def predict_one(work, program, arguments=()):
    """[row of a launch]; one row with "none" where nothing is known. A program that ends early at a wrong answer, because
    launches did not run, is predicted once more, with launches of 50 times as many instructions."""
    most = float(os.environ.get("MOST", "2e8"))
    rows, ok = predict_once(work, program, arguments, most)
    if not ok and len(rows) < LAUNCHES and most < 2e8:
        more, _ = predict_once(work, program, arguments, min(2e8, 50 * most))
        if len(more) > len(rows) or "launch" not in rows[0]:
            return more
    return rows


def predict_once(work, program, arguments, most):
    """its rows; False if it was killed, or gave up with a status that is not build/run's own"""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "run.jsonl")
        chip = ["--chip", os.environ["CHIP"]] if os.environ.get("CHIP") else []
        limits = ["--predict-only", str(LAUNCHES), "--predict-budget", str(BUDGET_S), "--max-instructions", f"{most:g}"]
        command = [f"{BUILD}/run", "--device", "emu", "--quiet", "--no-races", "--jobs", "1", *limits, *chip, "--json", out,
                   os.path.join(os.path.abspath(work), "bin", program), *arguments]
        run = subprocess.Popen(command, cwd=place_of(work, program), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, errors="replace")
        try:
            said = run.communicate(timeout=SECONDS["predict"])[1]
        except subprocess.TimeoutExpired:
            run.terminate()  # it still writes what it has
            said = run.communicate()[1]
        try:
            with open(out) as f:
                record = json.loads(f.readline())
        except (OSError, ValueError):
            why = (said.strip() or f"exit status {run.returncode}").splitlines()[-1]
            return [{"program": program, "none": why[:200]}], run.returncode in (0, 1)
    rows = []
    for kernel in record.get("kernels", []):
        launches = kernel["launches"]
        for launch in launches:
            p = launch.get("predicted") or launches[launch["predicted_like"] - 1]["predicted"]
            row = {"program": program, "launch": launch["number"], "kernel": kernel["name"], "grid": launch["grid"],
                   "block": launch["block"]}
            if "na" in p:
                row["none"] = p["na"]
            else:
                row.update(elapsed=round(p["cycles_elapsed"]), active=round(p["cycles_active"]), l2=p["l2"])
            rows.append(row)
    rows.sort(key=lambda r: r["launch"])
    return rows or [{"program": program, "none": "no launch"}], run.returncode in (0, 1)


def predict(work, out):
    names = programs(work)
    n = 0
    with open(out, "w") as f, concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        for done in concurrent.futures.as_completed([pool.submit(predict_one, work, name) for name in names]):
            for row in done.result():
                f.write(json.dumps(row) + "\n")
                n += "elapsed" in row
            f.flush()
    print(f"{n} launches of {len(names)} programs predicted")
    return n > 0


def measure_one(work, program, arguments=()):
    command = ["ncu", "--csv", "--page", "raw", "--launch-count", str(LAUNCHES), "--kill", "yes", "--cache-control", "none",
               "--clock-control", "none", "--metrics", ",".join(METRICS.values()),
               os.path.join(os.path.abspath(work), "bin", program), *arguments]
    ncu = subprocess.Popen(command, cwd=place_of(work, program), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, errors="replace", start_new_session=True)
    try:
        said = ncu.communicate(timeout=SECONDS["measure"])[0]
    except subprocess.TimeoutExpired:
        os.killpg(ncu.pid, signal.SIGKILL)  # with the program: a kernel that hangs would keep the GPU from those that follow
        said = ncu.communicate()[0]
    lines = said.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    rows = []
    for r in csv.DictReader(lines[first:]) if first is not None else ():
        if not (r.get("ID") or "").isdigit():
            continue
        row = {"program": program, "launch": int(r["ID"]), "kernel": r["Kernel Name"],
               "grid": r["Grid Size"], "block": r["Block Size"]}
        for name, metric in METRICS.items():
            row[name] = (r.get(metric) or "").replace(",", "")
        rows.append(row)
    return rows


def measure(work, out):
    until = time.monotonic() + SECONDS["all"]
    with open(out, "w") as f:
        to = csv.DictWriter(f, ["program", "launch", "kernel", "grid", "block", *METRICS])
        to.writeheader()
        n = 0
        for program in programs(work):
            if time.monotonic() > until:
                print(f"{program}: not measured, the {SECONDS['all']} s are over")
                continue
            rows = measure_one(work, program)
            to.writerows(rows)
            f.flush()
            n += len(rows)
            if not rows:
                print(f"{program}: nothing was counted")
    print(f"{n} launches measured")
    return n > 0


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def line(name, errors, missing):
    if not errors:
        return f"{name:40s} {0:5d} {missing:5d}"
    off = [abs(e) for e in errors]
    inside = 100 * sum(o <= 15 for o in off) / len(off)
    return (f"{name:40s} {len(errors):5d} {missing:5d} {sum(off) / len(off):7.1f} {quantile(off, 0.5):7.1f} {inside:7.0f}"
            f" {min(errors):+8.1f} {max(errors):+8.1f} {sum(errors) / len(errors):+7.1f}")


def extent(text):
    return tuple(int(x) for x in re.findall(r"\d+", str(text)))


def opened(path):
    return gzip.open(path, "rt", newline="") if path.endswith(".gz") else open(path, newline="")


def length(cycles):
    return "short" if cycles < 6000 else "medium" if cycles < 60000 else "long"


def same_launch(m, p):
    return "elapsed" in p and extent(p["grid"]) == extent(m["grid"]) and extent(p["block"]) == extent(m["block"])


def launch_costs(pairs):
    """(measured, predicted) cycles of an empty kernel, as the first launch of its process and later; None: not measured."""
    empty = {int(m["launch"]): (float(m["elapsed"]), p["elapsed"]) for m, p in pairs if m["program"] == EMPTY and same_launch(m, p)}
    later = sorted(empty[i] for i in empty if i)
    return (empty[0], later[len(later) // 2]) if 0 in empty and later else None


def on_that_machine(elapsed, costs, launch):
    """A predicted time where launches of an empty kernel take what `costs` says. If they take less than predicted, so do all. If they take
    more, that is the least that any launch takes: launches that work longer hide it (freezes 1, 3 and 5)."""
    if not costs:
        return elapsed
    measured, predicted = costs[launch > 0]
    return max(measured, elapsed + min(0, measured - predicted))


def is_number(text):
    return re.fullmatch(r"[0-9]+([.][0-9]+)?", text or "") is not None


def paired(predicted, measured):
    """[(measured row, predicted row or {})]"""
    with opened(predicted) as f:
        said = {(r["program"], r.get("launch")): r for r in map(json.loads, f)}
    with opened(measured) as f:
        every = list(csv.DictReader(f))
    counted = [m for m in every if is_number(m["elapsed"])]
    if len(counted) < len(every):
        print(f"{len(every) - len(counted)} launches left out: {measured} has no cycles for them")
    return [(m, said.get((m["program"], int(m["launch"])), {})) for m in counted]


def compared(pairs, costs=None):
    """[(measured row, predicted row, error in % or None)], without the empty program. costs: of launch_costs, to take them into account."""
    rows = []
    for m, p in pairs:
        if m["program"] != EMPTY:
            rows.append((m, p, 100 * (on_that_machine(p["elapsed"], costs, int(m["launch"])) / float(m["elapsed"]) - 1)
                         if same_launch(m, p) else None))
    return rows


def sums(errors):
    """The lines of records/validation/CHIP.txt, in place of an earlier freeze's."""
    errors = sorted(map(abs, errors))
    of = f"{len(errors)} first launches of programs by others"
    return [f"programs: {of}, mean error {sum(errors) / len(errors):.1f} %, worst {errors[-1]:.1f} %",
            f"cycles of programs: 8 in 10 of {of} were within {errors[math.ceil(0.8 * len(errors)) - 1]:.1f} %"]


def compare(predicted, measured, each=False, out=None):
    pairs = paired(predicted, measured)
    rows = compared(pairs)
    for m, p, error in rows if each else ():
        said = f"{p['elapsed']:10d} {error:+7.1f} {p['l2']}" if error is not None else "n/a " + p.get("none", "")[:60]
        print(f"{m['program'][:44]:44s} {m['kernel'][:28]:28s} {m['grid']:>16s} {m['block']:>14s} {m['elapsed']:>10s} {said}")
    print(f"{'':40s} {'n':>5s} {'none':>5s} {'mean':>7s} {'median':>7s} {'in 15':>7s} {'least':>8s} {'most':>8s} {'bias':>7s}")
    groups = (lambda m: length(float(m["elapsed"])), lambda m: m["program"] if each else re.split("[- ]", m["program"])[0], lambda m: "all")
    for key in groups:
        for name in dict.fromkeys(key(m) for m, _, _ in rows):
            some = [e for m, _, e in rows if key(m) == name]
            print(line(name[:40], [e for e in some if e is not None], sum(e is None for e in some)))
    costs = launch_costs(pairs)
    by_board = compared(pairs, costs) if costs else ()
    for name in sorted({length(float(m["elapsed"])) for m, _, _ in by_board}) + ["all"] if by_board else ():
        some = [e for m, _, e in by_board if e is not None and name in ("all", length(float(m["elapsed"])))]
        print(line(f"{name}, with that board's launches", some, len(by_board) - len(some) if name == "all" else 0))
    programs_there = {m["program"] for m, _, e in rows if e is not None}
    print(f"{len(rows)} launches of {len({m['program'] for m, _, _ in rows})} programs; of {len(programs_there)} some are predicted")
    errors = [e for _, _, e in rows if e is not None]
    if out and errors:
        with open(out) as f:
            kept = [s for s in f.read().splitlines() if "programs by others" not in s]
        with open(out, "w") as f:
            f.write("\n".join(kept + sums(errors)) + "\n")
    return True


def main():
    what, rest = (sys.argv[1] if len(sys.argv) > 1 else ""), sys.argv[2:]
    if what == "build" and len(rest) > 1:
        ok = build(rest[0], rest[1:])
    elif what in ("predict", "measure") and len(rest) == 2:
        ok = {"predict": predict, "measure": measure}[what](*rest)
    elif what == "compare" and len(rest) >= 2:
        ok = compare(*rest[:2], each="each" in rest[2:], out=rest[rest.index("--out") + 1] if "--out" in rest[:-1] else None)
    else:
        print("foreign.py: build, predict, measure or compare, and their folders and files: see the head of this program",
              file=sys.stderr)
        sys.exit(2)
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../common/base"))
    import main_program
    main_program.run(main)
