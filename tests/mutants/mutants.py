#!/usr/bin/env python3
"""mutants.py BUILD SHARE [FILE...]: wrong host programs, made by rule, that the tests must notice.

Every place of the files below where one of RULES fits is a mutant: a comparison off by one, an and
for an or, a sum for a difference, a constant one larger, a maximum for a minimum, a negation or a
statement left out. The file is compiled with that one change and linked into the tests named beside
it, ahead of the library. A mutant is killed if it does not compile (warnings are errors), if a test
fails, or if one does not end; one whose object file is that of the right program is equivalent.

SHARE: all, or how many in a thousand, or from-to; which ones is drawn from the text of the mutant, so
that the same are tried until their line changes. Prints TAP: a line for each file, and the score. A survivor
fails unless tests/mutants/mutants_host.txt gives its reason; one that begins with "equivalent" says that no
test can tell it from the right program, and takes it out of the score. A file tried whole has its line
in tests/mutants/mutants_scores.txt (what is committed), which make fortress adds up."""
import concurrent.futures, functools, glob, hashlib, os, re, resource, stat, subprocess, sys, tempfile, time
import confine

TESTS = {  # file: its tests; sh:NAME is a shell test, run on a program built from it
    "common/harness/check.c": "check extremes",
    "common/harness/reference.c": "reference check extremes",
    "common/harness/record.c": "record",
    "common/harness/timing.c": "timing sh:nvtx",
    "common/harness/gate.c": "gate",
    "common/harness/attention.c": "attention options",
    "common/harness/options.c": "options",
    "common/harness/option_value.c": "options",
    "common/harness/input.c": "input",
    "common/base/table.c": "table",
    "common/base/npy.c": "npy",
    "common/base/reason.c": "reason",
    "common/base/path.c": "path record",
    "common/base/ptxas.c": "occupancy",
    "profiler/expression.c": "groups",
    "profiler/groups.c": "groups",
    "profiler/launches.c": "launches",
    "profiler/occupancy.c": "occupancy",
    "profiler/refusal.c": "refusal",
    "runtime/session/fatbin.c": "fatbin",
    "runtime/session/repeat.c": "repeat",
    "runtime/session/launch_report.c": "launch_report",
    "runtime/session/report.c": "session_report",
    "plots/tabulate.c": "sh:tabulate",
    "plots/columns.c": "sh:tabulate",
    "emulator/core/memory.c": "memory",
    "emulator/core/pattern.c": "pattern",
    "emulator/checks/race.c": "race emu_async emu_cluster emu_taint emu_checks",
    "emulator/checks/vector_clock.c": "vector_clocks race emu_checks emu_global emu_cluster",
    "emulator/checks/taint.c": "emu_taint emu_global emu_checks",
    "emulator/checks/taint_bytes.c": "emu_taint emu_global",
    "emulator/checks/overlap.c": "emu_overlap",
    "common/device/emu_counters.c": "emu_counters",
}
DATA_BYTES = {"emulator/core/memory.c": 20 << 30}  # else 6 GiB: a heap of kernels is handed out by 4 GiB
CPU_S, LIMIT_S = 15, 120  # a test that takes longer hangs, in a loop or in its sleep; one that usually takes t of CPU, after 2 s + 4 t

