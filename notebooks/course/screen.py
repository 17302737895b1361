"""What a submission may not have. The grader asks it of what the emulator has parsed, a student's check of the PTX's text.

    refuse(given, ours)     raises Rejected, in one sentence; both are facts as below, of a student's kernel and of ours
    facts(ptx)              {"kernels", "variables", "specials", "calls", "products", "refused"} of PTX as nvcc writes it
    bare(ptx, names)        the PTX without those of these variables that nothing refers to
    dependencies(rule)      what nvcc has read, by the rule that it writes
    headers(lab)            the files of the repository that a lab's kernel may include
"""
import functools
import pathlib
import re

import lab_folder

SPECIAL = {"tid", "ntid", "ctaid", "nctaid", "laneid", "warpid", "nwarpid", "lanemask_eq", "lanemask_lt",
           "lanemask_le", "lanemask_gt", "lanemask_ge", "dynamic_smem_size", "total_smem_size", "clusterid",
           "nclusterid", "cluster_ctaid", "cluster_nctaid", "cluster_ctarank", "cluster_nctarank",
           "is_explicit_cluster"}
OTHERS = r"%((?:clock|globaltimer|envreg|pm\d|current_graph|reserved_smem)\w*|n?smid|gridid|aggr_smem_size)\b"  # specials of no list above
NOT_FP16 = r"\bw?g?mma\.(?:mma_async\.|mma\.|sync\.)[\w.:]*(\.f64|\.tf32|\.bf16|\.e4m3|\.e5m2|\.s8|\.u8|\.s4|\.u4|\.b1)\b"


class Rejected(Exception):
    """Why this submission cannot be graded: one sentence; file and line where there are any. kind: of forbidden means, if it is one."""

    def __init__(self, why, file=None, line=None, kind=""):
        super().__init__(why)
        self.file, self.line, self.kind = file, line, kind


def written(name):
    """What the source calls it: the last word of a mangled name."""
    words, at = [], 0
    while name.startswith("_Z") and (length := re.compile(r"\d+").search(name, at)):
        at = length.end() + int(length[0])
        words.append(name[length.end():at])
    return words[-1] if words and words[-1] else name


def refuse(given, ours):
    """State that outlives a launch, calls out of the kernel, clocks, products of numbers that the lab does not have. Further
    kernels are no harm: no host code launches them."""
    def more(what):
        return sorted(set(given[what]) - set(ours[what]))
    for name in sorted(set(ours["kernels"]) - set(given["kernels"])):
        raise Rejected(f"there is no kernel {name}: keep its name, and extern \"C\"")
    for name, why in given["refused"].items():
        if name in ours["kernels"]:
            raise Rejected(f"kernel {name} cannot run: {why}")
    for name in more("calls"):
        raise Rejected(f"the kernel calls {name}, which is not there: leave the call out", kind="calls out of the kernel")
    for name in more("variables"):
        raise Rejected(f"{written(name)} is a variable in global memory, which would outlive the launch: make it __constant__, "
                       "or __shared__", kind="memory that outlives a launch")
    for name in more("products"):
        raise Rejected(f"the kernel multiplies by {name}: tensor cores are to multiply fp16 alone", kind="products of other numbers")
    for kernel, read in given["specials"].items():  # a kernel that knows how it is run could behave well only then
        for name in sorted(set(read) - set(ours["specials"].get(kernel, []))):
            if name.strip("%").split(".")[0] not in SPECIAL:
                raise Rejected(f"kernel {written(kernel)} reads {name}: it may not know when, where and how often it runs",
                               kind="clocks and places read")


def _declaration(name):
    return re.compile(rf"^[ \t]*(?:\.\w+[ \t]+)*\.global\b[^;]*?(?<![\w$]){re.escape(name)}(?![\w$])[^;]*;[ \t]*\n", re.M)


def bare(ptx, names):
    """Headers of the toolkit declare variables that no code refers to; what nothing names, nothing keeps."""
    for name in names:
        if len(re.findall(rf"(?<![\w$]){re.escape(name)}(?![\w$])", ptx)) == 1:
            ptx = _declaration(name).sub("", ptx)
    return ptx


def facts(ptx):
    ptx = re.sub(r"^\.global [^;=]*(?:\$str|__unnamed_)[\w$]*\[[^;]*;\n", "", ptx, flags=re.M)  # what printf and assert print
    variables = re.findall(r"^[ \t]*(?:\.\w+[ \t]+)*\.global\b(?:[ \t]+\.(?:align[ \t]+\d+|\w+))*[ \t]+([\w$]+)", ptx, re.M)
    kept = bare(ptx, variables)
    parts = re.split(r"\.entry\s+([\w$]+)", re.sub(r"//.*", "", kept))
    specials = {kernel: [f"%{name}" for name in re.findall(OTHERS, body)] for kernel, body in zip(parts[1::2], parts[2::2])}
    functions = set(re.findall(r"\.func\b(?:\s*\([^)]*\))?\s*([\w$]+)[^;{]*\{", kept))
    called = set(re.findall(r"\bcall(?:\.uni)?\s*(?:\([^)]*\),\s*)?([A-Za-z_$][\w$]*)\s*,", kept))
    return {"kernels": parts[1::2], "variables": [name for name in variables if re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", kept)],
            "specials": specials, "calls": sorted(called - functions - {"vprintf", "__assertfail"}),
            "products": [match[0] for match in re.finditer(NOT_FP16, kept)], "refused": {}}


def dependencies(rule):
    """The files of a rule that nvcc -MD has written, without its target. It writes a space in a name as "\\ "."""
    words = re.findall(r"(?:\\.|\S)+", rule.replace("\\\n", " ").partition(" : ")[2])
    return [pathlib.Path(re.sub(r"\\(.)", r"\1", word)) for word in words]


@functools.cache
def _included(path):
    """Files of the repository that one includes, and those that they include."""
    found = {path}
    for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', (lab_folder.ROOT / path).read_text(errors="replace"), re.M):
        for at in (path.parent / name, type(path)(name)):
            if (lab_folder.ROOT / at).exists():
                found |= _included(at)
                break
    return frozenset(found)


def headers(lab):
    return sorted(set().union(*map(_included, lab.files)) - set(lab.files))
