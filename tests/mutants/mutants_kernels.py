#!/usr/bin/env python3
"""mutants_kernels.py BUILD SHARE [FILE...]: wrong kernels, made by rule, that the stage's own check must reject.

Every place of a stage's kernel.cu, *.cuh and steps/*.cu where one of RULES fits is a mutant: a number
one larger, a comparison off by one, an operator or an index for another, a condition that always or never
holds, a statement left out; among these are all barriers, waits and fences. It is compiled to PTX, one
image after the other, and runs on the emulator, with its checks for races, on the problems below.
An image whose PTX is the same as without the change needs no run; a mutant that changes no image at all
is equivalent, and out of the score.

SHARE: all, or how many in ten thousand; which ones is drawn from the mutant's text, so that the same are tried
until their line changes. 20-each: so many of each stage, in turn, drawn the same way; KERNEL_SECONDS=N: what has not begun
by then is left for another time, and what was tried of each stage goes to tests/mutants/mutants_kernels_scores.txt. Prints TAP,
a line for each file, and the score. Survivors need a reason in tests/mutants/mutants_kernels.txt; one that begins with
"equivalent" takes them out of the score."""
import concurrent.futures, hashlib, os, re, shutil, subprocess, sys, tempfile, threading, time
from mutants import MATH, places_of

RULES = MATH + [
    ("-=", r" -= ", " += "), ("*=", r" \*= ", " /= "), ("|=", r" \|= ", " &= "),
    ("%", r" % ", " / "), ("^", r" \^ ", " + "), ("&", r"(?<=[\w)\]]) & ", " | "), ("|", r"(?<=[\w)\]]) \| ", " & "),
    ("<<", r" << ", " >> "), (">>", r" >> ", " << "), ("~", r"~(?=[\w(])", ""),
    ("max", r"\bf?max[f]?\(", lambda m: m.group().replace("max", "min")), ("min", r"\bf?min[f]?\(", lambda m: m.group().replace("min", "max")),
    ("true", r"\bif \(", "if (1 || "), ("false", r"\bif \(", "if (0 && "),
    ("operands", r"(?<=[\w)\]]) - (?=\w)", lambda m: " * -1 + "),
    ("arguments", r"(?<=\w\()([\w.]+), ([\w.]+)(?=[,)])", lambda m: f"{m.group(2)}, {m.group(1)}"),
    ("indices", r"\[([^][]+)\]\[([^][]+)\]", lambda m: f"[{m.group(2)}][{m.group(1)}]"),
    ("statement", r"^ +(?!return|break|continue|goto|case|default|static|const|struct|double|int|char|bool|size_t|uint|u?int\d|float|half|extern|template|\}|else|asm|for|if|while|:|\"|typename)[\w*(&][^;{}]*;(?= *$)", ";"),
]

# What runs, on every image that it can: rows and keys that end within tiles, a diagonal of 1 modulo every
# tile, rows that see nothing, packed heads, inputs that tell one rescaling, row or column from the other,
# scores far apart, more tiles than CTAs and more CTAs than tiles.
SHORT = ["--seqlen-q 70 --seqlen-k 130 --heads 4 --kv-heads 2 --batch 2", "--seqlen-q 70 --seqlen-k 450 --heads 2 --input ascending --scale 30",
         "--seqlen-q 70 --seqlen-k 450 --heads 2 --input negative --scale 30", "--seqlen-q 70 --seqlen-k 450 --heads 2 --input descending",
         "--seqlen-q 70 --seqlen-k 330 --heads 2 --input index", "--seqlen-q 3 --seqlen-k 200 --heads 7 --kv-heads 1 --batch 2",
         "--seqlen-q 70 --seqlen-k 203 --heads 2 --input outlier", "--seqlen-q 70 --seqlen-k 203 --heads 2 --input normal3",
         "--seqlen-q 70 --seqlen-k 203 --heads 2 --input constant", "--seqlen-q 70 --seqlen-k 130 --heads 2 --input uniform --scale 1e9",
         "--seqlen-q 1 --seqlen-k 1 --heads 1", "--seqlen-q 200 --seqlen-k 1 --heads 3", "--seqlen-q 5 --seqlen-k 0 --heads 3", "--seqlen-q 64 --seqlen-k 256 --heads 1"]
