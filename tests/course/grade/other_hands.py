"""Right kernels by another hand (variants.by_another_hand) have all points but for time.

    other_hands.py VARIANTS SEEDS [LAB...]     so many, by turns of each lab, each on so many seeds
    other_hands.py VARIANTS some [LAB...]      each on SOME cases of one seed: of the next seed, and of other cases, for
                                               every BLOCK variants of a lab; of lab 5 with one image
    $J at a time; $SECONDS_LEFT: begin none after so many; $FIRST, $FIRST_SEED: the number of the first one
    $CASES: so many cases of each seed, other ones for the next seed (all)
    $ROWS: a file to which a row is added for each grade: lab, variant, seed, hash of its text, what it lost, what was done
    other_hands.py table FILE...               the rows of such files, summed up by variant, as other_hands.tsv has them

Prints TAP, and a table. Variants of the same text count once. Each is compiled once."""
import concurrent.futures
import csv
import dataclasses
import hashlib
import itertools
import os
import pathlib
import shutil
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "notebooks/course/grade"), str(ROOT / "notebooks/course")]
import compile  # noqa: E402
import grade  # noqa: E402
import lab_folder  # noqa: E402
import sandbox  # noqa: E402
import variants  # noqa: E402

SOME, BLOCK = (0, 2, 5, 7), 6   # the cases of the first block; those of the next one follow them
UNTIL = time.time() + float(os.environ.get("SECONDS_LEFT") or 1e9)
J = int(os.environ.get("J") or os.cpu_count())
TABLE = ROOT / "tests/course/grade/other_hands.tsv"
COLUMNS = ["lab", "variant", "text", "seeds", "full", "whole", "ways"]
CASES = int(os.environ.get("CASES") or 0)


@dataclasses.dataclass
class Variant:
    lab: int
    number: int
    how: str
    files: dict         # {name: text}
    home: pathlib.Path  # its files in source/, its images in made/

    @property
    def text(self):
        """A hash of it."""
        return hashlib.sha256("\0".join(f"{name}\0{text}" for name, text in sorted(self.files.items())).encode()).hexdigest()[:10]

    @property
    def folder(self):
        return lab_folder.read(self.lab)

    def images(self, secret):
        """The lab with the images that are graded."""
        if secret is not None:
            return self.folder
        block = self.number // BLOCK
        return dataclasses.replace(self.folder, images=[self.folder.images[block % len(self.folder.images)]])


def chosen(number, labs, first, home):
    """So many different ones, by turns of each lab."""
    known, some = set(), []
    for n, lab in ((n, lab) for n in itertools.count(first) for lab in labs):
        if len(some) == number:
            return some
        how, files = variants.by_another_hand(lab, n)
        if (lab.number, *files.values()) not in known:
            some.append(Variant(lab.number, n, how, files, pathlib.Path(home) / f"{lab.number}-{n}"))
        known.add((lab.number, *files.values()))


def compiled(variant, secret):
    """Why it has no images, or ''."""
    source, made = variant.home / "source", variant.home / "made"
    source.mkdir(parents=True), made.mkdir()
    for name, text in variant.files.items():
        (source / name).write_text(text)
    try:
        if time.time() < UNTIL:
            lab = variant.images(secret)
            compile.images(lab, compile.take(source, lab), made)
    except (compile.Rejected, sandbox.Refused) as why:
        shutil.rmtree(made)
        return str(why)
    return ""


