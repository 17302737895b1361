#!/usr/bin/env python3
"""Prints the next hint on a part of a lab or an exam: hint.py N [--part P]

notebooks/course/N/hints has three for each part, the holes of the kernel in order. How many were given is kept in
my-labs/N/hints-given. Without --part: the first part that is not written, else the last one asked about."""
import argparse
import json
import sys

import build
import check
import diary
import lab_folder
from lab_folder import ROOT


def read(folder):
    """[[three hints] of each part]: a line PART: HINT each, parts in the order of the holes."""
    hints = []
    for line in (folder.path / "hints").read_text().splitlines():
        if line.startswith("part "):
            hints.append([])
        elif line.startswith("    - "):
            hints[-1].append(line.strip()[2:])
        elif line.startswith("      "):
            hints[-1][-1] += " " + line.strip()
    return hints


def given_before(state):
    """{part: hints given, "last": part}; {} of a file that is damaged: it holds nothing else."""
    try:
        told = json.loads(state.read_text()) if state.exists() else {}
    except ValueError:
        told = {}
    return told if isinstance(told, dict) else {}


def main():
    parser = argparse.ArgumentParser(description="prints the next hint")
    parser.add_argument("lab", type=lab_folder.known, metavar="N")
    parser.add_argument("--part", type=int, metavar="P", help="which part of the kernel, from 1")
    given = parser.parse_args()
    try:
        folder = lab_folder.read(given.lab)
        source = ROOT / "my-labs" / str(given.lab)
        kernel = build.Kernel(folder, source, source)
        if source.exists():
            kernel.present()
        holes, hints = folder.holes(), read(folder)
        state = source / "hints-given"
        told = given_before(state)
        empty = {sentence for _, _, sentence in check.empty_holes(kernel)}
        first = next((n for n, hole in enumerate(holes, 1) if hole[3] in empty), told.get("last", 1))
        part = given.part or first
        if not 1 <= part <= len(holes):
            print(f"hint: {folder.name} has parts 1 to {len(holes)}", file=sys.stderr)
            return 2
        n = told.get(str(part), 0)
        print(f"Part {part} of {len(holes)}, {holes[part - 1][0].name}: {holes[part - 1][3]}")
        for step, hint in enumerate(hints[part - 1][:n + 1], 1):
            print(f"  {step}. {hint}")
        if n >= 2:
            print(f"  (These are all three. `make {folder.goal} check` says what is wrong, and hints at the cause.)")
        if n >= 2 and part < len(holes):
            print(f"  (The next part: make {folder.goal} hint ARGS=\"--part {part + 1}\")")
        told |= {str(part): min(n + 1, 2), "last": part}
        state.write_text(json.dumps(told))
        diary.note(source, folder.goal, "asked", f"part {part}, hint {min(n + 1, 3)}")
    except FileNotFoundError:
        print(f"hint: there is no my-labs/{given.lab}: make {folder.goal} makes it", file=sys.stderr)
        return 2
    except (LookupError, build.Refused) as why:
        print(f"hint: {why}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.path.append(str(ROOT / "common/base"))
    import main_program
    main_program.run(main)
