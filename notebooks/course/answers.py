"""A student's answers: read, stored before anything runs, judged.

notebooks/course/N/questions has a line `ID | UNIT | TOLERANCE | HINT` for each. What is right is counted when it can be;
where it cannot, notebooks/course/N/sealed has it as hashes of intervals, so that no file beside the notebook tells.
A sheet is a file answers.json: {ID: number}, and texts."""
import hashlib
import json
import math
import numbers
import re

from lab_folder import COURSE

PREFIXES = {"P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "K": 1e3, "m": 1e-3, "u": 1e-6, "n": 1e-9}
NAMES = {"percent": "%", "b": "byte", "x": "times", "sec": "s", "flop/s": "FLOPS", "clocks": "cycles", "clock": "cycles", "clk": "cycles"}


def questions(number):
    """{id: (unit, tolerance as a share, hint)}"""
    found = {}
    for line in (COURSE / str(number) / "questions").read_text().splitlines():
        if line and not line.startswith("#"):
            name, unit, tolerance, hint = (word.strip() for word in line.split("|", 3))
            found[name] = unit, float(tolerance.rstrip("%")) / 100, hint
    return found


def number_of(answer, unit):
    """(number, None); (None, None) if it is open; (None, what is wrong). '0.44', '440 ns', NumPy's scalars are fine."""
    if callable(answer):
        try:
            answer = answer()
        except Exception as error:
            return None, f"it ended with {type(error).__name__}: {error}"
    if answer is None or isinstance(answer, str) and not answer.strip():
        return None, None
    if isinstance(answer, str):
        match = re.fullmatch(r"\s*(?:([^\d\s]*?)[\s:=~\u2248]*)?([-+]?[\d.,_]*\d[\d.,_]*(?:[eE][-+]?\d+)?|[-+]?\d{1,3}(?: \d{3})+)\s*"
                             r"([^\d\s/*^+-].*?)?\s*", answer)
        if not match or match[1] and not _same(match[1], unit):
            return None, f"'{answer}' is not a number; wanted is a number, in {unit}; a formula needs no quotes"
        try:
            thousands = re.fullmatch(r"\d{1,3}([, ]\d{3})+", match[2])
            value = float(re.sub("[_, ]" if thousands else "_", "", match[2]).replace(",", "."))
        except ValueError:
            return None, f"'{match[2]}' is not a number; wanted is a number, in {unit}"
        return _converted(value, match[3], unit)
    if hasattr(answer, "item") and getattr(answer, "size", 1) == 1:
        answer = answer.item()
    if isinstance(answer, bool) or not isinstance(answer, numbers.Real):
        return None, f"{type(answer).__name__} is not a number; wanted is one number, in {unit}"
    return (float(answer), None) if math.isfinite(answer) else (None, f"{answer} is not finite")


def _same(given, unit):
    """Is it this unit, as a student may write it: 1 cycle, 12 percent, FLOPs, B?"""
    given, unit = (NAMES.get(word.lower(), word) for word in (given, unit))
    return given == unit or len(given) > 2 and given.lower().removesuffix("s") == unit.lower().removesuffix("s")


def _converted(value, given, unit):
    if not given or _same(given, unit):
        return value, None
    given = given.replace("\u00b5", "u").replace("\u03bc", "u")
    binary = re.fullmatch(r"([KMG])i(B|bytes?)", given)
    if binary and unit.rstrip("s") == "byte":
        return value * 1024 ** (1 + "KMG".index(binary[1])), None
    for name, scale in [("", 1.0), *PREFIXES.items()]:
        for mine, own in [("", 1.0), *PREFIXES.items()]:
            if given.startswith(name) and (mine == "" or unit.startswith(mine)) and \
                    _same(given.removeprefix(name), unit.removeprefix(mine)):
                return value * scale / own, None
    return None, f"the unit is {unit}, not {given}"


def _bucket(value, tolerance):
    """The number of the interval that a value lies in; neighbours are told apart by `tolerance`."""
    return 0 if value == 0 else math.copysign(round(math.log(abs(value)) / math.log1p(tolerance)) + 1e6, value)


def seal(lab, name, value, tolerance):
    said = f"{lab}/{name}/{_bucket(value, max(tolerance, 1e-6)):.0f}".encode()
    return hashlib.pbkdf2_hmac("sha256", said, b"attnlab", 20000).hex()[:16]


def is_right(lab, name, value, tolerance, expected=None):
    """expected: a number, or None: the sealed one."""
    if expected is not None:
        return abs(value - expected) <= tolerance * abs(expected) + 1e-9
    sealed = dict(line.split() for line in (COURSE / str(lab) / "sealed").read_text().splitlines())
    step = 1 + max(tolerance, 1e-6)
    return any(seal(lab, name, value * factor, tolerance) == sealed.get(name) for factor in (1, step, 1 / step))


def in_another_unit(lab, name, value, tolerance, expected=None):
    """The factor between a wrong answer and the right one, if it is one between units, or 2 or 8; or None."""
    for factor in (1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9, 100, 0.01, 1024, 1 / 1024, 2, 0.5, 8, 1 / 8):
        if is_right(lab, name, value * factor, tolerance, expected):
            return factor
    return None


def off(factor, unit):
    """A sentence about a wrong answer, which times this factor is right."""
    known = {0.5: "twice what is right", 2: "half what is right", 1 / 8: "8 times what is right", 8: "1/8 of what is right"}
    if factor not in known:
        return f"It is off by a factor of {1 / factor:g}: the unit is {unit}."
    bits = unit.rstrip("s") in ("byte", "bit") and factor in (8, 1 / 8)
    return f"It is {known[factor]}" + (f": are these {'bits' if factor < 1 else 'bytes'}? The unit is {unit}." if bits else ".")


def read_sheet(path):
    try:
        sheet = json.loads(path.read_text()) if path.exists() else {}
    except ValueError as why:
        raise ValueError(f"{path} is no JSON ({why}): correct it, or remove it and answer again") from None
    return sheet
