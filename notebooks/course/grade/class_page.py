"""One page for the instructor, OUT/index.html, from the rows of grade_all.py and from students' diaries: where each student
stands, at which step a class is stuck, and what cost points. One file, no network."""
import collections
import pathlib
import re
import statistics
import sys

import jinja2

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import diary  # noqa: E402
import plain  # noqa: E402: of this folder

FULL, MOST = 100, 60                                  # points of the bands below
BANDS = ("full points", f"{MOST} or more", "fewer", "no points")
MOST_REASONS = 5                                      # of a lab
FOLLOWS = re.compile("nothing (to|counts) |no time without ")  # grade.py: what is lost because something else was wrong


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
        for lost in {(lost["part"], alike(lost["why"])): lost for lost in row["lost"] if not FOLLOWS.match(lost["why"])}.values():
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
    if not any(sum(lab["counts"]) for lab in labs):
        return "No lab has grades."
    worst = max(labs, key=lambda lab: lab["below"])
    if not worst["below"]:
        return f"No student has fewer than {MOST} points in any lab."
    graded = sum(worst["counts"])
    return f"{title(worst['number']).capitalize()} is where most are stuck: {worst['below']} of {graded} have fewer than {MOST} points."


def title(lab):
    """A lab's number, or an exam's name, for people."""
    return f"lab {lab}" if isinstance(lab, int) else lab.replace("-", " ")


def is_graded(row):
    """Of folders that cannot be graded, `lab` is the folder's name."""
    return isinstance(row["lab"], int) or row["lab"].startswith("exam-") and not row["why"].startswith("not graded: ")


def place(what):
    """Steps of a chapter come before its lab, exams after all labs."""
    kind, name = what.split("-")
    return ("exam" in kind, name[:1], kind == "lab", name)


def commonest(symptoms):
    """(students, seen, hint) of what most students saw. symptoms: [(student, seen, hint)]"""
    found = collections.defaultdict(dict)
    for student, seen, hint in symptoms:
        found[alike(seen)].setdefault(student, (seen, hint))
    most = max(found.values(), key=len, default={})
    return (len(most), *next(iter(most.values()))) if most else (0, "", "")


def stop_of(what, checks):
    """A row of the table of steps. checks: {student: {what: Work}}"""
    mine = {student: some[what] for student, some in checks.items() if what in some and some[what].checks + some[what].asked}
    many, seen, hint = commonest([(student, *symptom) for student, one in mine.items() for symptom in one.seen])
    passed, stuck = ([student for student, one in mine.items() if getattr(one, state)] for state in ("passed", "stuck"))
    return {"what": what, "students": len(mine), "passed": len(passed), "stuck": stuck, "many": many, "seen": seen, "hint": hint,
            "asked": sum(one.asked for one in mine.values()),
            "checks": statistics.median(one.checks for one in mine.values()) if mine else None,
            "minutes": statistics.median(one.minutes for one in mine.values()) if mine else None}


def who_is_stuck(stops, checks):
    return [{"student": student, "what": stop["what"], "work": (one := checks[student][stop["what"]]), "seen": one.seen[-1][0], "hint": one.seen[-1][1]}
            for stop in stops for student in sorted(stop["stuck"], key=lambda student: -checks[student][stop["what"]].checks)]


def said_of(stops):
    """Where the diaries say that most are stuck, in a sentence."""
    worst = max(stops, key=lambda stop: len(stop["stuck"]), default=None)
    if not worst or not worst["stuck"]:
        return "By the diaries nobody is stuck."
    return (f"By the diaries most are stuck at {worst['what'].replace('-', ' ')}: {len(worst['stuck'])} of {worst['students']} have checked it"
            f" {diary.STUCK} times or more and have not passed.")


def forbidden(rows):
    """[(kind, [(student, lab)])] of forbidden means, the most frequent first."""
    found = collections.defaultdict(list)
    for row in rows:
        for kind in {lost["forbidden"] for lost in row["lost"] if lost["forbidden"]}:
            found[kind].append((row["student"], row["lab"]))
    return sorted(found.items(), key=lambda each: -len(each[1]))


def harmless(checks):
    """The same, of text that can be shown."""
    for some in checks.values():
        for one in some.values():
            one.seen = [(plain.line(seen), plain.line(hint)) for seen, hint in one.seen]
    return {plain.line(student): some for student, some in checks.items()}


def shown(value):
    """What students wrote, as text that can be shown."""
    if isinstance(value, dict):
        return {key: shown(of) for key, of in value.items()}
    if isinstance(value, list):
        return [shown(of) for of in value]
    return plain.line(value) if isinstance(value, str) else value


def page(rows, texts, checks, unread):
    """rows: of each student and lab a dict of grade_all.COLUMNS and `lost`, grade.json's list; texts: {student: [text]};
    checks: {student: {what: diary.Work}}; unread: [(student, folder, why)], diaries."""
    rows, checks = [shown(row) for row in rows], harmless(checks)
    students = sorted({row["student"] for row in rows} | set(checks))
    stops = [stop_of(what, checks) for what in sorted({what for some in checks.values() for what in some}, key=place)]
    graded = [row for row in rows if is_graded(row)]
    numbers = sorted({row["lab"] for row in graded}, key=str)
    labs = [lab_of(n, [row for row in graded if row["lab"] == n], len(students)) for n in numbers]
    cells = {(row["student"], row["lab"]): row for row in graded}
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(pathlib.Path(__file__).parent), autoescape=True,
                                     trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters["points"] = lambda value: "" if value is None else f"{value:.4g}"
    environment.filters["title"] = title
    environment.filters["name"] = lambda what: what.replace("step-", "").replace("-", " ")
    return environment.get_template("class_page.html").render(
        students=students, stops=stops, stuck=who_is_stuck(stops, checks), checks=checks, said=said_of(stops), diary=diary, unread=shown(list(map(list, unread))),
        forbidden=forbidden(graded), labs=labs, cells=cells, score=score, band=band, bands=BANDS, most=MOST, verdict=verdict(labs),
        refused=[row for row in rows if not is_graded(row)],
        texts={plain.line(student): plain.lines("\n".join(parts)) for student, parts in texts.items()})
