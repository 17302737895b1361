"""Compiles a student's kernel beside our host code, and runs it.

    kernel = build.Kernel(folder, source, out)      source: where her files are; out: a scratch folder
    kernel.compile(also=["sm_"])                    PTX, and also for these chips; raises build.Refused with
                                                    the compiler's words
    kernel.run(*options)                            a finished process: returncode, stdout, stderr
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

import screen
from lab_folder import ROOT

BUILD = ROOT / os.environ.get("BUILD", "build")


class Refused(Exception):
    """One line: what is wrong and what to do."""


def waiting(what):
    """On a terminal, what is waited for, until the next line, which is longer, takes its place."""
    if sys.stdout.isatty():
        print(f"...  {what}", end="\r", flush=True)


def scratch(lab, source, what=""):
    """Where a student's kernel is compiled: a folder of build/ named after hers. nvcc reads no -I with a quote in it."""
    return BUILD / "labs" / str(lab) / (what + re.sub(r"[^\w.-]", "-", source.resolve().name))


def nvcc():
    found = os.environ.get("NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    wheels = sorted(ROOT.glob(".venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc"))
    return found if shutil.which(found) or not wheels else str(wheels[0])


class NoGpu(Refused):
    """There is none that a stage runs on."""


def gpu_wanted(device):
    """Of --device: whether a GPU is to be tried. For auto a driver that knows of none, or of one too old, raises NoGpu later."""
    return device == "cuda" or device == "auto" and shutil.which("nvidia-smi") is not None


class Kernel:
    def __init__(self, folder, source, out):
        self.folder, self.source, self.out = folder, pathlib.Path(source), pathlib.Path(out)
        self.stage = folder.program
        self.program = self.out / self.stage

    def file(self, path):
        """A student's file for one of the lab's."""
        return self.source / path.name

    def present(self):
        for path in map(self.file, self.folder.files):
            if not path.exists():
                raise Refused(f"{shown(path)} is missing: `make {self.folder.goal}` makes it")
            if not path.is_file():
                raise Refused(f"{shown(path)} is no file, but a folder or something else: move it away, and `make {self.folder.goal}` makes the file")

    def compile(self, also=()):
        program = BUILD / self.stage
        if not program.exists():
            raise Refused(f"{self.stage} is not built: run `make {self.stage}` first")
        self.present()
        images = self.out / "images" / self.stage
        try:
            shutil.rmtree(self.out, ignore_errors=True)
            self.out.mkdir(parents=True)
            images.mkdir(parents=True)
            os.link(program, self.program)  # a program looks for its images beside itself
            self._shadow()
        except OSError as why:
            raise Refused(f"cannot write to {shown(self.out)}: {'it cannot be emptied' if self.out.exists() else why.strerror}; make it writable")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for problem in pool.map(lambda job: self._image(images, *job),
                                    [(image, arch) for image in self.folder.images for arch in self._archs(also)]):
                if problem:
                    raise Refused(problem)

    def _archs(self, also):
        return [arch for arch in self.folder.archs if arch.startswith(("compute", *also))]

    def _shadow(self):
        """Includes by path, "stages/...", find her files first."""
        for path in self.folder.files[1:]:
            shadow = self.out / "include" / path
            shadow.parent.mkdir(parents=True)
            shadow.write_text(f'#include "{self.file(path).resolve()}"\n')

    def _image(self, images, image, arch):
        kind = "ptx" if arch.startswith("compute") else "cubin"
        folders = dict.fromkeys(str(path.parent) for path in self.folder.files)
        done = subprocess.run(
            [nvcc(), "-std=c++17", "-lineinfo", "-w", f"-{kind}", f"-arch={arch}", *self.folder.flags(image),
             f"-I{shown(self.out / 'include')}", "-I.", f"-I{BUILD / 'include'}", *(f"-I{folder}" for folder in folders),
             *["-MD", "-MF", self.rule] * (kind == "ptx" and image == self.folder.images[0]), "-o", str(images / f"{image}.{arch}.{kind}"), shown(self.file(self.folder.files[0]))],
            cwd=ROOT, capture_output=True, text=True)
        said = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()[-1:]
        return "it does not compile:\n  " + "\n  ".join(said[:5]).replace(f"{ROOT}/", "") if done.returncode else None

    @property
    def rule(self):
        """A makefile's rule: what the compiler read."""
        return self.out / "read.d"

    def includes_allowed(self):
        """Raises screen.Rejected if her files include what is not there when they are graded. An exam's page may include any header."""
        if self.folder.blank:
            return
        given = {(ROOT / path).resolve() for path in screen.headers(self.folder)} | {self.file(path).resolve() for path in self.folder.files}
        for name in screen.dependencies(self.rule.read_text()):
            path = (ROOT / name).resolve()
            hers = path.is_relative_to(self.source.resolve())
            ours = path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / ".venv") and not path.is_relative_to(BUILD)
            if path not in given and (hers or ours):
                raise screen.Rejected(f"it includes {path.name}, which is not there then: put what you need of it into {self.folder.files[0].name}")

    def run(self, *options, **more):
        return run(self.program, *options, **more)


def run(program, *options, limit=60):
    """A finished process; status 124: it did not end within `limit` s."""
    try:
        done = subprocess.run([program, *map(str, options)], cwd=ROOT, capture_output=True, text=True, timeout=limit)
        if "cuda" in options and done.returncode in (3, 77):
            raise NoGpu(done.stderr.strip().split("; ")[0])
        return done
    except subprocess.TimeoutExpired as late:
        said = (late.stderr or b"").decode(errors="replace")
        return subprocess.CompletedProcess(late.cmd, 124, "", f"{said}\nit did not end within {limit} s")


def shown(path):
    """A path as a reader would type it, from the repository's root."""
    path = pathlib.Path(path).resolve()
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
