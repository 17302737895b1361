"""Hints on wrong kernels that are in no list: hint_judge.tsv beside this file is their table, and this is its judge.

    hint_judge.py NUMBER [LAB...]         so many mutants of the table anew: is it what it says?
    hint_judge.py more NUMBER [LAB...]    so many more hints into the table; $FIRST: past so many mutants
    hint_judge.py again [LAB...]          all of the table anew, into the table; $CAUSE: those whose cause has this regular expression
    $J at a time; $SECONDS_LEFT: begin none after so many

The mutants are single-token mutants of the labs' solutions (tests/course/grade/one_token.py), as many of each lab, in the
order that its seed draws. Mutants that do not compile, that have our PTX, or that nothing finds wrong, have no hint and do
not count. Each hint is what the check says to a student. It is judged by rule:

    leads    near: it names the mutated line, or one at most NEAR lines from it; name: it has a name that stands on it
    cause    wrong: it names a cause of notebooks/course/N/mistakes whose edits lie farther from the line, and the file
             hint_judge.txt beside this one does not say why the cause is right all the same
    begins   bare: it does not begin with what was seen

Prints TAP: of the whole table at most MOST_WRONG name a wrong cause and at least MUST_LEAD lead to the line; and the
mutants that were judged anew have the cause that the table says, and lead where it says so."""
import concurrent.futures
import contextlib
import csv
import dataclasses
import difflib
import io
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/course/grade"), str(ROOT / "notebooks/course")]
import build  # noqa: E402
import check  # noqa: E402
import lab_folder  # noqa: E402
import mistakes  # noqa: E402
import one_token  # noqa: E402

TABLE = ROOT / "tests/course/hint_judge.tsv"
COLUMNS = ["mutant", "code", "leads", "cause", "verdict", "hint"]
NEAR = 3
LEAST, MOST_WRONG, MUST_LEAD = 300, 0.02, 0.6
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


def code(mutant):
    """The mutated line."""
    return mutant.text.splitlines()[mutant.line - 1].strip()


def leads(mutant, hint):
    if any(file == mutant.file.name and abs(line - mutant.line) <= NEAR for file, line in named(hint, mutant.lab)):
        return "near"
    was = (ROOT / mutant.file).read_text().splitlines()[mutant.line - 1].split("//")[0]
    names = {word for word in re.findall(r"\b[A-Za-z_]\w{3,}\b", was)} - AS_OFTEN
    return "name" if names & set(re.findall(r"\b\w+\b", hint)) else "-"


def is_right(mutant, cause, where, excuses):
    return any(mutant.name.startswith(name) for name, _ in excuses) or any(
        file == mutant.file.name and abs(line - mutant.line) <= NEAR for file, line in where[cause])


def hint_of(mutant, until):
    """(hint, cause) of the check; None: it has none."""
    if time.time() > until:
        return None
    out = build.BUILD / "labs" / f"hints-{os.getpid()}"
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as source, contextlib.redirect_stdout(io.StringIO()):
        for file in mutant.lab.files:
            (pathlib.Path(source) / file.name).write_text(mutant.text if file == mutant.file else (ROOT / file).read_text())
        kernel = build.Kernel(mutant.lab, source, out)
        one = check.Check(mutant.lab, kernel, "emu")
        try:
            if not (compiles(kernel) and one.compiles() and is_another(kernel)) or one.answers() and one.counted():
                return None
            return one.hint()[1], one.cause
        finally:
            shutil.rmtree(out, ignore_errors=True)


def compiles(kernel):
    """Does the first of several images? If not, the others need not be tried."""
    first = build.Kernel(dataclasses.replace(kernel.folder, images=kernel.folder.images[:1]), kernel.source, kernel.out)
    try:
        if len(kernel.folder.images) > 1:
            first.compile()
    except build.Refused:
        return False
    return True


def is_another(kernel):
    """Has an image another PTX than ours?"""
    made = (kernel.out / "images" / kernel.stage).glob("*.ptx")
    return any(one_token.bare(path.read_text()) != one_token.bare((build.BUILD / "images" / kernel.stage / path.name).read_text()) for path in made)


def judged(mutants, number):
    """Yields (mutant, hint, cause) until there are so many."""
    jobs = int(os.environ.get("J") or os.cpu_count())
    until = time.time() + float(os.environ.get("SECONDS_LEFT") or 1e9)
    order, n, begun = list(mutants), 0, 0
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        under_way = {}
        while n < number and (order or under_way):
            while order and len(under_way) < jobs:
                mutant = order.pop(0)
                begun += 1
                under_way[pool.submit(hint_of, mutant, until)] = mutant
            for done in concurrent.futures.wait(under_way, return_when=concurrent.futures.FIRST_COMPLETED).done:
                mutant, found = under_way.pop(done), done.result()
                if found and n < number:
                    n += 1
                    yield mutant, *found
            if time.time() > until:
                order = []
    print(f"# {begun} mutants were begun, {n} have a hint", flush=True)


