"""One page for the instructor, OUT/index.html, from the rows of grade_all.py: where each student stands, at which lab a
class is stuck, and what cost points. One file, no network."""
import collections
import pathlib
import re
import statistics

import jinja2

import plain

FULL, MOST = 100, 60                                  # points of the bands below
BANDS = ("full points", f"{MOST} or more", "fewer", "no points")
MOST_REASONS = 5                                      # of a lab


def band(points):
    """An index of BANDS."""
    return 0 if points >= FULL else 1 if points >= MOST else 2 if points > 0 else 3


def score(row):
    """Points of 100 for a lab: those of the kernel; of a lab without one, the share of right predictions. None: no grade."""
    if row["kernel"] is not None:
        return row["kernel"]
    return 100 * row["predictions"] / row["of"] if row["of"] else None


def alike(why):
    """Reasons that differ in a number only are one."""
    return re.sub(r"\d[\d.,e+-]*", "N", why)


def reasons(rows):
    """What cost points in one lab, the reason that most students share first: part, an example, students."""
    found = collections.defaultdict(list)
    for row in rows:
        for lost in {(lost["part"], alike(lost["why"])): lost for lost in row["lost"]}.values():
            found[lost["part"], alike(lost["why"])].append((row, lost))
    most = sorted(found.values(), key=lambda each: (-len(each), -max(lost["points"] for _, lost in each)))
    return [{"part": each[0][1]["part"], "students": [row["student"] for row, _ in each], "points": max(lost["points"] for _, lost in each),
             "why": each[0][1]["why"]} for each in most[:MOST_REASONS]]


def lab_of(number, rows, students):
    graded = [score(row) for row in rows if score(row) is not None]
    counts = [sum(band(points) == n for points in graded) for n in range(len(BANDS))]
    below = sum(counts[2:])
    return {"number": number, "counts": counts, "missing": students - len(graded), "below": below,
            "median": statistics.median(graded) if graded else None, "reasons": reasons(rows),
            "refused": [row for row in rows if any(lost["part"] == "all" for lost in row["lost"])]}


def verdict(labs):
    """Where most students are stuck, in a sentence."""
    worst = max(labs, key=lambda lab: lab["below"], default=None)
    if not worst or not worst["below"]:
        return f"No student has fewer than {MOST} points in any lab."
    graded = sum(worst["counts"])
    return f"Lab {worst['number']} is where most are stuck: {worst['below']} of {graded} have fewer than {MOST} points."


def shown(value):
    """What students wrote, as text that can be shown."""
    if isinstance(value, dict):
        return {key: shown(of) for key, of in value.items()}
    if isinstance(value, list):
        return [shown(of) for of in value]
    return plain.line(value) if isinstance(value, str) else value


def page(rows, texts):
    """rows: of each student and lab a dict of grade_all.COLUMNS and `lost`, grade.json's list; texts: {student: [text]}."""
    rows = [shown(row) for row in rows]
    students = sorted({row["student"] for row in rows})
    graded = [row for row in rows if isinstance(row["lab"], int)]
    numbers = sorted({row["lab"] for row in graded})
    labs = [lab_of(n, [row for row in graded if row["lab"] == n], len(students)) for n in numbers]
    cells = {(row["student"], row["lab"]): row for row in graded}
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(pathlib.Path(__file__).parent), autoescape=True,
                                     trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters["points"] = lambda value: "" if value is None else f"{value:.4g}"
    return environment.get_template("class_page.html").render(
        students=students, labs=labs, cells=cells, score=score, band=band, bands=BANDS, most=MOST, verdict=verdict(labs),
        refused=[row for row in rows if not isinstance(row["lab"], int)],
        texts={plain.line(student): plain.lines("\n".join(parts)) for student, parts in texts.items()})
