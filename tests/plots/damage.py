"""Puts damaged lines into a file of records: damage.py FILE [KEY...] > DAMAGED 2> NUMBERS.

Writes the first half of FILE's lines, the damaged ones and the rest to stdout, and the numbers of the damaged ones to
stderr. KEY: a value that the reader uses; lines without it and with other kinds of it are damaged, too."""
import gzip
import json
import sys

with (gzip.open if sys.argv[1].endswith(".gz") else open)(sys.argv[1], "rb") as f:
    lines = f.read().splitlines()
half = len(lines) // 2
whole = json.loads(lines[half])
bad = [
    lines[half][:len(lines[half]) // 2],       # a kill cut it
    b"[1, 2]", b"3", b"null", b'"text"',       # JSON, but no object
    bytes(range(256)).replace(b"\n", b"") * 4,  # no text
    b"x" * (1 << 20),                          # 1 MB
    b'{"a": "' + b"y" * (1 << 20),             # 1 MB of an object
    b"[" * 100000,                             # deeper than a parser's stack
    b'{"schema": 1',
]
for key in sys.argv[2:]:
    bad += [json.dumps({**whole, key: value}).encode() for value in (None, "x", [3])]
    bad.append(json.dumps({k: v for k, v in whole.items() if k != key}).encode())
out = lines[:half] + bad + lines[half:]
sys.stdout.buffer.write(b"\n".join(out) + b"\n")
for n in range(len(bad)):
    print(half + n + 1, file=sys.stderr)
