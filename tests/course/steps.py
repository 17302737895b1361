"""The steps' own solutions and mistakes, as a table: steps.py; the same lines as labs.py's

For each step: what students get compiles, has an open hole and no line of the solution, and the check says so; the solution passes,
its explanation opens, and stays shut for another key; the question's answer has a hash; each of three or more rules that make the
solution wrong is refused with what was seen and the hint that belongs to it. Last: how many of each, and seconds of a check."""
import collections
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

sys.path[:0] = ["notebooks/course/steps", "notebooks/course/grade"]
import handout
import lab_folder
import step
import strip

SECONDS, CPU, FAILED, COUNTS = collections.defaultdict(list), [], [], collections.Counter()


def tell(passed, name, what, said, kind=None):
    """kind: what is counted of its like."""
    print("ok" if passed else "not ok", name, what, " ".join(said.split())[:150], sep="\t", flush=True)
    FAILED.extend([name] * (not passed))
    if kind:
        COUNTS[kind, "tried"] += 1
        COUNTS[kind, "as wanted"] += passed


def run(name, text, folder):
    source = folder / f"{name}{step.hole_of(name).suffix}"
    source.write_text(text)
    used, began = cpu_s(), time.monotonic()
    status, said = step.run(name, source)
    SECONDS[name].append(time.monotonic() - began)
    CPU.append(cpu_s() - used)
    return status, said


def cpu_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def mistakes(name):
    for line in (step.HERE / name / "mistakes").read_text().splitlines():
        script, begin, *hint = line.split(" | ")
        yield script, begin, " | ".join(hint)


def solution_lines(text):
    lines = text.splitlines()
    found = [lines[n].strip() for first, last, _, _ in strip.solutions(text) for n in range(first, last - 1)]
    return [line for line in found if len(line) > 20 and not re.fullmatch(r"for \(.*\)( \{)?", line)]


def one(name, folder, given):
    path = step.HERE / name
    text = step.hole_of(name).read_text()
    skeleton = strip.strip(text)
    status, said = run(name, skeleton, folder)
    tell(status == 1 and said.startswith("not yet: nothing stands between the marks"), name, "skeleton", said, "skeletons refused")
    longest = max(last - first - 1 for first, last, _, _ in strip.solutions(text))
    tell(longest <= 15, name, "hole", f"{longest} lines")
    status, said = run(name, text, folder)
    explained = (path / "explained.md").read_text()
    before, _, reason = explained.partition("\n\nThe question: ")
    tell(status == 0 and before in said and "The question of the text is open" in said, name, "solution", said, "solutions passed")
    tell(len(reason.split()) > 5 and "\n\n" not in reason and reason.split("\n")[0] not in said, name, "reason", "comes last, and is not shown before the answer")
    wide = [line for file in ("text.md", "explained.md") for line in (path / file).read_text().splitlines() if len(line) > step.COLUMNS]
    tell(not wide, name, "width", wide[0] if wide else "at most 100 columns")
    handed = {p.name: step.handed_out(f"notebooks/course/steps/{name}/{p.name}", p.read_bytes()) for p in path.iterdir() if p.is_file()}
    told = [f"{path}: {line}" for line in solution_lines(text) for path, data in given.items() if line in data]
    tell(not told and handed["mistakes"] is None, name, "handout", f"tells: {told}" if told else "no line of the solution")
    hole, check = step.load_hole(step.hole_of(name)), step.load(path / "check.py", "check")
    key, sealed = step.key_of(check, hole, name), handed["explained.md"][1].decode()
    try:
        shut = step.unseal(key[::-1], sealed) != explained
    except UnicodeDecodeError:
        shut = True
    tell(step.unseal(key, sealed) == explained and shut, name, "sealed", "opens with its key alone")
    status, said = run(name, text.replace("ANSWER = None", "ANSWER = 'nonsense'"), folder)
    tell(status == 1 and "nonsense is not the answer" in said, name, "wrong answer", said.splitlines()[-1])
    words = len(re.findall(r"\w+", (path / "text.md").read_text()))
    tell("**Question.**" in (path / "text.md").read_text() and "\n    " in (path / "text.md").read_text(), name, "text", f"{words} words")
    rules = list(mistakes(name))
    tell(len(rules) >= 3 and all(hint for _, _, hint in rules), name, "mistakes", f"{len(rules)} rules, each with words of its hint")
    for script, begin, hint in rules if os.environ.get("THOROUGH") == "all" else rules[:1]:
        wrong = subprocess.run(["sed", "-E", script], input=text, capture_output=True, text=True, check=True).stdout
        status, said = run(name, wrong, folder)
        tell(wrong != text and status == 1 and said.startswith(f"not yet: {begin}") and hint in said.partition("\nhint: ")[2], name, script, said, "mistakes with their hint")


