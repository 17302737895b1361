"""asynchronous.py FILE.c...: functions whose names end in Async, and that neither ask whether their stream is captured
(graph_capturing) nor leave all to another such function. Prints lines `FILE: NAME`; exit status 1 if there are any."""
import re
import sys

HINTS = {"cudaMemPrefetchAsync", "cudaStreamAttachMemAsync"}  # they change nothing, captured or not


def functions(text):
    """(name, body) of each function whose name ends in Async; a macro's name has ## in it."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S).replace("\\\n", "\n")
    for head in re.finditer(r"([\w#]+Async)\([^(){};]*\)\s*\{", text):
        depth, at = 1, head.end()
        while depth and at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        yield head[1], text[head.end():at]


found = []
for path in sys.argv[1:]:
    for name, body in functions(open(path).read()):
        if name not in HINTS and not re.search(r"\bgraph_capturing\(|\b\w+Async\(", body):
            found.append(f"{path}: {name}")
print("\n".join(found))
sys.exit(bool(found))
