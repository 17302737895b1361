#!/usr/bin/env python3
"""A step of the course, of 5 to 15 minutes: step.py NAME [--source FILE]

Without a file of the student's, begins the step: prints its text and makes my-labs/steps/NAME.py or NAME.cu, which has one
hole. Else checks that file. Exit 0: the step is begun, or passed; 1: not yet right; 2: usage. Each check
is noted in the file's folder (diary.py).

A step is a folder notebooks/course/steps/NAME:

    text.md         one idea, a picture, what to write, one question
    hole.py         the student's file, with the solution between strip.py's marks; or hole.cu, which runs on the emulator (cuda.py)
    check.py        check(hole): yields (what was seen, hint) of what is wrong; key(hole): values that only a right hole has
    answer          the hash of the question's answer: `step.py --hash NAME ANSWER`
    explained.md    the solution, explained; a handout has it sealed with key(), and it opens when the check passes
    mistakes        three rules or more that make the solution wrong: a line `SED SCRIPT | how what was seen
                    begins | words of the hint`"""
import argparse
import hashlib
import importlib.util
import pathlib
import re
import resource
import signal
import subprocess
import sys
import traceback

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))
import cuda  # noqa: E402
import diary  # noqa: E402
import strip  # noqa: E402

CPU_S, WALL_S = 5, 60


def names():
    return sorted(path.parent.name for path in HERE.glob("*/text.md"))


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def hole_of(name):
    """hole.py or hole.cu."""
    return next((HERE / name).glob("hole.*"))


def load_hole(path):
    return cuda.Kernel(path) if path.suffix == ".cu" else load(path, "hole")


# ---- Sealing: a stream of hashes of the key ---------------------------------------------------------------------------

def stream(key, n):
    out, block = b"", 0
    while len(out) < n:
        out += hashlib.sha256(f"{key}/{block}".encode()).digest()
        block += 1
    return out[:n]


def seal(key, text):
    data = text.encode()
    return bytes(a ^ b for a, b in zip(data, stream(key, len(data)))).hex()


def unseal(key, sealed):
    data = bytes.fromhex(sealed.strip())
    return bytes(a ^ b for a, b in zip(data, stream(key, len(data)))).decode()


def key_of(check, hole, name):
    return hashlib.sha256(f"{name}: {check.key(hole)!r}".encode()).hexdigest()


def hashed(name, answer):
    return hashlib.sha256(f"{name}: {str(answer).strip().lower()}".encode()).hexdigest()


def explanation(name, key):
    plain, sealed = HERE / name / "explained.md", HERE / name / "explained.sealed"
    return plain.read_text() if plain.exists() else unseal(key, sealed.read_text())


def sealed(name):
    """explained.md as a handout has it."""
    hole, check = load_hole(hole_of(name)), load(HERE / name / "check.py", "check")
    return seal(key_of(check, hole, name), (HERE / name / "explained.md").read_text()).encode()


def handed_out(path, data):
    """(path, bytes) of a step's file as students get it; None: they do not."""
    name = pathlib.PurePosixPath(path)
    if name.name == "mistakes":
        return None
    if name.stem == "hole":
        return path, strip.strip(data.decode()).encode()
    if name.name == "explained.md":
        return str(name.with_suffix(".sealed")), sealed(name.parent.name)
    return path, data


# ---- Judging --------------------------------------------------------------------------------------------------------------

def is_open(text, comment):
    """Does nothing but comments stand between the marks?"""
    inside = False
    for line in text.splitlines():
        if "YOUR CODE HERE" in line:
            inside = True
        elif "END OF YOUR CODE" in line:
            return inside
        elif inside and line.split(comment)[0].strip():
            inside = False
    return False


def judge(name, source):
    """In a process of its own: prints what is wrong, or the explanation. Exit status as above."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))
    check = load(HERE / name / "check.py", "check")
    try:
        hole = load_hole(source)
        for seen, hint in check.check(hole):
            print(f"not yet: {seen}\nhint: {hint}")
            return 1
        key = key_of(check, hole, name)
    except cuda.Refused as why:
        print(f"not yet: {why}\nhint: where a line of yours is named, it is there that the compiler or the emulator stopped")
        return 1
    except Exception as error:  # the student's
        where = [frame.lineno for frame in traceback_of(error) if frame.filename == str(source)]
        print(f"not yet: {source}{f':{where[-1]}' if where else ''}: {type(error).__name__}: {error}\n"
              "hint: the message says what Python could not do, and the line where it stopped")
        return 1
    print(f"step {name} passes.\n\n{explanation(name, key)}")
    answer = getattr(hole, "ANSWER", None)
    if answer is None:
        print("\nThe question of the text is open: write its answer behind ANSWER =.")
    elif hashed(name, answer) == (HERE / name / "answer").read_text().strip():
        print("\nThe answer to the question is right.")
    else:
        print(f"\nnot yet: {answer} is not the answer to the question\nhint: read the explanation above, then the question once more")
        return 1
    return 0


def traceback_of(error):
    return traceback.extract_tb(error.__traceback__)


def run(name, source):
    """(status, what was said) of a check."""
    if is_open(source.read_text(errors="replace"), "//" if source.suffix == ".cu" else "#"):
        return 1, f"not yet: nothing stands between the marks of {source}\nhint: the comment at the mark says what to write there\n"
    try:
        done = subprocess.run([sys.executable, __file__, "--judge", name, "--source", source], capture_output=True, text=True, timeout=WALL_S)
    except subprocess.TimeoutExpired:
        return 1, f"not yet: it did not end within {WALL_S} s\nhint: is there a loop that never ends?\n"
    if done.returncode < 0:
        return 1, f"not yet: it did not end within {CPU_S} s\nhint: is there a loop that never ends?\n"
    return done.returncode, done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description="a step of the course")
    parser.add_argument("name")
    parser.add_argument("answer", nargs="?")
    parser.add_argument("--source", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--judge", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--hash", action="store_true", help="print the hash of an answer")
    given = parser.parse_args()
    if given.name not in names():
        parser.exit(2, f"step: there is no step {given.name}; there are {' '.join(names())}\n")
    if given.hash:
        print(hashed(given.name, given.answer))
        return 0
    hole = hole_of(given.name)
    source = given.source or ROOT / "my-labs" / "steps" / f"{given.name}{hole.suffix}"
    if given.judge:
        return judge(given.name, source)
    if source.exists():
        status, said = run(given.name, source)
        seen, hint = (re.search(rf"^{word}: (.*)", said, re.M) for word in ("not yet", "hint"))
        diary.note(source.parent, f"step-{given.name}", "not yet" if status else "right", seen[1] if seen else "", hint[1] if hint else "")
        print(said.replace(f"{ROOT}/", ""), end="")
        return status
    if given.source:
        parser.exit(2, f"step: there is no {given.source}\n")
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(strip.strip(hole.read_text()))
    diary.note(source.parent, f"step-{given.name}", "begun")
    print((HERE / given.name / "text.md").read_text())
    print(f"Your file is {source.relative_to(ROOT)}. Check it with: make step-{given.name}")
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader that has seen enough
    sys.exit(main())
