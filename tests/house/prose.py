"""prose.py FILE...: READMEs and notes that are too long, have many numbers, or tell history where a reader wants to know
how things are. Prints a line for each; exit status 1 if there are any. Words and numbers of tables count, code blocks do not.

records/history may be long and tell history: nothing in it is looked at."""
import re
import sys

HISTORY = re.compile(r"\b(since then|these records|turned out|used to be|no longer|at first we|earlier run|last time|anymore|"
                     r"frozen for the|as of today|by now|since these)\b", re.I)
MOST_NUMBERS = 5  # in 100 words, where prose has them; in tables they are the point


def most_words(path):
    """A stage explains a kernel, and a glossary is looked up, not read."""
    if path == "README.md":
        return 500
    return 700 if re.fullmatch(r"stages/\d-[^/]+/README\.md", path) else 800 if path == "GLOSSARY.md" else 600


def counts_numbers(path):
    """A stage's README has the arithmetic of its stage, and notes are about numbers."""
    return path.endswith("README.md") and not path.startswith("stages/")


def words_of(text):
    return re.findall(r"\b[A-Za-z][A-Za-z'-]+", text)


def numbers_of(text):
    return re.findall(r"(?<![\w./-])\d+(?:\.\d+)?(?![\w/-])", text)


def complaints(path, text):
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    bare = re.sub(r"\]\([^)]*\)", "]", text)                       # the targets of links
    words = len(words_of(bare))
    if words > most_words(path):
        yield f"{words} words; at most {most_words(path)}"
    lines = [line for line in bare.split("\n") if not re.match(r"\s*\||    |!\[|#", line)]
    prose = re.sub(r"`[^`]*`", "", "\n".join(lines))
    n, of = len(numbers_of(prose)), len(words_of(prose))
    if counts_numbers(path) and n > 8 and 100 * n > MOST_NUMBERS * of:
        yield f"{n} numbers in {of} words of prose; at most {MOST_NUMBERS} in 100"
    for number, line in enumerate(text.split("\n"), 1):
        if found := HISTORY.search(line):
            yield f"line {number} tells history: '{found[0]}'"


bad = False
for path in sys.argv[1:]:
    if "records/history/" not in path:
        for complaint in complaints(path, open(path).read()):
            print(f"{path}: {complaint}")
            bad = True
sys.exit(bad)
