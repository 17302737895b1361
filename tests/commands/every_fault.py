#!/usr/bin/env python3
"""every_fault.py BUILD POINTS|all [WORD [CALL]]: one call into the C library fails, then the next, ...

Each program below is run once whole, then again and again with tests/fake/fault.c preloaded, which fails
one call of it: the 1st malloc, the 2nd malloc, ..., the 1st write, ...; memory also for good from
then on (but for the pretended driver, which takes memory itself), so that whatever is dropped for want of it is dropped whole. Whatever fails,

  the status is that of the whole run, or one of the documented (4 alone where memory
      failed)
  stderr is empty where the status is 0, and one line that begins with the program's name elsewhere
  status 0: stdout and the record are those of the whole run, byte by byte but for the time and for
      counters that are n/a with their reason, where it was not memory that failed
  otherwise: of the record nothing was appended, or all of it, unchanged but for counters that it
      says it has not ("no_counters")
  what the record file held before is still its beginning; output files are whole or absent

POINTS of all such points are drawn with a fixed seed; `all` takes every one. WORD: only programs
whose name has it; CALL: only that function. Prints TAP, a line for each program."""
import concurrent.futures, json, os, random, re, subprocess, sys, tempfile

build, points = sys.argv[1], sys.argv[2]
word = sys.argv[3] if len(sys.argv) > 3 else ""
only = sys.argv[4] if len(sys.argv) > 4 else ""
MEMORY = {"malloc", "calloc", "realloc", "aligned_alloc", "memalign", "mmap", "mprotect", "open_memstream", "pthread_create"}
shim = os.path.abspath(f"{build}/tests/fault.so")
emu = "--device emu --jobs 1 --batch 1 --heads 1".split()

# name, program, its arguments; {json} {o} {lse} {dir} become files of the trial, {q} and {records} exist
PROGRAMS = [
    ("a run", "stage-1", [*emu, "--seqlen", "8", "--json", "{json}", "--out", "{o}", "--lse", "{lse}"]),
    ("a run of two threads", "stage-1", "--device emu --jobs 2 --heads 2 --seqlen 8 --quiet --json {json}".split()),
    ("tensor cores", "stage-6", [*emu, "--seqlen", "16", "--quiet", "--json", "{json}"]),
    ("one product", "stage-5", "--device emu --jobs 1 --no-time --quiet --counters none --json {json}".split()),
    ("4096 products, counted", "stage-5", "--device emu --jobs 1 --no-time --quiet --json {json}".split()),
    ("all that is counted", "stage-1", [*emu, "--seqlen", "8", "--no-check", "--counters", "MIX,BOUND,SHARED,MEMORY", "--json", "{json}"]),
    ("CSV", "stage-1", [*emu, "--seqlen", "8", "--csv", "--no-check", "--json", "{json}"]),
    ("files", "stage-1", "--device emu --jobs 1 --q {q} --k {q} --v {q} --quiet --json {json} --out {o}".split()),
    ("source", "stage-1", [*emu, "--seqlen", "8", "--source"]),
    ("a sweep", "stage-1", "--device emu --jobs 1 --sweep-random 2 --counters none --json {json}".split()),
    ("repeats", "stage-1", [*emu, "--seqlen", "8", "--repeat-check", "2", "--json", "{json}"]),
    ("a race", "stage-1", [*emu, "--seqlen", "72", "--without", "{barrier}", "--no-check", "--quiet"]),
    ("groups", "stage-1", ["--list-counters"]),
    ("a driver", "stage-1", "--device cuda --heads 1 --seqlen 8 --counters none --min-time 0 --json {json}".split()),
    ("a driver and CUPTI", "stage-1", "--device cuda --heads 1 --seqlen 8 --no-time --counters TENSOR,MEMORY --json {json}".split()),
    ("a driver and source lines", "stage-1", "--device cuda --heads 1 --seqlen 8 --source".split()),
    ("a prediction", "predict-4", "--seqlen 64 --heads 1".split()),
    ("a CUDA program", "run", "--device emu --jobs 1 --no-predict --quiet --json {json} {program}".split()),
    ("a CUDA program, printed", "run", "--device emu --jobs 2 --no-predict --launches --counters MIX,SHARED --json {json} {program}".split()),
    ("a kernel alone", "run", "--device emu --jobs 1 --no-predict --quiet --kernel twice --grid 2 --block 64 --arg f32[128]=ramp --arg i32=128 --json {json} {ptx}".split()),
    ("tabulate", "tabulate", ["--out", "{dir}", "--problem", "B1 H8 S512 D64", "--stages", "1-scalar 3-wmma-pv", "x={records}"]),
    ("columns", "columns", ["{records}", "stage=1-scalar", "--", "samples.median_us"]),
    ("the grader's cases", "trial-1", "draw 7 d64".split()),
    ("the grader's run", "trial-1", "run --device emu --timeout 60 --products {case} 0 {dir}".split()),
    ("the grader's verdict", "trial-1", "judge {case} 0 {graded}".split()),
    ("attnlab.forward", "tests/fake/forward_once", f"{build}/runtime/attnlab-1.so {build}/images/stage-1".split()),
]