CAUSAL = ["--seqlen-q 70 --seqlen-k 711 --heads 2 --causal", "--seqlen-q 203 --seqlen-k 70 --heads 2 --causal", "--seqlen-q 150 --seqlen-k 215 --heads 4 --kv-heads 2 --causal --batch 2",
          "--seqlen-q 130 --seqlen-k 70 --heads 2 --causal=top-left", "--seqlen-q 70 --seqlen-k 330 --heads 2 --causal --input ascending --scale 30",
          "--seqlen-q 5 --seqlen-k 200 --heads 7 --kv-heads 1 --batch 2 --causal", "--seqlen-q 200 --seqlen-k 330 --heads 2 --causal --input index"]
LONG = ["--seqlen-q 20 --seqlen-k 260 --heads 280 --kv-heads 140", "--seqlen-q 64 --seqlen-k 4096 --heads 1 --input outlier", "--seqlen-q 200 --seqlen-k 333 --heads 70"]
LONG_CAUSAL = ["--seqlen-q 20 --seqlen-k 260 --heads 280 --kv-heads 140 --causal", "--seqlen-q 200 --seqlen-k 333 --heads 70 --causal"]
FREE = ["--seqlen-q 64 --seqlen-k 4096 --heads 1", "--seqlen-q 33 --seqlen-k 2500 --heads 2 --input ascending --scale 30", "--seqlen-q 5 --seqlen-k 1300 --heads 8 --kv-heads 2 --input outlier",
        "--seqlen-q 33 --seqlen-k 2500 --heads 2 --causal", "--seqlen-q 70 --seqlen-k 2500 --heads 3 --kv-heads 1 --causal --input index",
        "--seqlen 64 --heads 2 --repeat-check 2"]  # split by the host's own choice; the last: launches that overlap

IMAGES = {  # of kernel.cu and what it includes, the telling ones first; -causal: only with a mask
    "1-scalar": "d64 d128 d256", "2-wmma-qk": "d64 d128", "3-wmma-pv": "d64 d128", "4-tuned": "d64-small d64 d128 d128-small d256 d256-wide",
    "5-wgmma": "n64 n72 n8 n256", "6-wgmma-attention": "d64-split d64 d64-split-causal d64-causal d128-split d128 d128-causal d128-short d256-split d256-causal d256 d64-exp4",
}
LIMIT_S = 60
# What computes no answer: stage 5's kernel that measures runs on a GPU only, and its sums are looked at by nobody.
LEFT_OUT = r"\bstatic_assert\s*\((?:[^;])*;|static __device__ void measure\((?:.|\n)*?\n\}\n|\nMEASURE\(.*"


def stage_of(path): return path.split("/")[1]


def problems_of(folder, image):
    """Options, the cheap ones first."""
    if folder == "5-wgmma":
        n = image[1:]
        return [f"--n {n} {o}" for o in ("", "--k-steps 3 --input index", "--a regs --k-steps 2", "--swizzle none --k-steps 3", "--swizzle 32 --major-b n", "--swizzle 64 --major-a m --k-steps 2", "--a regs --major-b n --k-steps 16")]
    dim, step = re.match(r"d(\d+)(-\d)?", image).groups()
    masked, bare = image.endswith("-causal"), folder[0] == "6" and not image.endswith("-causal") and not step
    chosen = ([] if masked else SHORT[:3]) + ([] if bare else CAUSAL) + ([] if masked else SHORT[3:])
    chosen += ([] if masked else LONG) + ([] if bare else LONG_CAUSAL)
    named = folder[0] in "46"
    forced = [f"--head-dim {dim} {f'--image {image} ' if named else ''}{p}" for p in chosen]
    split = image.endswith("-small") or "-split" in image
    free = [f"--head-dim {dim} {p}" for p in FREE if split and (folder[0] == "4" or ("causal" in p) == masked)]
    return forced + free


def images_of(path):
    """(image, flags) of a source file, in the order to try."""
    folder = stage_of(path)
    lines = [l.split() for l in open(f"stages/{folder}/images") if l.strip() and l[0] not in "#" and l.split()[0] not in ("arch", "problem", "previous")]
    step = re.search(r"steps/(.*)\.cu$", path)
    if step: return [(l[0], [w for w in l[1:] if not w.endswith(".cu")]) for l in lines if f"steps/{step.group(1)}.cu" in l]
    flags = {l[0]: l[1:] for l in lines}
    return [(i, flags[i]) for i in IMAGES[folder].split()]


