#!/usr/bin/env python3
"""Writes the page of a student's kernel: watch.py N|exam-3 [--verb run|source] [--source FOLDER] [--out FILE] [OPTION...]

The page shows what a block does, cycle by cycle (common/harness/watch); further options are the problem, as build/stage-6 takes
it. Without them the problem has one head of 128 rows and keys. --verb runs the kernel instead, or shows its lines. Exit 0: it is written and the answer is right; 1: it is
written and shows where the answer is wrong, or the kernel does not compile; 2: usage; 4: something is missing here."""
import argparse
import pathlib
import re
import sys

import build
import check
import lab_folder
from lab_folder import ROOT


SAYS = {"run": [], "source": ["--source"], "watch": []}


def said(folder, text):
    """A stage's words about a student's kernel; of an exam, by its name and verbs."""
    text = text.replace(f"{ROOT}/", "")
    if folder.blank:
        text = re.sub(r"(?m)^next .*make stage-0 whatif.*\n", "", text)
        text = text.replace("make stage-0", f"make {folder.goal}").replace("stage 0-exam-3", folder.name)
    return text


def main():
    parser = argparse.ArgumentParser(description="the page of a student's kernel")
    parser.add_argument("lab", type=lab_folder.known, metavar="N|exam-N")
    parser.add_argument("--verb", choices=["run", "source", "watch"], default="watch")
    parser.add_argument("--source", metavar="FOLDER", help="where the files are (default: my-labs/N)")
    parser.add_argument("--out", metavar="FILE", help="the page (default: results/watch-lab-N.html)")
    given, options = parser.parse_known_args()
    out = pathlib.Path(given.out or ROOT / "results" / f"watch-{lab_folder.goal(given.lab)}.html").absolute()
    try:
        folder = lab_folder.read(given.lab)
        if not folder.tile:
            raise LookupError(f"lab {given.lab} computes one product, which has no timeline: watch stage 6 or lab 6")
        source = pathlib.Path(given.source or ROOT / "my-labs" / str(given.lab))
        kernel = build.Kernel(folder, source, build.scratch(given.lab, source, "watch-"))
        lacks = [kernel.file(path) for path in folder.files if not kernel.file(path).exists()]
        if lacks:
            raise LookupError(f"{build.shown(lacks[0])} is missing: `make {folder.goal}` makes it")
        holes = check.empty_holes(kernel)
        if holes:
            raise LookupError(f"{holes[0][0]}:{holes[0][1]}: still to be written: {holes[0][2]}")
        kernel.compile(["sm_90a"])
        done = kernel.run("--device", "emu", "--image", folder.images[0],
                          *folder.with_problem(options or ["--heads", "1", "--seqlen", "128"]), *SAYS[given.verb], *["--watch-page", out] * (given.verb == "watch"), limit=300)
    except (LookupError, OSError) as why:
        print(f"{given.verb}: {why}", file=sys.stderr)
        return 2
    except build.Refused as why:
        print(f"{given.verb}: {why}", file=sys.stderr)
        return 1 if "does not compile" in str(why) else 4
    print(said(folder, done.stdout), end="")
    print(done.stderr.replace(f"{ROOT}/", ""), end="", file=sys.stderr)
    return done.returncode if done.returncode in (0, 1, 2) else 4


if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "common/base"))
    import main_program
    main_program.run(main)