def read():
    """Rows of the table, {column: text}."""
    if not TABLE.exists():
        return []
    with TABLE.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def write(rows):
    with TABLE.open("w", newline="") as file:
        print("\t".join(COLUMNS), *("\t".join(row[column] for column in COLUMNS) for row in rows), sep="\n", file=file)


def row_of(mutant, hint, cause, where, excuses):
    bare = not re.match(r"(In \w|A deadlock|Right on|[A-Z][\w ]+ in \w|\w+ is \d|[\w-]+, [\w-]+: )", hint)
    verdict = "bare" if bare else "-" if not cause else "right" if is_right(mutant, cause, where[mutant.lab.number], excuses) else "wrong"
    return {"mutant": mutant.name, "code": code(mutant), "leads": leads(mutant, hint), "cause": cause or "-", "verdict": verdict,
            "hint": re.sub(r"0x[0-9a-f]{9,}", "0x...", re.sub(r"\s+", " ", hint))}  # global addresses differ from run to run


def key(row):
    """Of a row: lab, change and mutated line, which stay if lines above it change."""
    return row["mutant"].split(",")[0], row["mutant"].split(": ", 1)[1], row["code"]


def named_by(mutant):
    return mutant.name, code(mutant)


def places(rows, mutants):
    """{(name, mutated line) of a mutant: its row}: that of its name, or else one of its key whose own line is no longer there."""
    own = {(row["mutant"], row["code"]): n for n, row in enumerate(rows)}
    there = {(mutant.name, code(mutant)) for mutant in mutants}
    moved = {key(rows[n]): n for name, n in own.items() if name not in there}
    return {name: own.get(name, moved.get(key({"mutant": name[0], "code": name[1]}))) for name in there
            if name in own or key({"mutant": name[0], "code": name[1]}) in moved}


def summed(rows, labs):
    """Prints the table by lab; {what: how many}."""
    columns = {"hints": lambda row: True, "near": lambda row: row["leads"] == "near", "by name": lambda row: row["leads"] == "name",
               "causes": lambda row: row["cause"] != "-", "wrong": lambda row: row["verdict"] == "wrong", "bare": lambda row: row["verdict"] == "bare"}
    print("#| lab  " + "".join(f"{column:>9}" for column in columns))
    for name in [*labs, "all"]:
        some = [row for row in rows if name == "all" or key(row)[0] == f"lab {name}"]
        total = {column: sum(map(holds, some)) for column, holds in columns.items()}
        print(f"#| {name:<5}" + "".join(f"{value:>9}" for value in total.values()))
    return total


def main():
    words = sys.argv[1:]
    how = words.pop(0) if words[0] in ("more", "again") else "anew"
    number = int(words.pop(0)) if how != "again" else 0
    labs = [lab_folder.read(int(n)) for n in words or lab_folder.numbers()]
    where, excuses = {lab.number: edited(lab) for lab in labs}, told()
    rows = read()
    every = one_token.chosen(labs, 0)
    known = places(rows, every)
    order = list({named_by(mutant): mutant for mutant in every if how == "more" or named_by(mutant) in known}.values())
    if how == "again":
        order = [mutant for mutant in order if re.search(os.environ.get("CAUSE") or "", rows[known[named_by(mutant)]]["cause"])]
    if how == "more":
        order = [mutant for mutant in order[int(os.environ.get("FIRST") or 0):] if named_by(mutant) not in known]
    if how == "anew" and number < len(order):  # as many of each lab, and of all of the table in the end
        order = order[::len(order) // number]
    n = failed = 0

    def result(good, what):
        nonlocal n, failed
        n, failed = n + 1, failed + (not good)
        print(f"{'ok' if good else 'not ok'} {n} - {what}", flush=True)
    seen, apart = set(), []
    for mutant, hint, cause in judged(order, number or len(order)):
        row, at = row_of(mutant, hint, cause, where, excuses), known.get(named_by(mutant))
        seen.add(named_by(mutant))
        if how == "anew":
            fewer = row["leads"] == "-" and rows[at]["leads"] != "-"
            if fewer or any(row[column] != rows[at][column] for column in ("cause", "verdict")):
                apart.append(f"{mutant.name}: {row['leads']}, {row['cause']}, {row['verdict']}: {hint}")
            continue
        if at is None:
            rows.append(row)
        else:
            rows[at] = row
        write(rows)
    if how == "anew":
        result(len(seen) > 0 and not apart, f"{len(seen)} hints are what the table says, {len(apart)} others")
        print("".join(f"# {what}\n" for what in apart), end="")
    total = summed(rows, lab_folder.numbers())
    result(total["hints"] >= LEAST, f"{total['hints']} hints are in the table")
    result(not total["bare"], "each begins with what was seen")
    result(total["wrong"] <= MOST_WRONG * total["hints"], f"{total['wrong']} name a wrong cause")
    leading = total["near"] + total["by name"]
    result(leading >= MUST_LEAD * total["hints"], f"{leading} lead to the line")
    print(f"1..{n}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