def arch_of(folder, image):
    """What the emulator runs of an image as an H200: the newest PTX."""
    return "compute_90a" if folder[0] in "56" or image.endswith("-small") else "compute_89"


def compiled(path, source, folder, image, flags, at):
    """The PTX, or None if it does not compile. `at`: where the changed file lies, before the others."""
    main = path if path.endswith(".cu") else f"stages/{folder}/kernel.cu"
    if not path.endswith(".cu"): shutil.copy(main, f"{at}/kernel.cu")
    with open(f"{at}/{os.path.basename(path)}", "w") as f: f.write(source)
    line = [NVCC, "-std=c++17", "-I.", f"-I{build}/include", f"-I{os.path.dirname(main)}", "-w", "-ptx", f"-arch={arch_of(folder, image)}", *flags, "-o", f"{at}/ptx", f"{at}/{os.path.basename(main)}"]
    try:
        if subprocess.run(line, capture_output=True, timeout=LIMIT_S).returncode: return None
    except subprocess.TimeoutExpired:
        return None
    return open(f"{at}/ptx").read()


def run(stage_program, options):
    """Its status; 124: it does not end."""
    line = [stage_program, "--device", "emu", "--jobs", "1", "--no-time", "--counters", "none", "--quiet", "--timeout", "20", *options.split()]
    try:
        return subprocess.run(line, capture_output=True, stdin=subprocess.DEVNULL, timeout=LIMIT_S).returncode
    except subprocess.TimeoutExpired:
        return 124


class Once:
    """f(*key), computed once for each key, whatever threads ask."""
    def __init__(self, f): self.f, self.lock, self.known = f, threading.Lock(), {}

    def __call__(self, *key):
        with self.lock: lock, answer = self.known.setdefault(key, (threading.Lock(), []))
        with lock:
            if not answer: answer.append(self.f(*key))
        return answer[0]


@Once
def ptx_of(path, image):
    """As it is."""
    with tempfile.TemporaryDirectory() as at:
        return compiled(path, open(path).read(), stage_of(path), image, dict(images_of(path))[image], at)


@Once
def passes(folder, options):
    """Does the stage as it is pass? What it fails or refuses kills nobody. Its other tests see to it that it passes."""
    return run(f"{build}/stage-{folder[0]}", options) == 0


def attempt(job):
    """What kills the mutant: "compiler", the options of a run; "same": no image has it; None: it survives."""
    path, (_, _, start, end, new) = job
    if time.time() > until: return "later"
    folder, seen, text = stage_of(path), False, open(path).read()
    text = text[:start] + new + text[end:]
    at = tempfile.mkdtemp(dir=programs)
    try:
        for image, flags in images_of(path):
            mine = compiled(path, text, folder, image, flags, at)
            if mine is None: return "compiler"
            if mine == ptx_of(path, image): continue
            seen = True
            images = f"{at}/images/stage-{folder[0]}"
            if not os.path.isdir(images):
                os.makedirs(images)
                os.link(f"{programs}/stage-{folder[0]}", f"{at}/stage-{folder[0]}")
                for f in os.listdir(f"{build}/images/stage-{folder[0]}"):
                    if f.endswith((".ptx", ".ptxas")): os.symlink(os.path.abspath(f"{build}/images/stage-{folder[0]}/{f}"), f"{images}/{f}")
            name = f"{images}/{image}.{arch_of(folder, image)}.ptx"
            original = os.readlink(name)
            os.remove(name)
            with open(name, "w") as f: f.write(mine)
            for options in problems_of(folder, image):
                if run(f"{at}/stage-{folder[0]}", options) and passes(folder, options): return options
            os.remove(name)
            os.symlink(original, name)
        return None if seen else "same"
    finally:
        shutil.rmtree(at, ignore_errors=True)


def reasons():
    """tests/mutants/mutants_kernels.txt: a regular expression of keys, then an indented line that says why they may live."""
    told, key = [], None
    for line in open("tests/mutants/mutants_kernels.txt"):
        if line.startswith("#") or not line.strip(): continue
        if line[0] == " ": told.append((re.compile(key), line.strip()))
        else: key = line.rstrip("\n")
    return told


SCORES = "tests/mutants/mutants_kernels_scores.txt"


