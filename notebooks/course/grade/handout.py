#!/usr/bin/env python3
"""What students get for a lab or an exam: handout.py N|exam-N OUT.tar.gz

The tree as it is committed, but: the lab's solutions are taken out; of the stages, kernels from this one on, later rungs,
READMEs and notes that tell what comes are left out; so are the answers of notebooks, the grader, and tests about both.
Our own kernel comes compiled, as the images that counts are compared with, newer than its source: make leaves it.
What the lab's notebook and lab 0 show of what is left out is run here, and comes as notebooks/course/N/shown.json.
An exam's archive is that of the lab before it (`after` in its file `exam`), with the exam and without its solution."""
import argparse
import io
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "steps")]
import lab_folder  # noqa: E402
import step  # noqa: E402
import strip  # noqa: E402
from lab_folder import ROOT  # noqa: E402

OLDER, NEWER = 1_700_000_000, 1_700_003_600   # seconds since 1970: the same archive from the same tree

# Never handed out: answers, the grader with its cheats, tests that name solutions.
LEFT_OUT = re.compile(r"^(notebooks/course/grade/|notebooks/course/exams/|notebooks/(?:INSTRUCTOR|TERM)\.md|notebooks/course/\d/lab-\d\.py|tests/course/|tests/plots/test_rungs"
                      r"|tests/mutants/.*\.txt|stages/.*/notes/|records/history/|\.ci/)")


def later(lab, path):
    """Files of this stage and of later ones that would tell."""
    if not path.startswith("stages/") or path.count("/") < 2:
        return False
    folder, number = path.split("/")[1], int(path.split("/")[1].split("-")[0])
    own = int(lab.stage.split("-")[0])
    if number < own:
        return False
    if number > own:
        return True
    files = [str(file) for file in lab.files]
    if path in files:
        return False
    return path.endswith("README.md") or path.endswith((".cu", ".cuh")) and path not in needed(lab) or "/sweep" in path


def needed(lab):
    """What the lab's kernel includes of its own stage."""
    found = set()
    for image in lab.images:
        for rule in (ROOT / f"build/images/stage-{lab.stage.split('-')[0]}").glob(f"{image}.compute_*.ptx.d"):
            found |= set(re.findall(r"(stages/\S+)", rule.read_text().split("\n\n")[0]))
    return found


def images(lab):
    """The stage's `images`, with the lab's kernels only."""
    kept = []
    for line in (ROOT / f"stages/{lab.stage}/images").read_text().splitlines():
        words = line.split("#")[0].split()
        if not words or words[0] in ("arch", "problem", "previous") or words[0] in lab.images:
            kept.append(line)
    return "\n".join(kept) + "\n"


def compiled(lab):
    """{path: bytes}: our kernel of this lab, compiled: what counts are compared with."""
    folder = f"build/{lab.built}"
    return {f"{folder}/{path.name}": path.read_bytes() for image in lab.images for path in (ROOT / folder).glob(f"{image}.*")
            if path.suffix in (".ptx", ".cubin", ".ptxas")}


def shown(lab):
    """{path: bytes}: what notebooks show of this stage and of later ones."""
    found, stage = {}, lab.stage.split("-")[0]
    for number in (0, lab.number):
        with tempfile.NamedTemporaryFile(suffix=".json") as out:
            done = subprocess.run([ROOT / ".venv/bin/python", "notebooks/course/execute.py", f"--shown={stage}",
                                   lab_folder.notebook(number), out.name], cwd=ROOT, capture_output=True, text=True)
            if done.returncode:
                said = [line for line in done.stderr.splitlines() if not line.startswith("make")] or ["no word"]  # make names only its rule
                raise LookupError(f"lab {number}'s notebook does not run: {said[-1]}")
            if json.loads(data := out.read()):
                found[f"notebooks/course/{number}/shown.json"] = data
    return found


def contents(lab):
    """{path: bytes} of the sources."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    solved = {str(file) for number in lab_folder.numbers() if number >= lab.number for file in lab_folder.read(number).files}
    found = {}
    for path in filter(None, listed):
        if LEFT_OUT.match(path) or later(lab, path):
            continue
        own = re.match(r"notebooks/(?:course/)?(\d)[/-]", path)
        if own and int(own[1]) > lab.number:
            continue
        data = (ROOT / path).read_bytes()
        if re.match(r"notebooks/course/steps/\w+/", path):
            if not (handed := step.handed_out(path, data)):
                continue
            path, data = handed
        if re.match(r"notebooks/course/\d/mistakes$", path):  # the check wants symptoms and hints; how to make one tells the solution
            data = re.sub(rb"(?m)^ +edit: .*\n", b"", data)
        if path in solved:
            data = strip.strip(data.decode()).encode()
        if path == f"stages/{lab.stage}/images":
            data = images(lab).encode()
        found[path] = data
    return found


def exam_files(exam):
    """{path: bytes} of one exam: its page, the signature and what checks it."""
    here, own = "notebooks/course/exams/", f"notebooks/course/exams/{exam.path.name}/"
    listed = subprocess.run(["git", "ls-files", "-z", here], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return {path: (ROOT / path).read_bytes() for path in filter(None, listed)
            if "/solution/" not in path and (path.startswith(own) or path.count("/") == here.count("/"))}


def pack(out, goal, files, images):
    """The archive, whole or not at all."""
    out.parent.mkdir(parents=True, exist_ok=True)
    new = out.with_suffix(".new")
    try:
        with tarfile.open(new, "w:gz", compresslevel=6) as tar:
            for path, data in [*sorted(files.items()), *sorted(images.items())]:
                info = tarfile.TarInfo(f"attnlab-{goal}/{path}")
                info.mtime = NEWER if path in images else OLDER
                info.size, info.mode = len(data), 0o755 if (ROOT / path).exists() and (ROOT / path).stat().st_mode & 0o100 else 0o644
                tar.addfile(info, io.BytesIO(data))
        new.replace(out)
    finally:
        new.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description="writes what students get for a lab or an exam")
    parser.add_argument("lab", type=lab_folder.known)
    parser.add_argument("out", type=pathlib.Path)
    given = parser.parse_args()
    try:
        asked = lab = lab_folder.read(given.lab)
        if isinstance(asked, lab_folder.Exam):
            lab = lab_folder.read(asked.after)
        files = {**contents(lab), **shown(lab)}
        if asked is not lab:
            files = {**files, **exam_files(asked)}
            files.pop("examples/wgmma_gemm.cu", None)  # a solution of exam 2
    except (LookupError, step.cuda.Refused) as why:
        parser.exit(2, f"handout: {why.args[0]}\n")
    except FileNotFoundError:
        parser.exit(2, "handout: .venv is missing, which runs notebooks: make setup\n")
    try:
        pack(given.out, asked.goal, files, {**compiled(lab), **compiled(asked.rival)})
    except OSError as why:
        parser.exit(5, f"handout: {given.out}: {why.strerror}; make its folder writable, and have some room on the disk\n")
    print(f"{given.out}: {given.out.stat().st_size >> 10} KB")


if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "common/base"))
    import main_program
    main_program.run(main)
