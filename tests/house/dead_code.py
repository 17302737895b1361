"""dead_code.py fields FILE...: members of structs that no code names besides their declaration.
dead_code.py functions FILE...: functions that a header declares and nothing calls.
Prints lines `FILE: NAME`; exit status 1 if there are any."""
import collections
import re
import sys


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def fields(paths):
    """(path, name) of each member of a struct or union."""
    for path in paths:
        text = without_comments(open(path, errors="replace").read())
        for body in re.findall(r"\b(?:struct|union)(?: \w+)? \{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}", text):
            for line in re.sub(r"^ *#.*$", "", body, flags=re.M).split(";"):
                if "(" in line:
                    names = re.findall(r"\(\*(\w+)\)\(", line)
                else:
                    names = [re.split(r"[\[:=]", part)[0].split()[-1].lstrip("*") for part in line.split(",")
                             if re.split(r"[\[:=]", part)[0].split()]
                for name in names:
                    if re.fullmatch(r"[a-z_]\w*", name):
                        yield path, name


def dead_fields(paths):
    words = collections.Counter()
    for path in paths:
        words.update(re.findall(r"\b[a-z_]\w*\b", without_comments(open(path, errors="replace").read())))
    declared = collections.Counter(name for _, name in fields(paths))
    return sorted({f"{path}: {name}" for path, name in fields(paths) if words[name] <= declared[name] and not name.startswith("reserved")})


def dead_functions(paths):
    """Functions that headers declare and nothing calls: named by their declaration and their definition alone."""
    texts = {path: without_comments(open(path, errors="replace").read()) for path in paths}
    words = collections.Counter()
    for text in texts.values():
        words.update(re.findall(r"\b[a-z_]\w*\b", text))
    declared = [(path, name) for path, text in texts.items() if path.endswith(".h")
                for name in re.findall(r"^(?!static|typedef|#|return)\w[\w *]*?\b([a-z_]\w*)\([^{};]*\);", text, re.M)]
    return sorted(f"{path}: {name}" for path, name in declared if words[name] <= 2 and not name.startswith("option_"))  # option_NAME: by a macro


found = {"fields": dead_fields, "functions": dead_functions}[sys.argv[1]](sys.argv[2:])
print("\n".join(found))
sys.exit(bool(found))
