"""The judge of the labs, as tables that are counted from committed rows: TAP. test_judge.sh has the sections without rows.

    section   rows                                                made by
    1         grade/one_token.tsv                                 TABLE=FILE grade/one_token.py 0
              records/runs/*-one-token.txt                        tests/gpu/gpu_one_token.sh
    2         grade/other_hands.tsv                               ROWS=FILE grade/other_hands.py, and its `table`
    5         hint_judge.tsv                                      hint_judge.py again"""
import csv
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/course"
sys.path[:0] = [str(HERE), str(HERE / "grade")]
import other_hands  # noqa: E402

LEAST_ON_GPU, LEAST_VARIANTS = 300, 200
n = failed = 0


def check(good, what):
    global n, failed
    n, failed = n + 1, failed + (not good)
    print(f"{'ok' if good else 'not ok'} {n} - {what}")


def rows(path):
    """Of a table below a head of comments."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def counted(of, keys, what):
    """Prints how many of each WHAT each key has; all of them."""
    columns = sorted({row[what] for row in of})
    print(f"#| {keys:24}" + "".join(f"{column:>10}" for column in columns) + "       all")
    for key in [*dict.fromkeys(row[keys] for row in of), "all"]:
        some = [row[what] for row in of if key in (row[keys], "all")]
        print(f"#| {key:24}" + "".join(f"{some.count(column):>10}" for column in columns) + f"{len(some):>10}")


def bare(mutant):
    """Its name without the line, which moves when lines above it change."""
    return re.sub(r":\d+:", ":", mutant)


def wrong_kernels():
    print("# 1. Wrong kernels: single-token mutants, by the grader and the reference")
    mutants = [row | {"lab": row["mutant"].split(",")[0]} for row in rows(HERE / "grade/one_token.tsv")]
    counted(mutants, "lab", "verdict")
    check(mutants and not [row for row in mutants if row["verdict"] == "PASSES"], f"{len(mutants)} mutants: no wrong one passes")
    for path in sorted((ROOT / "records/runs").glob("*-one-token.txt")):
        text = path.read_text()
        print(f"# judged on a GPU, too: {path.name}")
        lines = re.findall(r"^#\| .*$", text, re.M)
        print(*lines, sep="\n")
        at = {name: [int(line.split()[k]) for line in lines[1:]] for name, k in (("tried", 3), ("same", 4), ("refused", 5), ("equal", 6), ("PASSES", 7))}
        there = sum(at["refused"]) + sum(at["equal"]) + sum(at["PASSES"])
        check(there >= LEAST_ON_GPU, f"{path.name}: {there} kernels of their own")
        passed = [bare(name) for name in re.findall(r"^# PASSES: (.*? -> \S+): ", text, re.M)]
        refused = [bare(row["mutant"]) for row in mutants if row["verdict"] == "refused"]
        check(set(passed) <= set(refused), f"{path.name}: what passed there is refused: {', '.join(passed) or 'none did'}")


def right_kernels():
    print("# 2. Right kernels: variants by rule on secret seeds")
    variants, _ = other_hands.read()
    other_hands.summed(variants)
    check(len(variants) >= LEAST_VARIANTS, f"{len(variants)} variants, each on {min(int(row['seeds']) for row in variants)} seeds at least")
    check(all(row["full"] == row["seeds"] for row in variants), "each has all points but time on each seed")


def hints():
    print("# 5. Hints on mutants that are in no list")
    import hint_judge  # numpy, of .venv
    total = hint_judge.summed(hint_judge.read(), hint_judge.lab_folder.numbers())
    check(total["hints"] >= hint_judge.LEAST and not total["bare"], f"{total['hints']} hints begin with what was seen")
    check(total["wrong"] <= hint_judge.MOST_WRONG * total["hints"], f"{total['wrong']} name a wrong cause")
    check(total["near"] + total["by name"] >= hint_judge.MUST_LEAD * total["hints"], f"{total['near'] + total['by name']} lead to the line")


if __name__ == "__main__":
    wrong_kernels()
    right_kernels()
    hints()
    print(f"1..{n}")
    sys.exit(failed > 0)
