#!/usr/bin/env python3
"""short.py BUILD: programs on machines that are short of something.

Memory (AS), file descriptors (NOFILE), processes (NPROC), bytes of a file (FSIZE), a full disk, folders that cannot
be written or are gone, stdin, stdout or stderr closed, a reader that goes away. Whatever is missing,

  status 0: the record is that of the whole run
  else      a documented status, and one line on stderr (if there is one) that begins with the program's name
  always    the record file still begins with what was there, and has whole lines of JSON only

Prints TAP, a line for each program and shortage."""
import json, os, re, resource, shutil, signal, stat, subprocess, sys, tempfile

build = os.path.abspath(sys.argv[1])
BEFORE = '{"schema":"attnlab-1.0","time":"2000-01-01T00:00:00Z","stage":"0-before"}\n'
emu = "--device emu --jobs 2 --batch 1 --heads 1 --seqlen 8 --json {json} --out {o} --quiet".split()
PROGRAMS = [  # name, its arguments
    ("stage-1", emu), ("stage-6", emu), ("stage-5", "--device emu --no-time --counters none --json {json} --quiet".split()),
    ("stage-5", "--device emu --no-time --json {json} --quiet".split()),
    ("stage-1", "--device emu --jobs 1 --sweep-random 2 --counters none --json {json}".split()),
    ("tabulate", ["--out", "{dir}", "--problem", "B1 H8 S512 D64", "--stages", "1-scalar 3-wmma-pv", "x={recorded}"]),
    ("columns", ["{recorded}", "stage=1-scalar", "--", "samples.median_us"]),
    ("predict-4", "--seqlen 64 --heads 1".split()), ("doctor", []),
]
FILTERS = ("columns", "doctor", "predict-4")  # they only print: a reader that goes away ends them, as it does cat
SLOW = {"stage-5": ("memory", "file descriptors")}  # counting its 4096 products takes two seconds: of what counters take alone
root = tempfile.mkdtemp(prefix="short")
os.chmod(root, 0o777)
recorded, full = f"{root}/recorded.jsonl", f"{root}/full"
os.symlink("/dev/full", full)  # a program that removes it removes the link
with open("records/runs/h200.jsonl") as f, open(recorded, "w") as g:
    g.writelines([l for l in f if '"B1 H8 S512 D64"' in l and '"1-scalar"' in l][:2])
n = failed = 0


def strip(line):
    record = json.loads(line)
    for volatile in ("time", "command"): record.pop(volatile, None)
    return json.dumps(record, sort_keys=True)


def attempt(program, args, before=lambda: None, **more):
    """Status, stderr, records, or what is wrong with them."""
    folder = tempfile.mkdtemp(dir=root)
    os.chmod(folder, 0o777)
    names = {k: more.pop(k, f"{folder}/{k}") for k in ("json", "o", "dir")}
    os.makedirs(f"{folder}/dir")
    with open(f"{folder}/json", "w") as f: f.write(BEFORE)
    os.chmod(f"{folder}/json", 0o666)
    line = [f"{build}/{program}", *(a.format(**names, recorded=recorded) for a in args)]
    streams = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) | more
    try:
        done = subprocess.run(line, preexec_fn=before, timeout=120, env=dict(os.environ, OMP_NUM_THREADS="2"), **streams)
    except subprocess.TimeoutExpired:
        return None, "none within 120 s", [], folder
    return done.returncode, (done.stderr or b"").decode(errors="replace"), open(f"{folder}/json").read(), folder


