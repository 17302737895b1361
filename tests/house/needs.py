"""needs.py [--write]: each .cuh that a stage's kernel includes as text says, in its first comment, what it needs from the files
before it: ` * Needs NAME NAME from FILE.` Prints the lines that are missing or wrong; --write puts them there."""
import glob
import re
import sys
import textwrap


def bare(path):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", open(path).read(), flags=re.S)


def defined(text):
    names = set(re.findall(r"constexpr [\w ]+?\b([A-Z][A-Z0-9_]+)\b\s*=", text)) | set(re.findall(r"#\s*define\s+([A-Z]\w+)", text))
    names |= set(re.findall(r"\bstruct (\w+) \{", text)) | set(re.findall(r"__device__[^(;{]*?\b(\w+)\(", text))
    return names


def needs(folder):
    """{path of a .cuh: {file: names}}"""
    files = [f"{folder}/tile.h", *sorted(glob.glob(f"{folder}/*.cuh")), f"{folder}/kernel.cu"]
    where = {}
    for path in files:
        for name in defined(bare(path)):
            where.setdefault(name, path)
    found = {}
    for path in files:
        if path.endswith(".cuh"):
            used = {}
            for name in set(re.findall(r"\b\w+\b", bare(path))) & set(where):
                if where[name] != path and (len(name) > 3 or name.isupper()):
                    used.setdefault(where[name].rpartition("/")[2], []).append(name)
            found[path] = used
    return found


def sentence(used):
    parts = [f"{', '.join(sorted(names))} from {file}" for file, names in sorted(used.items())]
    return f"Needs {'; '.join(parts)}." if parts else "Needs nothing from other files."


bad = False
for folder in sorted({path.rpartition("/")[0] for path in glob.glob("stages/*/*.cuh")}):
    for path, used in needs(folder).items():
        text, wanted = open(path).read(), sentence(used)
        head = text[:text.index("*/")]
        said = re.sub(r"\s*\n \*\s*", " ", head)
        if wanted in said:
            continue
        bad = True
        if "--write" in sys.argv:
            head = re.sub(r"\n \*\n \* Needs .*\Z", "", head.rstrip(), flags=re.S)
            lines = textwrap.wrap(wanted, 95)
            text = head + "\n *\n" + "\n".join(" * " + line for line in lines) + " " + text[text.index("*/"):]
            open(path, "w").write(text)
        else:
            print(f"{path}: its first comment does not say: {wanted}")
sys.exit(bad and "--write" not in sys.argv)
