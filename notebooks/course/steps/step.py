#!/usr/bin/env python3
"""A step of the course, of 5 to 15 minutes: step.py NAME [text] [--source FILE]

Without a file of the student's, begins the step: prints its text and makes my-labs/steps/NAME.py or NAME.cu, which has one
hole. Else checks that file. With the word `text`, only prints the text. Exit 0: the step is begun, or passed; 1: not yet
right, or the answer to its question is wrong; 2: usage. Each check is noted in the file's folder (diary.py).

A step is a folder notebooks/course/steps/NAME:

    text.md         one idea, a picture, what to write, one question
    hole.py         the student's file, with the solution between strip.py's marks; or hole.cu, which runs on the emulator (cuda.py)
    check.py        check(hole): yields (what was seen, hint) of what is wrong; key(hole): values that only a right hole has
    answer          the hash of the question's answer: `step.py --hash NAME ANSWER`
    explained.md    the solution, explained; a handout has it sealed with key(), and it opens when the check passes. Its
                    paragraph that begins with "The question:" gives the answer's reason, and is shown with the right answer
    mistakes        three rules or more that make the solution wrong: a line `SED SCRIPT | how what was seen
                    begins | words of the hint`"""
import argparse
import hashlib
import importlib.util
import pathlib
import re
import resource
import subprocess
import sys
import textwrap
import traceback

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))
import cuda  # noqa: E402
import diary  # noqa: E402
import strip  # noqa: E402

sys.dont_write_bytecode = True  # of a student's file: an edit of the same second and size would not be seen
CPU_S, WALL_S, COLUMNS = 5, 60, 100
REASON = "The question: "


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
    """Does nothing but comments stand between the marks, of any hole?"""
    inside, marks = False, False
    for line in text.splitlines():
        if "YOUR CODE HERE" in line:
            inside = marks = True
        elif "END OF YOUR CODE" in line:
            inside = False
        elif inside and line.split(comment)[0].strip():
            return False
    return marks


def judge(name, source):
    """In a process of its own: prints what is wrong, or the explanation. Exit status as above."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))
    check = load(HERE / name / "check.py", "check")
    hole = None
    try:
        hole = load_hole(source)
        for seen, hint in check.check(hole):
            print(f"not yet: {seen}\nhint: {hint}")
            return 1
        key = key_of(check, hole, name)
    except cuda.Refused as why:
        print(f"not yet: {why}\nhint: where a line of yours is named, it is there that the compiler or the emulator stopped")
        return 1
    except (Exception, SystemExit) as error:  # the student's
        if isinstance(error, AttributeError) and getattr(error, "obj", None) is hole:
            print(f"not yet: there is no function {error.name} in {source}\nhint: the file must define each name that the text asks for")
            return 1
        where = [frame.lineno for frame in traceback_of(error) if frame.filename == str(source)]
        print(f"not yet: {source}{f':{where[-1]}' if where else ''}: {type(error).__name__}: {error}\n"
              "hint: the message says what Python could not do, and the line where it stopped")
        return 1
    explained, _, reason = explanation(name, key).partition(REASON)
    why = " ".join(reason.split())
    print(f"step {name} passes.\n\n{explained.rstrip()}\n")
    answer = getattr(hole, "ANSWER", None)
    if answer is None:
        print(f"The question of the text is open. {how_to_answer(name)}")
    elif hashed(name, answer) == (HERE / name / "answer").read_text().strip():
        print(f"The answer to the question is right. {why[:1].upper()}{why[1:]}")
    else:
        print(f"not yet: the code is right, but {answer} is not the answer to the question\nhint: {again(name, answer)}")
        return 1
    return 0


def wanted(name):
    """What the question asks for; the last line of a hole says so."""
    return re.search(r"ANSWER = None.*to the question: (.*?)\)?$", hole_of(name).read_text(), re.M)[1]


def how_to_answer(name):
    asked = wanted(name).replace("a number", "a number in digits")
    slashes = " Leave the // before it." if hole_of(name).suffix == ".cu" else ""
    return f"The answer stands behind ANSWER = at the end of the file: replace what is there by {asked}.{slashes}"


def again(name, answer):
    """The hint for a wrong answer."""
    asked = wanted(name)
    plain = str(answer) in asked if '"' in asked else re.fullmatch(r"-?\d+(\.\d+)?", str(answer))
    return "what exactly does the question ask for? Compute it step by step, from the text" if plain else how_to_answer(name)


def tell(name):
    print((HERE / name / "text.md").read_text())
    print(textwrap.fill(how_to_answer(name), COLUMNS) + "\n")


def wrapped(said):
    """Lines of a check's first words, which are longer than a screen is wide."""
    lines = [textwrap.fill(line, COLUMNS, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
             if line.startswith(("not yet: ", "hint: ", "The ")) else line for line in said.splitlines()]
    return "".join(line + "\n" for line in lines)


def onward(name):
    """What to do after a step that passed."""
    later = names()[names().index(name) + 1:]
    if not later:
        return "This was the last step."
    lab = int(name[0])
    return (f"Next: make lab-{lab}, for which these steps were made; or make step-{later[0]}." if lab <= 6 and later[0][0] != name[0] else
            f"Next: make step-{later[0]}.")


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
    parser.add_argument("word", nargs="?", help="text: print the text of the step")
    parser.add_argument("--source", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--judge", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--hash", action="store_true", help="print the hash of an answer")
    given = parser.parse_args()
    if given.name not in names():
        parser.exit(2, f"step: there is no step {given.name}; there are {' '.join(names())}\n")
    if given.hash:
        print(hashed(given.name, given.word))
        return 0
    if given.word not in (None, "text"):
        parser.exit(2, f"step: {given.word} is no word for a step; `text` prints its text\n")
    hole = hole_of(given.name)
    source = given.source or ROOT / "my-labs" / "steps" / f"{given.name}{hole.suffix}"
    if given.judge:
        return judge(given.name, source)
    text_again = f"The text again: make step-{given.name} ARGS=text"
    if given.word or not source.exists() and not given.source:
        tell(given.name)
    if given.word:
        return 0
    if source.exists():
        status, said = run(given.name, source)
        seen, hint = (re.search(rf"^{word}: (.*)", said, re.M) for word in ("not yet", "hint"))
        passed = said.startswith("step ")  # with a wrong answer, too
        diary.note(source.parent, f"step-{given.name}", "right" if passed else "not yet", seen[1] if seen else "", hint[1] if hint else "")
        if said.startswith("not yet: nothing stands"):
            tell(given.name)
        print(wrapped(said.replace(f"{ROOT}/", "")), end="")
        if passed:
            print(f"\n{onward(given.name)} {text_again}")
        else:
            print(f"\n{text_again}   (make reports a check that is not yet right as Error 1)")
        return status
    if given.source:
        parser.exit(2, f"step: there is no {given.source}\n")
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(strip.strip(hole.read_text()))
    diary.note(source.parent, f"step-{given.name}", "begun")
    print(f"Your file is {source.relative_to(ROOT)}. Check it with: make step-{given.name}")
    if source.suffix == ".cu" and not (cuda.BUILD / "run").exists():
        print("The first check builds the emulator, once: about 2 minutes on two cores. Later checks take seconds.")
    print(text_again)
    return 0


if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "common/base"))
    import main_program
    main_program.run(main)