def drawn(key): return int(hashlib.md5(key.encode()).hexdigest(), 16)


def score(rows):
    """The lines of the stages that were tried: killed, of how many that are not equivalent, tried, of how many, when."""
    lines = {r[0]: r for r in (line.split() for line in open(SCORES) if line[0] != "#")} if os.path.exists(SCORES) else {}
    lines |= {r[0]: [str(x) for x in r] + [time.strftime("%Y-%m-%d", time.gmtime())] for r in rows}
    with open(SCORES, "w") as f:
        f.write("# stage, wrong kernels killed, of how many that are not equivalent, tried, of how many there are, when (tests/mutants/mutants_kernels.py)\n")
        f.writelines(" ".join(lines[s]) + "\n" for s in sorted(lines))


if __name__ == "__main__":
    build, share, NVCC = sys.argv[1], sys.argv[2], os.environ.get("NVCC", "nvcc")
    until = time.time() + float(os.environ.get("KERNEL_SECONDS") or 1e9)
    files = sys.argv[3:] or sorted(f"{d}/{f}" for d, _, names in os.walk("stages") for f in names if f.endswith((".cu", ".cuh")) and "/sweep" not in d)
    jobs, total = [], 0
    for path in files:
        for mutant in places_of(path, RULES, drop=LEFT_OUT):
            total += 1
            if share == "all" or share.endswith("-each") or drawn(mutant[0]) % 10000 < int(share): jobs.append((path, mutant))
    of = {}  # of each stage
    if share.endswith("-each"):
        for job in sorted(jobs, key=lambda j: drawn(j[1][0])): of.setdefault(stage_of(job[0]), []).append(job)
        each = int(share[:-5])
        jobs = [mine[k] for k in range(each) for mine in of.values() if k < len(mine)]
    programs = tempfile.mkdtemp(prefix="mutants")  # as they are now: somebody may build meanwhile
    for stage in {stage_of(j[0])[0] for j in jobs}: shutil.copy(f"{build}/stage-{stage}", programs)
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("J") or os.cpu_count())) as pool:
        killers = []
        for job, killer in zip(jobs, pool.map(attempt, jobs)):
            killers.append(killer)
            if os.environ.get("SHOW"): print(f"# {killer}: {job[1][1]}: {job[1][0]}", file=sys.stderr, flush=True)
    shutil.rmtree(programs)
    jobs, killers = [j for j, k in zip(jobs, killers) if k != "later"], [k for k in killers if k != "later"]
    told = reasons()
    why_of = lambda key: next((why for pattern, why in told if pattern.search(key)), None)
    n = bad = killed = 0
    equivalent = killers.count("same")
    for path in dict.fromkeys(j[0] for j in jobs):
        mine = [(j[1], k) for j, k in zip(jobs, killers) if j[0] == path]
        alive = [(m, why_of(m[0])) for m, k in mine if k is None]
        strangers = [m for m, why in alive if not why]
        killed += sum(k not in (None, "same") for m, k in mine)
        equivalent += sum(why is not None and why.startswith("equivalent") for m, why in alive)
        n, bad = n + 1, bad + bool(strangers)
        print(f"{'not ok' if strangers else 'ok'} {n} - {path}: {sum(k not in (None, 'same') for m, k in mine)} of {len(mine)} killed, "
              f"{sum(k == 'same' for m, k in mine)} change no image, {len(alive) - len(strangers)} more have their reason")
        for key, number, *_ in strangers: print(f"#   {number}: {key}")
    rows = []
    for stage, every in sorted(of.items()):
        mine = [(j[1], k) for j, k in zip(jobs, killers) if stage_of(j[0]) == stage]
        same = sum(k == "same" or (k is None and (why_of(m[0]) or "").startswith("equivalent")) for m, k in mine)
        rows.append([stage, sum(k not in (None, "same") for m, k in mine), len(mine) - same, len(mine), len(every)])
        print(f"# {stage}: {rows[-1][1]} killed of {rows[-1][2]} that are not equivalent; {len(mine)} of {len(every)} mutants tried")
    if rows: score(rows)
    print(f"1..{n}")
    print(f"# score: {killed} killed of {len(jobs) - equivalent} that are not equivalent, {100 * killed / max(1, len(jobs) - equivalent):.1f} %; {len(jobs)} of {total} mutants tried")
    sys.exit(bad > 0)