def packed():
    """What `make handout LAB=6` packs of the steps, {path: text}: no line of a solution may stand in any of them."""
    files = {path: data for path, data in handout.contents(lab_folder.read(6)).items() if path.startswith("notebooks/course/steps/")}
    for name in step.names():
        here = f"notebooks/course/steps/{name}/"
        own = sorted(path.removeprefix(here) for path in files if path.startswith(here))
        hole = step.hole_of(name).name
        tell(own == ["answer", "check.py", "explained.sealed", hole, "text.md"], name, "packed", " ".join(own))
        tell(b"YOUR CODE HERE" in files[here + hole] and b"SOLUTION" not in files[here + hole], name, "packed hole", "stripped")
    missing = {"step.py", "cuda.py", "play.py", "fragments.cuh", "parity.cuh"} - {path.removeprefix("notebooks/course/steps/") for path in files}
    tell(not missing, "all", "packed programs", " ".join(missing) or "all there")
    return {path: data.decode() for path, data in files.items()}


def main():
    given = packed()
    with tempfile.TemporaryDirectory() as folder:
        for name in step.names():
            one(name, pathlib.Path(folder), given)
        endless = "def stage(n, stages):\n    while True:\n        pass\n\n\nfull_parity = empty_parity = stage\n"
        status, said = run("6c", endless, pathlib.Path(folder))
        tell(status == 1 and "did not end" in said, "6c", "a loop without an end", said)
        status, said = run("6c", "def stage(n, stages):\n    return 1 / 0\n\n\nfull_parity = empty_parity = stage\n", pathlib.Path(folder))
        tell(status == 1 and ":2: ZeroDivisionError" in said, "6c", "an exception", said)
        text = step.hole_of("2a").read_text()
        status, said = run("2a", text.replace("fill_fragment(c_frag", "fill_fragment(c_flag"), pathlib.Path(folder))
        tell(status == 1 and said.startswith("not yet: it does not compile: ") and 'identifier "c_flag"' in said, "2a", "a compile error", said)
        status, said = run("2a", text.replace("// ANSWER = None", "// ANSWER = 32"), pathlib.Path(folder))
        tell(status == 0 and "The answer to the question is right. 16 x 64 are" in said, "2a", "an answer in CUDA C, and its reason", said)
        status, said = run("2a", text.replace("// ANSWER = None", "ANSWER = 32"), pathlib.Path(folder))
        tell(status == 1 and "put // before ANSWER again" in said, "2a", "an answer without its comment", said)
        two = step.hole_of("6c").read_text()
        open_first = two.replace("    return n // stages % 2\n", "    return None\n", 1)
        tell(not step.is_open(open_first, "#") and step.is_open(strip.strip(two), "#"), "6c", "open", "when all holes are")
    print(f"#| {len(step.names())} steps; " + "; ".join(f"{COUNTS[kind, 'as wanted']} of {COUNTS[kind, 'tried']} {kind}" for kind, of in COUNTS if of == "tried"))
    medians = {name: statistics.median(some) for name, some in SECONDS.items()}
    middle, slowest = statistics.median(medians.values()), max(medians, key=medians.get)
    print(f"#| a check: of the steps' medians the middle one {middle:.2f} s, the largest {medians[slowest]:.2f} s (step {slowest}); "
          f"longest of {len(CPU)} checks {max(max(some) for some in SECONDS.values()):.2f} s; CPU {statistics.median(CPU):.2f} s, at most {max(CPU):.2f} s")
    tell(middle < 5, "all", "a check takes less than 5 s", f"{middle:.2f} s")
    tell(len(step.names()) >= 30, "all", "thirty steps", f"{len(step.names())}")
    return bool(FAILED)


if __name__ == "__main__":
    sys.exit(main())
