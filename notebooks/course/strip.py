#!/usr/bin/env python3
"""Takes the solutions out of files: of kernels (.cu .cuh .h) and of notebooks (.py).

    strip.py [--lab N] [--into FOLDER] FILE...      to FOLDER/NAME, or to stdout

A solution stands between two marks, nbgrader's, in the comments of its language:

    // BEGIN SOLUTION lab-1: scale S        ### BEGIN SOLUTION
    ...                                     ...
    // END SOLUTION                         ### END SOLUTION

What is left of the first is a line `// YOUR CODE HERE: scale S`, and `// END OF YOUR CODE`; without a
sentence (in comments that give the answer away) nothing is left. With --lab only that lab's are taken out."""
import argparse
import pathlib
import re
import sys

BEGIN = re.compile(r"^\s*(?://|\*|#+)\s*BEGIN SOLUTION\s*(?:lab-(\d+))?(?::\s*(.*\S))?\s*$")
END = re.compile(r"^\s*(?://|\*|#+)\s*END SOLUTION\s*$")


def solutions(text):
    """[(first, last, lab or None, sentence or None)]: the numbers of the lines of the marks, from 1."""
    found, begin = [], None
    for n, line in enumerate(text.splitlines(), 1):
        match = BEGIN.match(line)
        if match and begin or END.match(line) and not begin:
            raise ValueError(f"line {n}: {line.strip()}: marks come in pairs")
        if match:
            begin = (n, match[1] and int(match[1]), match[2])
        elif END.match(line):
            found.append((begin[0], n, begin[1], begin[2]))
            begin = None
    if begin:
        raise ValueError(f"line {begin[0]}: this solution has no end")
    return found


def strip(text, lab=None):
    """The text without its solutions, or without those of one lab."""
    lines = text.splitlines(keepends=True)
    for first, last, of, sentence in reversed(solutions(text)):
        if lab not in (None, of):
            continue
        indent = re.match(r"\s*", lines[first - 1])[0]
        mark = "###" if lines[first - 1].lstrip().startswith("#") else "//"
        lines[first - 1:last] = ([f"{indent}{mark} YOUR CODE HERE: {sentence}\n", f"{indent}{mark} END OF YOUR CODE\n"]
                                 if sentence else [])
    return "".join(lines)


def main():
    parser = argparse.ArgumentParser(description="takes the solutions out of kernels and notebooks")
    parser.add_argument("--lab", type=int, metavar="N", help="only those of this lab")
    parser.add_argument("--into", metavar="FOLDER", help="where to write (default: stdout)")
    parser.add_argument("files", nargs="+", metavar="FILE")
    given = parser.parse_args()
    for name in given.files:
        try:
            left = strip(pathlib.Path(name).read_text(), given.lab)
            if given.into:
                (pathlib.Path(given.into) / pathlib.Path(name).name).write_text(left)
            else:
                sys.stdout.write(left)
        except (OSError, UnicodeError) as error:
            sys.exit(f"strip.py: {name}: {getattr(error, 'strerror', None) or 'it is not text'}")
        except ValueError as error:
            sys.exit(f"strip.py: {name}: {error}")


if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "common/base"))
    import main_program
    main_program.run(main)
