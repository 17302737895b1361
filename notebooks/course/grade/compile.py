"""A student's files to PTX, with fixed flags, in a sandbox: no host code is compiled, assembled or run.

    images(lab, files, out)     PTX (and cubins for a GPU) into OUT/stages' images folder; raises Rejected

What the sandbox shows: the toolkit, the headers that our own kernel includes and that are no part of a lab's
answer, and the student's files under the names of ours."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import sandbox  # noqa: E402
from screen import Rejected, bare, dependencies, refuse  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
BYTES = 256 << 10                     # of one file
PTX_BYTES = 24 << 20
QUIET = """#include <cstdio>
template <class... T> static __host__ __device__ __forceinline__ int leave_unprinted(T...) { return 0; }
namespace std {
using ::leave_unprinted;
}
#define printf leave_unprinted
"""   # included before a submission: printf costs nothing; NDEBUG takes out assert
SECONDS, MEGABYTES = 40, 6144         # of one image: CPU time, written memory


def toolkit():
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not pathlib.Path(nvcc).exists():
        found = sorted(ROOT.glob(".venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc"))
        if not found:
            raise sandbox.Refused("no nvcc here: make setup installs it")
        nvcc = found[0]
    return pathlib.Path(nvcc).resolve().parent.parent


def take(given, lab):
    """{path in the repository: text} of a submission: a file, or a folder with files named as the lab's."""
    given = pathlib.Path(given)
    names = {file.name: file for file in lab.files}
    if given.is_dir():
        paths = {names[path.name]: path for path in sorted(given.iterdir()) if path.name in names}
    else:
        paths = {names.get(given.name, lab.files[0]): given}
    missing = [str(file.name) for file in lab.files if file not in paths]
    if missing:
        raise Rejected(f"{lab.name} is made of {' and '.join(names)}: {' and '.join(missing)} is missing")
    taken = {}
    for file, path in paths.items():
        if path.is_symlink() or not path.is_file():
            raise Rejected(f"{path.name} is no ordinary file", path.name)
        data = path.read_bytes() if path.stat().st_size <= BYTES else None
        if data is None:
            raise Rejected(f"{path.name} has {path.stat().st_size} bytes: {BYTES} at most", path.name)
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise Rejected(f"{path.name} is not text", path.name)
        if "\0" in text:
            raise Rejected(f"{path.name} is not text", path.name)
        taken[file] = text
    return taken


def headers(lab):
    """Files of the repository that our kernel of this lab includes, the lab's own left out."""
    found = set()
    for image in lab.images:
        for rule in (ROOT / "build" / lab.built).glob(f"{image}.compute_*.ptx.d"):
            first = rule.read_text().split("\n\n")[0]
            rule_part = re.split(r"\n(?=\S+:)", first)[0]
            found |= {path for path in dependencies(rule_part) if not path.is_absolute()}
    if not found:
        raise sandbox.Refused(f"our own kernel is not built: make {lab.goal}")
    return sorted(found - set(lab.files))


def _tree(lab, files, at):
    (at / "quiet").write_text(QUIET)
    for header in headers(lab):
        (at / header).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / header, at / header)
    for file, text in files.items():
        (at / file).parent.mkdir(parents=True, exist_ok=True)
        (at / file).write_text(text)


def _first_error(text, names):
    """nvcc's first complaint: (sentence, file, line)."""
    for line in text.splitlines():
        match = re.match(r"(?:\./)?([^\s(:]+)[(:](\d+)\)?:?\s*(?:\d+:)?\s*(?:catastrophic |fatal )?error\s*:?\s*(?:#\S+\s*)?(.*)", line)
        if match:
            return match[3], match[1], int(match[2])
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return (lines[-1] if lines else "nvcc says nothing"), None, None


