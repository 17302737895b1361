"""chip_numbers.py ALLOWED FILE...: numbers in C that may be a chip's, and are not in ALLOWED. Exit 1 if there is one.

A number counts if it has a fraction or an exponent, or is an integer larger than 4. Comments and strings do not count. A line
of ALLOWED is FILE, NUMBER as it is written, how often the file has it, and why it is no number of a chip."""
import collections, os, re, sys

NUMBER = re.compile(r"(?<![\w.])(0[xX][0-9a-fA-F]+|\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+)[uUlLfF]*(?![\w.])")
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def numbers(path):
    """(number as written, line) of each that counts."""
    with open(path) as f:
        code = NOT_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), f.read())
    for n, line in enumerate(code.split("\n"), 1):
        for text in NUMBER.findall(line):
            fraction = not text[:2].lower() == "0x" and re.search(r"[.eE]", text)
            if fraction or int(text, 0) > 4:
                yield text, n


def allowed(path):
    with open(path) as f:
        rows = [line.split(None, 3) for line in f if line.strip() and line[0] != "#"]
    return {(row[0], row[1]): int(row[2]) for row in rows if row[3]}


def main():
    allow, bad = allowed(sys.argv[1]), 0
    for path in sys.argv[2:]:
        name, found = os.path.basename(path), collections.defaultdict(list)
        for text, n in numbers(path):
            found[text].append(n)
        for text, lines in found.items():
            expected = allow.get((name, text), 0)
            if len(lines) != expected:
                bad = 1
                print(f"{path}:{','.join(map(str, lines))}: {text} stands {len(lines)} times, allowed are {expected}: "
                      "a number of a chip belongs into chips/NAME.txt, any other into tests/house/chip_numbers.txt with its reason")
        for (file, text), expected in allow.items():
            if file == name and text not in found:
                bad = 1
                print(f"tests/house/chip_numbers.txt: {name} has no {text}")
    sys.exit(bad)


if __name__ == "__main__":
    main()
