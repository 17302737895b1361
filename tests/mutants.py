#!/usr/bin/env python3
"""mutants.py BUILD SHARE [FILE...]: wrong host programs, made by rule, that the tests must notice.

Every place of the files below where one of RULES fits is a mutant: a comparison off by one, an and
for an or, a sum for a difference, a constant one larger, a maximum for a minimum, a negation or a
statement left out. The file is compiled with that one change and linked into the tests named beside
it, ahead of the library. A mutant is killed if it does not compile (warnings are errors), if a test
fails, or if one does not end.

SHARE: all, or how many in a thousand; which ones is drawn from the text of the mutant, so that the
same are tried until their line changes. Prints TAP: a line for each file, and the score. A survivor
fails unless tests/mutants_host.txt gives its reason; one that begins with "equivalent" says that no
test can tell it from the right program, and takes it out of the score."""
import concurrent.futures, hashlib, os, re, shutil, subprocess, sys, tempfile

TESTS = {  # file: its tests; sh:NAME is a shell test, run on a program built from it
    "common/harness/check.c": "check extremes",
    "common/harness/reference.c": "check extremes",
    "common/harness/record.c": "record sh:record",
    "common/harness/timing.c": "timing",
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
    "plots/tabulate.c": "sh:plots",
    "plots/columns.c": "sh:plots",
    "emulator/core/pattern.c": "emu_checks emu_golden",
    "emulator/checks/race.c": "emu_checks emu_async emu_cluster",
    "emulator/checks/clock.c": "emu_checks emu_async emu_cluster emu_overlap",
    "emulator/checks/taint.c": "emu_checks",
    "emulator/checks/overlap.c": "emu_overlap",
    "common/device/emu_counters.c": "emu_checks counters",
}
LIMIT_S = 30  # a test that takes longer hangs

RULES = [  # name, pattern, replacement
    ("<", r"(?<![<>=\-\w]) < (?![<=])", " <= "), ("<=", r" <= ", " < "),
    (">", r"(?<![<>=\-]) > (?![>=])", " >= "), (">=", r" >= ", " > "),
    ("==", r" == ", " != "), ("!=", r" != ", " == "),
    ("&&", r" && ", " || "), ("||", r" \|\| ", " && "),
    ("+", r" \+ ", " - "), ("-", r"(?<=[\w)\]]) - ", " + "), ("*", r"(?<=[\w)\]]) \* (?=[\w(])", " / "), ("/", r" / ", " * "),
    ("+=", r" \+= ", " -= "), ("++", r"\+\+(?=;|\))", ""),
    ("max", r"\bfmax\(", "fmin("), ("min", r"\bfmin\(", "fmax("),
    ("!", r"(?<=[( ])!(?=[\w*(])", ""), ("unary -", r"(?<=[(=,?:] )-(?=[\w(])|(?<=return )-(?=[\w(])", ""),
    ("0", r"(?<![\w.])0(?![\w.])", "1"), ("1", r"(?<![\w.])1(?![\w.])", "2"),
    ("n", r"(?<![\w.])(?!0\b|1\b)\d+(?![\w.])", lambda m: str(int(m.group(), 8 if m.group()[0] == "0" else 10) + 1)),
    ("real", r"(?<![\w.])(?:\d+\.\d*(?:e-?\d+)?|\d+e-?\d+|0x1p-?\d+)(?!\w)", lambda m: "2 * " + m.group()),
    ("statement", r"^ +(?!return|break|continue|goto|case|default|static|const|struct|double|int|char|bool|size_t|uint|u?int\d|float|json_t|FILE|va_|\}|else)[\w*(][^;{}]*;$", ";"),
    ("if", r"\bif \((?=.*\) (?:return|goto|continue|break)\b)", "if (0 && "),
]


def code_of(text):
    """The text with comments, strings and directives blanked: the same length, the same lines."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', blank, text, flags=re.S | re.M)


def mutants_of(path):
    """(key, line number, mutated text): the key is the rule, the line's text and which place of it."""
    text = open(path).read()
    code, seen = code_of(text), {}
    for rule, pattern, replacement in RULES:
        for m in re.finditer(pattern, code, flags=re.M):
            new = replacement(m) if callable(replacement) else replacement
            start = text.rfind("\n", 0, m.start()) + 1 if rule != "statement" else m.start()
            end = text.find("\n", m.end() - 1)
            line = " ".join(text[start:end].split())
            key = f"{path}: {rule}: {line}"
            seen[key] = seen.get(key, 0) + 1
            if seen[key] > 1: key += f" #{seen[key]}"
            yield key, text.count("\n", 0, m.start()) + 1, text[:m.start()] + new + text[m.end():]


def compile_line(build, path):
    said = subprocess.run(["make", "-n", "-B", "V=1", f"BUILD={build}", f"{build}/{path[:-2]}.o"], capture_output=True, text=True).stdout
    return [l for l in said.splitlines() if f" -c -o {build}/{path[:-2]}.o" in l][-1].split()