def facts(lab, ptx):
    """What the emulator finds in a PTX file (facts.c): {"kernels", "variables", "specials", "calls", "products", "refused"}."""
    program = ROOT / os.environ.get("BUILD", "build") / lab.trial
    if not program.exists():
        raise sandbox.Refused(f"{program.name} is not built: make {program.relative_to(ROOT)}")
    done = sandbox.run([f"/{lab.trial}", "facts", f"/{ptx.name}"], {program: f"/{lab.trial}", ptx: f"/{ptx.name}"}, {},
                       SECONDS, MEGABYTES, calls="trial")
    if done.status:
        raise Rejected(f"its PTX is not understood: {done.killed or done.crashed or done.err.strip()}")
    return json.loads(done.out)


def _screen(lab, ptx, ours):
    """What is left of a PTX file has nothing that a submission may not have."""
    given, text = facts(lab, ptx), ptx.read_text()
    if (kept := bare(text, given["variables"])) != text:
        ptx.write_text(kept)
        given = facts(lab, ptx)
    refuse(given, facts(lab, ours))


def images(lab, files, out, cubin=None):
    """Compiles every image of the lab into OUT; `cubin`: also for this chip, 'sm_90a'."""
    cuda, arch = toolkit(), lab.architecture
    kernel = next(file for file in lab.files if file.suffix == ".cu")
    with tempfile.TemporaryDirectory(prefix="grade-") as folder:
        tree, made = pathlib.Path(folder) / "tree", pathlib.Path(folder) / "made"
        tree.mkdir(), made.mkdir()
        _tree(lab, files, tree)
        for image in lab.images:
            ptx = made / f"{image}.{arch}.ptx"
            words = ["/cuda/bin/nvcc", "-std=c++17", "-lineinfo", "-DNDEBUG", "-include", "quiet", "-I.", "-Ibuild/include", *lab.flags(image), "-ptx",
                     f"-arch={arch}", "-MD", "-MF", f"/made/{image}.d", "-o", f"/made/{ptx.name}", str(kernel)]
            done = sandbox.run(words, {tree: "/tree", cuda: "/cuda"},
                               {ptx: f"/made/{ptx.name}", made / f"{image}.d": f"/made/{image}.d"}, SECONDS, MEGABYTES, "/tree")
            if done.killed:
                raise Rejected(f"it does not compile: {done.killed}")
            if "died due to signal" in done.err:
                raise Rejected(f"it does not compile in {SECONDS} s and {MEGABYTES} MB")
            if done.status or not ptx.exists():
                raise Rejected(*_first_error(done.err + done.out, files))
            _read_only_allowed(made / f"{image}.d", tree, cuda)
            if ptx.stat().st_size > PTX_BYTES:
                raise Rejected(f"its PTX has {ptx.stat().st_size >> 20} MB: {PTX_BYTES >> 20} at most")
            _screen(lab, ptx, ROOT / "build" / lab.built / ptx.name)
            if cubin:
                assemble(made, image, arch, cubin)
        for path in made.iterdir():
            if path.suffix in (".ptx", ".cubin") and path.is_file() and not path.is_symlink():
                shutil.copyfile(path, out / path.name)


def assemble(made, image, arch, chip):
    """The machine code of a PTX file in MADE, beside it: for this chip, 'sm_90a'."""
    ptx, cubin = f"{image}.{arch}.ptx", f"{image}.{chip}.cubin"
    done = sandbox.run(["/cuda/bin/ptxas", "-lineinfo", f"-arch={chip}", "-o", f"/made/{cubin}", f"/made/{ptx}"],
                       {toolkit(): "/cuda", made / ptx: f"/made/{ptx}"}, {made / cubin: f"/made/{cubin}"}, SECONDS, MEGABYTES)
    if done.status:
        raise Rejected(f"ptxas: {done.killed or (done.err.strip().splitlines() or ['no word'])[-1]}")


def _read_only_allowed(rule, tree, cuda):
    """What the compiler read: the tree and the toolkit and the system's headers. In a sandbox nothing else is there."""
    for path in dependencies(rule.read_text().split("\n\n")[0]):
        full = path if path.is_absolute() else tree / path
        if str(full).startswith(("/cuda/", "/tree/", "/usr/include/", "/usr/lib/", str(cuda) + "/", "/usr/local/cuda")):
            continue
        if not full.resolve().is_relative_to(tree.resolve()):
            raise Rejected(f"it includes {path}: only headers that the lab gives may be included", kind="files of others")