FEWER = {"4096 products, counted": 4}  # two seconds each: so many times fewer points than of the others, when points are drawn

def barrier():
    """A line of stage 1's kernel whose barrier the checks miss."""
    said = subprocess.run([f"{build}/stage-1", *emu, "--seqlen", "72", "--without", "list", "--no-check", "--quiet"], capture_output=True, text=True).stdout
    return [l.split(":")[0] for l in said.splitlines() if ":bar.sync" in l][0]

def strip(line):
    """A record without what differs from run to run."""
    record = json.loads(line)
    for volatile in ("time", "command", "advice"): # advice follows from the rest
        record.pop(volatile, None)
    for key in ("clock_mhz", "cycles", "no_clock"): record.get("samples", {}).pop(key, None) # n/a where the device has no room for stamps
    record.pop("host_seconds", None)
    for k in record.get("kernels", []) if isinstance(record.get("kernels"), list) else []:
        if k.pop("no_counters", None): k["counters"] = None
        for launch in k.get("launches", []) if isinstance(k.get("launches"), list) else []: launch.pop("emulator_s", None)
    for c in record.get("counters", []): c.pop("validated", None) # "not validated" where that file cannot be read
    return record

def as_ptx(k, other):
    """A kernel whose machine code was not counted, and the record says why, beside one where it was."""
    if k["counted"] != "ptx": return
    counts = ("instructions", "threads", "global_sectors", "global_sectors_ideal", "shared_wavefronts", "shared_wavefronts_ideal", "counted")
    for x in (k, other):
        for key in ("counted", "no_sass", "counters"): x.pop(key, None)
        for launch in x["launches"]:
            for key in counts: launch.pop(key)