def cases_of(secret):
    """Those that are graded of a seed; None: all."""
    return sorted((int(secret.split()[1]) + 10 * n // CASES) % 10 for n in range(CASES)) if CASES else None


def ours(lab, secret):
    """Our own reports, once for all variants."""
    with tempfile.TemporaryDirectory() as folder:
        seed, only = grade.seed_of(secret, lab), cases_of(secret)
        cases = grade.draw(lab_folder.read(lab), seed, pathlib.Path(folder), only)
        name = hashlib.sha256(f"{seed}".encode()).hexdigest()[:8]
        grade.ours_for(lab_folder.read(lab), cases, name if only is None else f"{name}-{'-'.join(map(str, only))}", 1)


def graded(variant, secret):
    """What it has lost, and the table; None: there was no time left. secret None: some cases of a seed that the number chooses."""
    lab, only, left = variant.images(secret), secret and cases_of(secret), time.time() < UNTIL
    if secret is None:
        block = variant.number // BLOCK
        secret, only = f"seed {block}", sorted((n + block) % 10 for n in SOME)
    if not left or not (variant.home / "made").exists():
        return None
    try:
        result = grade.grade(lab, variant.home / "source", secret, "emu", jobs=1, timed=False, only=only, made=variant.home / "made")
    except sandbox.Refused as why:
        return "refused", str(why)
    return ("all" if result.void else " ".join(sorted({one.part for one in result.lost} - {"time"}))), result.table()


def tried(some, secrets):
    """TAP; rows of grades."""
    rows, n = [], 0

    def result(variant, secret, lost, said):
        nonlocal n
        n += 1
        rows.append((variant.lab, variant.number, f"{secret}, {CASES} cases" if secret and CASES else secret or "some cases", variant.text, lost, variant.how))
        if os.environ.get("ROWS"):
            with open(os.environ["ROWS"], "a") as file:
                print(*rows[-1], sep="\t", file=file)
        print(f"{'not ok' if lost else 'ok'} {n} - lab {variant.lab}, variant {variant.number}, {secret or 'some cases'}: {variant.how}", flush=True)
        if lost:
            print("\n".join(f"# {line}" for line in said.splitlines()), flush=True)
    with concurrent.futures.ProcessPoolExecutor(J) as pool:
        why = dict(zip((id(one) for one in some), pool.map(compiled, some, [secrets[0]] * len(some))))
        for one in some:
            if why[id(one)]:
                result(one, None, "all", why[id(one)])
        if secrets != [None]:
            list(pool.map(ours, *zip(*((lab, secret) for lab in sorted({one.lab for one in some}) for secret in secrets))))
        tasks = [(one, secret) for secret in secrets for one in some]
        for task, how in zip(tasks, pool.map(graded, *zip(*tasks))):
            if how:
                result(*task, *how)
    print(f"1..{n}")
    return rows


def summed(rows):
    """Prints rows of COLUMNS by lab."""
    print("#| lab  variants  grades   whole  failing wrongly  full on 20 seeds")
    for lab in [*sorted({row["lab"] for row in rows}), "all"]:
        some = [row for row in rows if lab in (row["lab"], "all")]
        seeds, full, whole = (sum(int(row[what]) for row in some) for what in ("seeds", "full", "whole"))
        print(f"#| {lab:<3}{len(some):>10}{seeds:>8}{whole:>8}{seeds - full:>17}{sum(int(row['full']) >= 20 for row in some):>18}")


def by_variant(grades):
    """Rows of COLUMNS of rows of grades: (lab, variant, seed, text, lost, ways)."""
    found = {}
    for lab, number, seed, text, lost, ways in grades:
        found.setdefault((int(lab), int(number), text, ways), {})[seed] = lost
    return [dict(zip(COLUMNS, map(str, (lab, number, text, len(seeds), list(seeds.values()).count(""),
                                        sum("cases" not in seed for seed in seeds), ways))))
            for (lab, number, text, ways), seeds in sorted(found.items())]


def read():
    """Rows of the committed table, and its head."""
    lines = TABLE.read_text().splitlines()
    return list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t")), [line for line in lines if line.startswith("#")]


def main():
    words = sys.argv[1:]
    if words[0] == "table":
        rows = by_variant(line.split("\t") for path in words[1:] for line in pathlib.Path(path).read_text().splitlines())
        print("\t".join(COLUMNS), *("\t".join(row[column] for column in COLUMNS) for row in rows), sep="\n")
        return
    number, seeds, *only = words
    first = int(os.environ.get("FIRST_SEED") or 0)
    secrets = [None] if seeds == "some" else [f"seed {first + seed}" for seed in range(int(seeds))]
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o755)
        some = chosen(int(number), [lab_folder.read(int(n)) for n in only or lab_folder.numbers()], int(os.environ.get("FIRST") or 0), home)
        grades = tried(some, secrets)
    summed(by_variant(grades))
    sys.exit(not grades or any(lost for *_, lost, _ in grades))


if __name__ == "__main__":
    main()