def run(command, folder, log, **more):
    try:
        return subprocess.run(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, timeout=LIMIT_S,
                              env=dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", OMP_NUM_THREADS="1", TMPDIR=folder, **more)).returncode
    except subprocess.TimeoutExpired:
        return 124


def attempt(job):
    """What kills the mutant: "compiler", a test, or None."""
    build, path, compiler, (key, number, text) = job
    folder = tempfile.mkdtemp(prefix="mutant")
    try:
        with open(f"{folder}/log", "w") as log:
            return kill(build, path, compiler, text, folder, log)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def kill(build, path, compiler, text, folder, log):
    source, object = f"{folder}/{os.path.basename(path)}", f"{folder}/mutant.o"
    with open(source, "w") as f: f.write(text)
    line = [w.strip("'\"") if w.startswith("-D") and "STAGE" not in w else w for w in compiler]
    line = [w.replace("\\\"", '"').replace("'", "") if w.startswith("-D") else w for w in line]
    line[line.index("-o") + 1] = object
    line[-1] = source
    line = [w for w in line if w not in ("-MMD", "-MP", "-O2", "-O3")] + ["-O1", f"-iquote{os.path.dirname(path)}"]
    if run(line, folder, log): return "compiler"
    libraries = "-l:libjansson.a -l:libgomp.a -ldl -lm -lpthread".split()
    here = os.path.abspath(build)
    for test in TESTS[path].split():
        if test.startswith("sh:"):
            program = os.path.basename(path)[:-2]
            if program in ("tabulate", "columns"):
                objects = [object]
            else:
                program, objects = "stage-1", [object, f"{build}/stages/1-scalar/stage.o"]
            os.makedirs(f"{folder}/build", exist_ok=True)
            for other in os.listdir(here):
                if other not in (program, "tests"): os.symlink(f"{here}/{other}", f"{folder}/build/{other}")
            os.makedirs(f"{folder}/build/tests", exist_ok=True)
            for other in ("fake", "fault.so"):
                if os.path.exists(f"{here}/tests/{other}"): os.symlink(f"{here}/tests/{other}", f"{folder}/build/tests/{other}")
            if run(["gcc", "-Wl,--wrap=gomp_fatal,-u,__wrap_gomp_fatal", "-o", f"{folder}/build/{program}", *objects, f"{build}/libattnlab.a", *libraries], folder, log): return "linker"
            if run(["bash", f"tests/test_{test[3:]}.sh"], folder, log, BUILD=f"{folder}/build"): return test
        else:
            shared = [f"{build}/tests/{o}.o" for o in SHARED]
            if run(["gcc", "-Wl,--wrap=gomp_fatal,-u,__wrap_gomp_fatal", "-o", f"{folder}/test_{test}", f"{build}/tests/test_{test}.o", object, *shared,
                    f"{build}/libattnlab.a", f"{build}/libcmocka.so.0", f"-Wl,-rpath,{here}", *libraries], folder, log): return "linker"
            if run([f"{folder}/test_{test}"], folder, log, ): return test
    return None


def reasons():
    """tests/mutants_host.txt: a key, then an indented line that says why it may live."""
    told, key = {}, None
    for line in open("tests/mutants_host.txt"):
        if line.startswith("#") or not line.strip(): continue
        if line[0] == " ": told[key] = line.strip()
        else: key = line.rstrip("\n")
    return told


SHARED = sorted(os.path.basename(f)[:-2] for f in os.listdir("tests")
                if f.endswith(".c") and not f.startswith(("test_", "gpu_", "fuzz_")) and f != "fault.c")

if __name__ == "__main__":
    build, share = sys.argv[1], sys.argv[2]
    files = sys.argv[3:] or list(TESTS)
    told, jobs, total = reasons(), [], 0
    for path in files:
        compiler = compile_line(build, path)
        for mutant in mutants_of(path):
            total += 1
            if share == "all" or int(hashlib.md5(mutant[0].encode()).hexdigest(), 16) % 1000 < int(share):
                jobs.append((build, path, compiler, mutant))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool: killers = list(pool.map(attempt, jobs))
    n = bad = killed = equivalent = 0
    for path in files:
        mine = [(j[3], k) for j, k in zip(jobs, killers) if j[1] == path]
        alive = [m for m, k in mine if not k]
        strangers = [m for m in alive if m[0] not in told]
        killed += len(mine) - len(alive)
        equivalent += sum(told.get(m[0], "").startswith("equivalent") for m in alive)
        if not mine: continue
        n += 1
        bad += bool(strangers)
        print(f"{'not ok' if strangers else 'ok'} {n} - {path}: {len(mine) - len(alive)} of {len(mine)} killed, {len(alive) - len(strangers)} more have their reason")
        for key, number, _ in strangers: print(f"#   {number}: {key}")
    print(f"1..{n}")
    print(f"# score: {killed} killed of {len(jobs) - equivalent} that are not equivalent, {100 * killed / max(1, len(jobs) - equivalent):.1f} %; {len(jobs)} of {total} mutants tried")
    sys.exit(bad > 0)
