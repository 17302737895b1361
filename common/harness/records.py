"""Files of records, JSON lines, for Python programs. A damaged line is named by file and number, and left out."""
import gzip
import json
import sys
import zlib

damaged = set()  # (file, number of the line) of all files


def read(path, program, whole=lambda record: None):
    """Yields the objects of a file, .gz too. whole(object) reads what the program will use of it, and raises KeyError and
    the like, or ValueError with a reason, if that is not there. Raises OSError."""
    try:
        with (gzip.open if str(path).endswith(".gz") else open)(path, "rt", encoding="utf-8", errors="replace", newline="\n") as f:
            for number, line in enumerate(f, 1):
                if not line.strip():
                    continue
                try:
                    record = json.loads(line)
                    if not isinstance(record, dict):
                        raise ValueError("no JSON object")
                    whole(record)
                except RecursionError:
                    why = "it nests too deep"
                except KeyError as e:
                    why = f"no {e.args[0]}"
                except (AttributeError, IndexError, TypeError) as e:
                    why = f"a value of another kind: {e}"
                except ValueError as e:
                    why = str(e)
                else:
                    yield record
                    continue
                if (path, number) not in damaged:
                    print(f"{program}: {path}:{number}: no whole record, left out ({why}); delete the line or record again", file=sys.stderr)
                damaged.add((path, number))
    except (EOFError, zlib.error) as e:
        raise OSError(5, f"its compressed data is damaged ({e})") from e


def status(strict):
    """The exit status of a program that has printed what it could."""
    return 5 if strict and damaged else 0