MATH = [  # name, pattern, replacement
    ("<", r"(?<![<>=\-\w]) < (?![<=])", " <= "), ("<=", r" <= ", " < "),
    (">", r"(?<![<>=\-]) > (?![>=])", " >= "), (">=", r" >= ", " > "),
    ("==", r" == ", " != "), ("!=", r" != ", " == "),
    ("&&", r" && ", " || "), ("||", r" \|\| ", " && "),
    ("+", r" \+ ", " - "), ("-", r"(?<=[\w)\]]) - ", " + "), ("*", r"(?<=[\w)\]]) \* (?=[\w(])", " / "), ("/", r" / ", " * "),
    ("+=", r" \+= ", " -= "), ("++", r"\+\+(?=;|\))", ""),
    ("!", r"(?<=[( ])!(?=[\w*(])", ""), ("unary -", r"(?<=[(=,?:] )-(?=[\w(])|(?<=return )-(?=[\w(])", ""),
    ("0", r"(?<![\w.])0(?![\w.])", "1"), ("1", r"(?<![\w.])1(?![\w.])", "2"),
    ("n", r"(?<![\w.])(?!0\b|1\b)\d+(?![\w.])", lambda m: str(int(m.group(), 8 if m.group()[0] == "0" else 10) + 1)),
    ("real", r"(?<![\w.])(?:\d+\.\d*(?:e-?\d+)?|\d+e-?\d+|0x1p-?\d+)(?!\w)", lambda m: "2 * " + m.group()),
]
RULES = MATH + [
    ("max", r"\bfmax\(", "fmin("), ("min", r"\bfmin\(", "fmax("),
    ("statement", r"^ +(?!return|break|continue|goto|case|default|static|const|struct|double|int|char|bool|size_t|uint|u?int\d|float|json_t|FILE|va_|\}|else)[\w*(][^;{}]*;$", ";"),
    ("if", r"\bif \((?=.*\) (?:return|goto|continue|break)\b)", "if (0 && "),
]


def code_of(text):
    """The text with comments, strings and directives blanked: the same length, the same lines."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', blank, text, flags=re.S | re.M)


def places_of(path, rules=RULES, drop=None):
    """(key, line number, start, end, new text): the key is the rule, the line's text and which place of it. What `drop` matches stays."""
    text = open(path).read()
    code, seen = code_of(text), {}
    if drop: code = re.sub(drop, lambda m: re.sub(r"[^\n]", " ", m.group()), code)
    for rule, pattern, replacement in rules:
        for m in re.finditer(pattern, code, flags=re.M):
            new = replacement(m) if callable(replacement) else replacement
            start = text.rfind("\n", 0, m.start()) + 1 if rule != "statement" else m.start()
            end = text.find("\n", m.end() - 1)
            line = " ".join(text[start:end].split())
            key = f"{path}: {rule}: {line}"
            seen[key] = seen.get(key, 0) + 1
            if seen[key] > 1: key += f" #{seen[key]}"
            yield key, text.count("\n", 0, m.start()) + 1, m.start(), m.end(), new


def bodies_of(text):
    """(start, end) of what stands between the braces of each function."""
    code, depth, found = code_of(text), 0, []
    for m in re.finditer(r"[{}]", code):
        if m.group() == "{":
            if depth == 0: start = m.end() if code[:m.start()].rstrip().endswith(")") else None
            depth += 1
        else:
            depth -= 1
            if depth == 0 and start: found.append((start, m.start()))
    return found


def all_in_one(path, places):
    """The file with every place's mutant of its function beside the right one: $MUTANT says which runs. `places` maps its numbers."""
    text = open(path).read()
    out, at = ["#include <stdlib.h>\nstatic int mutant_now;\n__attribute__((constructor)) static void mutant_choose(void) { "
               "const char *s = getenv(\"MUTANT\"); mutant_now = s ? atoi(s) : -1; }\n"], 0
    for start, end in bodies_of(text):
        mine = [(n, p) for n, p in places.items() if start <= p[2] and p[3] <= end]
        if not mine: continue
        labels = "".join(f" __label__ {l};" for l in dict.fromkeys(re.findall(r"^\s*(?!default)(\w+):(?!:)", code_of(text[start:end]), flags=re.M)))
        out.append(text[at:start] + "switch (mutant_now) {\n")
        for n, (_, _, a, b, new) in mine: out.append(f'case {n}: {{{labels}\n#line 1 "mutant-{n}"\n{text[start:a]}{new}{text[b:end]}\n}} break;\n')
        out.append(f'default: {{{labels}\n#line 1 "right"\n{text[start:end]}}}}}')
        at = end
    return "".join(out) + text[at:]