class Trial:
    def __init__(self, program, args, folder, fault=None):
        self.name, self.dir = os.path.basename(program), folder
        names = {k: os.path.join(folder, k) for k in ("json", "o", "lse", "dir")}
        os.makedirs(names["dir"], exist_ok=True)
        for k in ("json", "o", "lse"):
            if os.path.exists(names[k]): os.remove(names[k])
        for k in os.listdir(names["dir"]): os.remove(os.path.join(names["dir"], k))
        names |= {"q": q_file, "records": few, "case": case, "graded": graded, "barrier": line, "program": own_program, "ptx": own_program + ".ptx"}
        with open(names["json"], "w") as f: f.write(BEFORE)
        env = dict(os.environ, OMP_NUM_THREADS="2" if "2" in args else "1", LD_PRELOAD=shim)
        if "cuda" in args:
            env |= {"LD_LIBRARY_PATH": f"{build}/tests/fake", "ATTNLAB_CUPTI": os.path.abspath(f"{build}/tests/fake")}
        env |= {"FAULT": fault} if fault else {"FAULT_COUNT": os.path.join(folder, "count")}
        try:
            done = subprocess.run([f"{build}/{program}", *(a.format(**names) for a in args)], env=env,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
            self.status, self.out, self.err = done.returncode, done.stdout, done.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            self.status, self.out, self.err = "none within 60 s", b"", ""
        self.records = open(names["json"]).read()
        self.files = {k: open(p, "rb").read() for k in ("o", "lse") if os.path.exists(p := names[k])}
        self.left = sorted(set(os.listdir(folder)) - {"json", "o", "lse", "dir", "count"})
        for k in self.left: os.remove(os.path.join(folder, k))
        self.made = {k: open(os.path.join(names["dir"], k), "rb").read() for k in os.listdir(names["dir"])}

def broken(t, whole, call):
    """What is wrong with trial t, or None."""
    said = t.err.splitlines()
    if t.status != whole.status:
        allowed = {4} if call in MEMORY else {2, 3, 4, 5, 6, 77}
        if call in MEMORY and t.err == "out of memory\n": allowed = {127} # the loader's own end, in a dlopen()
        if call in MEMORY and (" not found" in t.err or "cannot open shared" in t.err): allowed = {4, 6, 77} # what the loader made of it
        if call in MEMORY and t.name == "forward_once" and re.search(r"^libgomp: Out of memory|thread-local data: ABORT$", t.err, re.M): return None # as a library is loaded, before any call
        if "fault_program: " in t.err and "no memory is left" not in t.err: allowed = {9} # it was told why, and says so
        if t.status not in allowed: return f"status {t.status}: {t.err!r}"
        if t.status == 127: return None
        reports = same_text(whole.err).splitlines()
        if not said or not said[-1].startswith((t.name + ": ", "fault_program: ")) or [l for l in said[:-1] if same_text(l) not in reports and not (t.name == "run" and l.startswith(("run: ", "fault_program: ")))]:
            return f"status {t.status}, stderr of {len(said)} lines: {t.err!r}"
    else:
        if t.status == 0 and t.err != whole.err: return f"status 0, but it says {t.err!r}"
        if t.status and len(said) < len(whole.err.splitlines()): return f"a report is lost: {t.err!r}"
        if t.status and same_text(t.err) != same_text(whole.err): return f"another report: {t.err!r}"
        if same_text(t.out) != same_text(whole.out) and not missing(t, call): return "status as ever, but stdout differs"
        if t.files != whole.files: return "status as ever, but an output file differs"
        if t.made != whole.made: return "status as ever, but a table differs"
    if not t.records.startswith(BEFORE): return "a record that was there before is damaged"
    now, then = (x.records[len(BEFORE):].splitlines() for x in (t, whole))
    try:
        now, then = [strip(l) for l in now], [strip(l) for l in then]
        if t.name == "run": # what the program did until it ended
            if t.status and all(r["exit"] == t.status for r in now): then = now
            for a, b in zip(now, then) if call not in MEMORY else []:
                for k, other in zip(a["kernels"], b["kernels"]):
                    if k["counters"] is None: other["counters"] = None
                    if k.get("no_sass"): as_ptx(k, other)
        for a, b in zip(now, then): # a row is kept where only its counters could not be had, and says so
            lost = {(c["group"], c["name"]) for c in a.get("counters", []) if "na" in c} if missing(t, call) else set()
            for x in (a, b):
                if lost: x["counters"], x["gates"], x["advice"] = [c for c in x["counters"] if (c["group"], c["name"]) not in lost], None, None
            if a.get("no_counters") and (t.status or call not in MEMORY):
                for x in (a, b):
                    for key in ("counters", "gates", "advice", "no_counters"): x.pop(key, None)
        if len(now) > len(then) or now != then[:len(now)]:
            return f"status {t.status}, and another record"
    except ValueError:
        return f"status {t.status}, and a record that is no JSON"
    if t.status == whole.status and len(now) != len(then): return "status as ever, but no record"
    for k, data in t.files.items():
        if data != whole.files[k]: return f"status {t.status}, and {k} has other bytes"
    if t.left: return f"it left {t.left} behind"
    return None

def missing(t, call):
    """Does the trial say of counters why it has them not? A fault of memory is more than that: it ends the program."""
    if call not in MEMORY and (b"predicted: n/a: " in t.out or b"counted on PTX: " in t.out or b"The hottest kernel: n/a: " in t.out or b"what the names of the stalls mean: n/a: " in t.out): return True
    return call not in MEMORY and '"n' in t.records and any("na" in c for l in t.records[len(BEFORE):].splitlines()
        for c in json.loads(l).get("counters", [])) or '"no_counters"' in t.records and call not in MEMORY

def same_text(text):
    """Addresses and times are not compared, nor of what characters a bar is; without getcwd files are named from the root."""
    if isinstance(text, bytes): text = text.decode(errors="replace")
    text = text.replace(os.getcwd() + "/", "")
    text = re.sub("[\u2588-\u258f\u2591#-]{20}", "-", text) # bars are plain where the locale could not be had
    # the lines of a screen for which files of chips/ and records/ are read: without them they say less
    text = re.sub(r"(?m)^(rate|beside|n/a) .*\n(?: {15}.*\n)*", "", text)
    text = re.sub(" +", " ", re.sub(r"(?m)^(time +(clock|cycles)|advice) .*\n", "", text))
    return re.sub(r"h200: not validated|h200: \d+ (?:cases|first launches).*|0x[0-9a-f]{8,}|\d+(\.\d+)? ms|host_seconds\": [\d.]+|[\d.]+ s in the emulator", "-", text)

def points_of(folder, args):
    for row in open(os.path.join(folder, "count")):
        call, n = row.split()
        if only and call != only: continue
        if call == "aligned_alloc" and "cuda" in args: continue # the pretended driver's: device memory
        for k in range(1, int(n) + 1):
            yield f"{call}:{k}"
            if call in MEMORY and "cuda" not in args: yield f"{call}:{k}-"

BEFORE = '{"schema":"attnlab-1.0","time":"2000-01-01T00:00:00Z","stage":"0-before"}\n'
line = barrier()
failed = total = 0
root = tempfile.mkdtemp(prefix="faults")
q_file = os.path.join(root, "q.npy")
subprocess.run([f"{build}/stage-1", *emu, "--seqlen", "8", "--no-check", "--quiet", "--counters", "none", "--out", q_file], check=True)

few = os.path.join(root, "few.jsonl") # of the recorded runs
with open("records/runs/h200.jsonl") as f, open(few, "w") as g:
    g.writelines([l for l in f if '"B1 H8 S512 D64"' in l and '"1-scalar"' in l][:2])

case, graded = os.path.join(root, "case.json"), os.path.join(root, "graded") # of one problem, and what a right kernel makes of it
with open(case, "w") as f:
    json.dump([dict(kind="few", image="d64", input="normal", batch=1, heads=1, kv_heads=1, seqlen_q=8, seqlen_k=8, head_dim=64, mask=0, seed=5,
                    **{f"{t}_stride": [0, 0, 0] for t in "qkvo"})], f)
os.mkdir(graded)
subprocess.run([f"{build}/trial-1", *"run --device emu --timeout 60 --products".split(), case, "0", graded], check=True, capture_output=True)

own_program = os.path.join(root, "fault_program")
for more in [], ["-ptx"]:
    try: subprocess.run(["runtime/attnlab-nvcc", *more, "-o", own_program + (".ptx" if more else ""), "tests/commands/fault_program.cu"], check=True, capture_output=True)
    except subprocess.CalledProcessError: PROGRAMS = [p for p in PROGRAMS if p[1] != "run"] # no nvcc here

chosen = [p for p in PROGRAMS if word in p[0]]
todo, wholes = [], {}
for at, (name, program, args) in enumerate(chosen):
    folder = os.path.join(root, str(at))
    os.makedirs(folder)
    wholes[name] = Trial(program, args, folder)
    expected = {1} if name == "a race" else {0}
    if wholes[name].status not in expected:
        sys.exit(f"every_fault.py: without a fault, {name} leaves with {wholes[name].status}: {wholes[name].err}")
    todo += [(name, program, args, f) for f in points_of(folder, args)]
everything = len(todo)
if points != "all": # as many of each program, and in turn of each function that it calls
    some, dice = [], random.Random(1)
    for name, *_ in chosen:
        of = {}
        for job in todo:
            if job[0] == name: of.setdefault(job[3].split(":")[0], []).append(job)
        for jobs in of.values(): dice.shuffle(jobs)
        in_turn = [jobs[k] for k in range(max(map(len, of.values()))) for jobs in of.values() if k < len(jobs)]
        some += in_turn[:int(points) // len(chosen) // FEWER.get(name, 1)]
    todo = some

def attempt(job):
    name, program, args, fault = job
    folder = tempfile.mkdtemp(dir=root)
    why = broken(Trial(program, args, folder, fault), wholes[name], fault.split(":")[0])
    return name, fault, why

with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(attempt, todo))
for n, (name, program, args) in enumerate(chosen, 1):
    mine = [r for r in results if r[0] == name]
    bad = [r for r in mine if r[2]]
    failed += bool(bad)
    print(f"{'not ok' if bad else 'ok'} {n} - {name}: {len(mine)} faults, {len(bad)} not as documented")
    for _, fault, why in bad[:int(os.environ.get("FAULT_SHOWN", 12))]: print(f"# {fault}: {why[:300]}")
print(f"1..{len(chosen)}")
print(f"# {len(todo)} of {everything} points")
subprocess.run(["rm", "-rf", root])
sys.exit(failed > 0)