def wrong(program, answer, whole, says=True):
    status, err, text, folder = answer
    if os.path.exists(f"{folder}/o") and open(f"{folder}/o", "rb").read() != whole[3]: return "an output file that is not whole"
    shutil.rmtree(folder, ignore_errors=True)
    if status is None: return err
    if not text.startswith(BEFORE): return "what was in the record file is damaged"
    try:
        records = [strip(l) for l in text[len(BEFORE):].splitlines()]
    except ValueError:
        return f"status {status}, and a line that is no JSON: {text[len(BEFORE):][:200]!r}"
    if text and not text.endswith("\n"): return "a cut line"
    if status == 0: return None if records == whole[2] else "status 0, but another record"
    if "error while loading shared" in err or (status == 127 and "version" not in err): return None  # the loader's words
    if status == -signal.SIGPIPE and program in FILTERS: return None
    if status == 77 and program == "doctor": return None  # its report, on stdout, says what is missing
    if status not in (2, 3, 4, 5, 6, 77): return f"status {status}: {err[-200:]!r}"
    if not says: return None
    lines = err.splitlines()
    return None if lines and lines[-1].startswith(program + ": ") and len(lines) <= 1 + whole[4] else f"status {status}, stderr {err[-300:]!r}"


def limit(what, value): return lambda: resource.setrlimit(what, (value, value))


def closed(*fds):
    def close():
        for fd in fds:
            try: os.close(fd)
            except OSError: pass
    return close


def gone():
    lost = tempfile.mkdtemp(dir=root)
    os.chdir(lost)
    os.rmdir(lost)


def nobody(what, value):
    def leave():
        os.setgroups([]); os.setgid(65534); os.setuid(65534)
        resource.setrlimit(what, (value, value))
    return leave


def reader_gone(program, args):
    r, w = os.pipe()
    os.close(r)
    try: return attempt(program, args, stdout=w)
    finally: os.close(w)


def test(name, program, bad, tried):
    global n, failed
    n += 1
    failed += bool(bad)
    print(f"{'not ok' if bad else 'ok'} {n} - {program}: {name}, {tried} times", flush=True)
    for why in bad[:5]: print("# " + why)


tried_in_all = 0
for program, args in PROGRAMS:
    if not os.path.exists(f"{build}/{program}"): continue
    status, err, text, folder = attempt(program, args)
    if status: sys.exit(f"short.py: {program} itself leaves with {status}: {err}")
    whole = (status, err, [strip(l) for l in text[len(BEFORE):].splitlines()],
             open(f"{folder}/o", "rb").read() if os.path.exists(f"{folder}/o") else b"", len(err.splitlines()))
    MB = 1 << 20
    title = f"{program} {args[1] if len(args) > 3 and args[0] == '--device' else ''}".strip()
    shortages = {
        "memory": [lambda v=v: attempt(program, args, limit(resource.RLIMIT_AS, v * MB)) for v in (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 400, 1000, 2000)],
        "file descriptors": [lambda v=v: attempt(program, args, limit(resource.RLIMIT_NOFILE, v)) for v in range(4, 12)],
        "bytes of a file": [lambda v=v: attempt(program, args, limit(resource.RLIMIT_FSIZE, v)) for v in (76, 100, 200, 500, 1000, 1500, 3000)],
        "a full disk": [lambda k=k: attempt(program, args, **{k: full}) for k in ("json", "o")] + [lambda: attempt(program, args, stdout=open(full, "w"))],
        "a folder that cannot be written": [lambda k=k: attempt(program, args, **{k: "/proc/self/nothing/here"}) for k in ("json", "o", "dir")],
        "a folder that is gone": [lambda: attempt(program, args, gone)],
        "closed streams": [lambda f=f: attempt(program, args, closed(*f)) for f in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2))],
        "a reader that is gone": [lambda: reader_gone(program, args)],
    }
    if not stat.S_ISCHR(os.stat("/dev/full").st_mode): del shortages["a full disk"]
    if os.getuid() == 0: shortages["processes"] = [lambda v=v: attempt(program, args, nobody(resource.RLIMIT_NPROC, v)) for v in (0, 1)]
    if program in SLOW and "none" not in args: shortages = {name + ", counting": shortages[name][::3] for name in SLOW[program]}
    for name, runs in shortages.items():
        bad = []
        for k, run in enumerate(runs):
            why = wrong(program, run(), whole, name != "closed streams")
            tried_in_all += 1
            if why: bad.append(f"{k}: {why}")
        test(name, program, bad, len(runs))
print(f"1..{n}")
print(f"# {tried_in_all} shortages")
shutil.rmtree(root, ignore_errors=True)
sys.exit(failed > 0)