@functools.lru_cache(None)
def compile_lines(build):
    """What make says of all files, asked once."""
    objects = [f"{build}/{path[:-2]}.o" for path in TESTS]
    return subprocess.run(["make", "-n", "-B", "V=1", f"BUILD={build}", *objects], capture_output=True, text=True).stdout.splitlines()


def compile_line(build, path):
    return tuple([l for l in compile_lines(build) if f" -c -o {build}/{path[:-2]}.o" in l][-1].split())


def run(command, folder, log, cpu_s=CPU_S, rules=None, data_bytes=6 << 30, **more):
    """The first test that fails ends it. What has `rules` is kept to them (confine.py)."""
    def limits():
        confine.confine(rules)
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
        resource.setrlimit(resource.RLIMIT_DATA, (data_bytes, data_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        return subprocess.run(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, timeout=LIMIT_S, preexec_fn=limits,
                              env=dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", CMOCKA_TEST_ABORT="1", TAP_STOP="1",
                                       OMP_NUM_THREADS="1", TMPDIR=folder, **more)).returncode
    except subprocess.TimeoutExpired:
        return 124


def compiled(path, compiler, text, folder, log, *more):
    """The object file's name, None if there is none."""
    source, object = f"{folder}/{os.path.basename(path)}", f"{folder}/mutant.o"
    with open(source, "w") as f: f.write(text)
    line = [w.strip("'\"") if w.startswith("-D") and "STAGE" not in w else w for w in compiler]
    line = [w.replace("\\\"", '"').replace("'", "") if w.startswith("-D") else w for w in line]
    line[line.index("-o") + 1] = object
    line[-1] = source
    line = [w for w in line if w not in ("-MMD", "-MP", "-O2", "-O3", "-g")] + ["-O1", f"-iquote{os.path.dirname(path)}", f"-ffile-prefix-map={folder}=.", *more]
    return None if run(line, folder, log) else object


@functools.lru_cache(None)
def right(path, compiler):
    """The right program's object file."""
    with tempfile.TemporaryDirectory(prefix="mutant") as folder, open(f"{folder}/log", "w") as log:
        return open(compiled(path, compiler, open(path).read(), folder, log), "rb").read()


def programs(build):
    """Within build: there they find the groups and chips as others do."""
    os.makedirs(f"{build}/mutants", exist_ok=True)
    return os.path.abspath(f"{build}/mutants")


def object_of(build, test):
    """The compiled source of a C test, wherever it lies in tests/."""
    return glob.glob(f"{build}/tests/**/test_{test}.o", recursive=True)[0]


class Tests:
    """Those of a file, each linked with `object` in place of the right one when it is first asked for."""
    def __init__(self, build, path, object, folder, log, cpu_s=None):
        self.cpu_s = cpu_s or {}  # of each test, how much it may take
        self.build, self.path, self.object, self.folder, self.log, self.programs = build, path, object, folder, log, {}

    def program(self, test):
        if test not in self.programs: self.programs[test] = self.shell(test[3:]) if test.startswith("sh:") else self.linked(
            f"{self.folder}/test_{test}", object_of(self.build, test), self.object, *(f"{self.build}/{o}.o" for o in SHARED),
            *(f"{self.build}/{o}.o" for o in BESIDE.get(test, [])), f"{self.build}/libcmocka.so.0")
        return self.programs[test]

    def linked(self, program, *objects):
        libraries = "-l:libjansson.a -l:libgomp.a -ldl -lm -lpthread".split()
        if run(["gcc", "-Wl,--wrap=gomp_fatal,-u,__wrap_gomp_fatal", "-o", program, *objects, f"{self.build}/libattnlab.a", f"-Wl,-rpath,{os.path.abspath(self.build)}", *libraries], self.folder, self.log):
            raise RuntimeError(f"mutants.py: {program} does not link:\n" + open(self.log.name).read())
        return [program]

    def shell(self, test):
        """A build folder with the one program made from it."""
        name = os.path.basename(self.path)[:-2]
        objects = [self.object]
        if name not in ("tabulate", "columns"): name, objects = "stage-1", [self.object, f"{self.build}/stages/1-scalar/stage.o"]
        here, there = os.path.abspath(self.build), f"{self.folder}/build"
        os.makedirs(f"{there}/tests", exist_ok=True)
        for other in os.listdir(here):
            if other not in (name, "tests"): os.symlink(f"{here}/{other}", f"{there}/{other}")
        for other in ("fake", "fault.so"):
            if os.path.exists(f"{here}/tests/{other}"): os.symlink(f"{here}/tests/{other}", f"{there}/tests/{other}")
        self.linked(f"{there}/{name}", *objects)
        return ["bash", glob.glob(f"tests/*/test_{test}.sh")[0]]

    def fails(self, test, cpu_s=CPU_S, **more):
        """Wrong programs run as whoever tests, with the paths of this machine: each may write to a folder of its own."""
        program, build = self.program(test), f"{self.folder}/build"
        with tempfile.TemporaryDirectory(dir=self.folder, ignore_cleanup_errors=True) as folder:
            rules = confine.ruleset(folder, *([build] if test.startswith("sh:") else []))
            try: return run(program, folder, self.log, cpu_s, rules, DATA_BYTES.get(self.path, 6 << 30), BUILD=build, **more) != 0
            finally:
                if rules is not None: os.close(rules)
                harmed = [d for d in ("/dev/null", "/dev/full") if os.path.exists(d) and not stat.S_ISCHR(os.stat(d).st_mode)]
                if harmed: raise RuntimeError(f"mutants.py: {self.path}, {more or 'as it is'}: {harmed[0]} is no device any more")

    def failed(self, number):
        """The first test that fails with the mutant of that number, None if none does."""
        return next((test for test in TESTS[self.path].split() if self.fails(test, self.cpu_s.get(test, CPU_S), MUTANT=str(number))), None)

    def measure(self):
        """None of them fails with the right program; how long each takes."""
        for test in TESTS[self.path].split():
            self.program(test)
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            if self.fails(test): raise RuntimeError(f"mutants.py: {self.path} as it is fails {test}:\n" + open(self.log.name).read())
            self.cpu_s[test] = min(CPU_S, int(2 + 4 * (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)))


def alone(build, path, compiler, text, cpu_s):
    """What kills the mutant when the file has no other: "compiler", a test; "same": the object file is the right one; None."""
    with tempfile.TemporaryDirectory(dir=programs(build)) as folder, open(f"{folder}/log", "w") as log:
        object = compiled(path, compiler, text, folder, log)
        if not object: return "compiler"
        if open(object, "rb").read() == right(path, compiler): return "same"
        return Tests(build, path, object, folder, log, cpu_s).failed(0)


def killers_of(job):
    """For each of a file's mutants what kills it. All that lie in functions are compiled together first; who survives there is tried alone."""
    build, path, mutants = job
    compiler, killers, text = compile_line(build, path), {}, open(path).read()
    cpu_s = {}
    inside = {n: m for n, m in enumerate(mutants) if any(a <= m[2] and m[3] <= b for a, b in bodies_of(text))}
    with tempfile.TemporaryDirectory(dir=programs(build)) as folder:
        while inside:
            with open(f"{folder}/log", "w") as log:
                object = compiled(path, compiler, all_in_one(path, inside), folder, log, "-w")
                if object: break
            wrong = {int(n) for n in re.findall(r"^mutant-(\d+):\d+:\d+: error", open(f"{folder}/log").read(), flags=re.M)}
            if not wrong: raise RuntimeError("mutants.py: does not compile:\n" + open(f"{folder}/log").read())
            for n in wrong: del inside[n]
        if inside:
            with open(f"{folder}/log", "w") as log:
                tests = Tests(build, path, object, folder, log)
                tests.measure()
                cpu_s = tests.cpu_s
                for n in inside: killers[n] = tests.failed(n)
    for n, (key, _, start, end, new) in enumerate(mutants):
        if not killers.get(n): killers[n] = alone(build, path, compiler, text[:start] + new + text[end:], cpu_s)
    return [killers[n] for n in range(len(mutants))]


def reasons():
    """tests/mutants/mutants_host.txt: a key, then an indented line that says why it may live."""
    told, key = {}, None
    for line in open("tests/mutants/mutants_host.txt"):
        if line.startswith("#") or not line.strip(): continue
        if line[0] == " ": told[key] = line.strip()
        else: key = line.rstrip("\n")
    return told


def score(path, killed, counted):
    """Its line in the table of files tried whole: killed, of how many that are not equivalent, when, and git's name of its text."""
    name = subprocess.run(["git", "hash-object", path], capture_output=True, text=True).stdout[:10] or "-"
    rows = {r[0]: r for r in (line.split() for line in open(SCORES)) if r and r[0] != "#"}
    rows[path] = [path, str(killed), str(counted), time.strftime("%Y-%m-%d", time.gmtime()), name]
    with open(SCORES, "w") as f:
        f.write("# file, wrong programs killed, of how many that are not equivalent, when, git hash-object FILE (tests/mutants/mutants.py)\n")
        f.writelines(" ".join(rows[p]) + "\n" for p in TESTS if p in rows)


SCORES = "tests/mutants/mutants_scores.txt"
SHARED = ["tests/fake/faulty"] + sorted(f[:-2] for f in glob.glob("tests/unit/*/*.c") + glob.glob("tests/gpu/*.c")
                                        if not os.path.basename(f).startswith(("test_", "gpu_")))
BESIDE = {  # what else a test is linked with, as in tests/tests.mk
    "emu_golden": sorted(f[:-2] for f in glob.glob("tests/golden/*.c") if not f.endswith(("/generate.c", "/test_emu_golden.c"))),
    "session_report": ["runtime/session/launch_report"],
}

if __name__ == "__main__":
    build, share = sys.argv[1], sys.argv[2]
    first, last = (0, 1000) if share == "all" else map(int, ("0-" + share).split("-")[-2:])
    files = sys.argv[3:] or list(TESTS)
    told, jobs, total, stale = reasons(), [], 0, []
    for path in files:
        every = list(places_of(path))
        stale += sorted({key for key in told if key.startswith(path + ":")} - {m[0] for m in every})
        total += len(every)
        mine = [m for m in every if first <= int(hashlib.md5(m[0].encode()).hexdigest(), 16) % 1000 < last]
        if share != "all": mine = [m for m in mine if m[0] not in told]  # may live, and would run every test, twice
        if mine: jobs.append((build, path, mine))
    compile_lines(build)
    n = bad = killed = equivalent = tried = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("J") or os.cpu_count())) as pool:
        for (_, path, mutants), killers in zip(jobs, pool.map(killers_of, jobs)):
            mine = list(zip(mutants, killers))
            alive = [m for m, k in mine if not k]
            same = killers.count("same")
            strangers = [m for m in alive if m[0] not in told]
            tried += len(mine)
            killed += len(mine) - len(alive) - same
            no_other = same + sum(told.get(m[0], "").startswith("equivalent") for m in alive)
            equivalent += no_other
            if share == "all": score(path, len(mine) - len(alive) - same, len(mine) - no_other)
            n += 1
            bad += bool(strangers)
            print(f"{'not ok' if strangers else 'ok'} {n} - {path}: {len(mine) - len(alive) - same} of {len(mine)} killed, {same} are the same program, "
                  f"{len(alive) - len(strangers)} more have their reason", flush=True)
            for key, number, *_ in strangers: print(f"#   {number}: {key}", flush=True)
    n += 1
    bad += bool(stale)
    print(f"{'not ok' if stale else 'ok'} {n} - each reason is of a line that is there", *(f"#   {key}" for key in stale), sep="\n")
    print(f"1..{n}")
    print(f"# score: {killed} killed of {tried - equivalent} that are not equivalent, {100 * killed / max(1, tried - equivalent):.1f} %; {tried} of {total} mutants tried")
    sys.exit(bad > 0)
