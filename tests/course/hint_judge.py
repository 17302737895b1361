"""Hints on wrong kernels that are in no list: hint_judge.py NUMBER [LAB...]; $J at a time; $SECONDS_LEFT: begin none after so many

NUMBER hints on single-token mutants of the labs' solutions (tests/course/grade/one_token.py), as many of each lab. Mutants
that do not compile, or that nothing finds wrong, have no hint and do not count. Each hint is judged by rule:

    leads    it names the mutated line, or one at most NEAR lines from it, or a name that stands on it
    wrong    it names a cause of notebooks/course/N/mistakes whose edits lie farther from the line, and the file
             hint_judge.txt beside this one does not say why the cause is right all the same
    bare     it does not begin with what was seen

Prints TAP: at most MOST_WRONG of the hints name a wrong cause, at least MUST_LEAD lead to the line; and a table by lab.
SHOW=FILE: appends every hint and its verdict."""
import concurrent.futures
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/course/grade"), str(ROOT / "notebooks/course")]
import lab_folder  # noqa: E402
import mistakes  # noqa: E402
import one_token  # noqa: E402

NEAR = 3
MOST_WRONG, MUST_LEAD = 0.02, 0.6
AS_OFTEN = set("args const float half uint32_t for int min max threadIdx smem warp lane DIM BKV __syncwarp __syncthreads".split())
os.environ["OMP_NUM_THREADS"] = "1"


def told():
    """{beginning of a mutant's name: why the cause is right}"""
    lines = (ROOT / "tests/course/hint_judge.txt").read_text().splitlines()
    return [tuple(line.split(" | ", 1)) for line in lines if line and not line.startswith("#")]


def edited(lab):
    """{name of a mistake: {(file, line)} that its edits change}"""
    found = {}
    for one in mistakes.read(lab):
        with tempfile.TemporaryDirectory() as folder:
            mistakes.make(lab, one, pathlib.Path(folder))
            lines = set()
            for path in lab.files:
                was, made = ((base / path.name if base != ROOT else ROOT / path).read_text().splitlines() for base in (ROOT, pathlib.Path(folder)))
                for tag, first, last, _, _ in difflib.SequenceMatcher(None, was, made, autojunk=False).get_opcodes():
                    if tag != "equal":
                        lines |= {(path.name, n + 1) for n in range(first, max(last, first + 1))}
        found[one.name] = lines
    return found


def named(hint, lab):
    """{(file, line)} of a hint."""
    return {(file or lab.files[0].name, int(n)) for n, file in re.findall(r"line (\d+)(?: of (\w[\w.-]*\.\w+))?", hint)}


def leads(mutant, hint):
    near = any(file == mutant.file.name and abs(line - mutant.line) <= NEAR for file, line in named(hint, mutant.lab))
    was = (ROOT / mutant.file).read_text().splitlines()[mutant.line - 1].split("//")[0]
    names = {word for word in re.findall(r"\b[A-Za-z_]\w{3,}\b", was)} - AS_OFTEN
    return near or bool(names & set(re.findall(r"\b\w+\b", hint)))


def wrong(mutant, cause, where, excuses):
    if not cause or any(mutant.name.startswith(name) for name, _ in excuses):
        return False
    return not any(file == mutant.file.name and abs(line - mutant.line) <= NEAR for file, line in where[mutant.lab.number][cause])


def hint_of(mutant, until):
    """(hint, cause) of the check; None: it has none."""
    if time.time() > until:
        return None
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        source, out = pathlib.Path(folder) / f"hint-{os.path.basename(folder)}", pathlib.Path(folder) / "found.json"
        source.mkdir()
        for file in mutant.lab.files:
            (source / file.name).write_text(mutant.text if file == mutant.file else (ROOT / file).read_text())
        subprocess.run([sys.executable, "notebooks/course/check.py", str(mutant.lab.number), "--source", source, "--device", "emu", "--json", out],
                       cwd=ROOT, capture_output=True, text=True)
        found = json.loads(out.read_text()) if out.exists() else {}
    return (found["hint"], found["cause"]) if found.get("hint") else None


def judged(number, labs):
    """Yields (mutant, hint, cause) until there are so many."""
    jobs = int(os.environ.get("J") or os.cpu_count())
    until = time.time() + float(os.environ.get("SECONDS_LEFT") or 1e9)
    order, n = one_token.chosen(labs, 0), 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        under_way = {}
        while n < number and (order or under_way):
            while order and len(under_way) < jobs:
                mutant = order.pop(0)
                under_way[pool.submit(hint_of, mutant, until)] = mutant
            for done in concurrent.futures.wait(under_way, return_when=concurrent.futures.FIRST_COMPLETED).done:
                mutant, found = under_way.pop(done), done.result()
                if found and n < number:
                    n += 1
                    yield mutant, *found
            if time.time() > until:
                order = []


def main():
    words = [int(word) for word in sys.argv[1:]]
    labs = [lab_folder.read(n) for n in words[1:] or lab_folder.numbers()]
    where, excuses = {lab.number: edited(lab) for lab in labs}, told()
    table = {lab.number: {"hints": 0, "leads": 0, "causes": 0, "wrong": 0, "bare": 0} for lab in labs}
    for mutant, hint, cause in judged(words[0], labs):
        found = {"hints": True, "leads": leads(mutant, hint), "causes": bool(cause), "wrong": wrong(mutant, cause, where, excuses),
                 "bare": not re.match(r"(In \w|A deadlock|Right on|[A-Z][\w ]+ in \w|\w+ is \d|[\w-]+, [\w-]+: )", hint)}
        for key, yes in found.items():
            table[mutant.lab.number][key] += yes
        if found["wrong"] or found["bare"]:
            print(f"# {'wrong' if found['wrong'] else 'bare'}: {mutant.name}: {cause}: {hint}", flush=True)
        if os.environ.get("SHOW"):
            with open(os.environ["SHOW"], "a") as out:
                out.write(f"{mutant.name} [{', '.join(key for key, yes in found.items() if yes)}] {cause or '-'}: {hint}\n")
    total = {key: sum(one[key] for one in table.values()) for key in table[labs[0].number]}
    n = max(1, total["hints"])
    tests = [(total["hints"] > 0, f"{total['hints']} hints were judged"), (total["bare"] == 0, "each begins with what was seen"),
             (total["wrong"] <= max(MOST_WRONG * n, 0), f"{total['wrong']} name a wrong cause"),
             (total["leads"] >= MUST_LEAD * n, f"{total['leads']} lead to the line")]
    for k, (good, what) in enumerate(tests, 1):
        print(f"{'ok' if good else 'not ok'} {k} - {what}")
    print(f"1..{len(tests)}")
    print("#| lab  " + "".join(f"{key:>8}" for key in total))
    for name, row in [*table.items(), ("all", total)]:
        print(f"#| {name:<5}" + "".join(f"{value:>8}" for value in row.values()))
    sys.exit(not all(good for good, _ in tests))


if __name__ == "__main__":
    main()
