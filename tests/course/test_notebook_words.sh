#!/bin/bash
# What notebooks show: a comparison is a sentence to a reader and a number to nbgrader; every picture has an alt text; no text
# needs MathJax, so an exported page opens offline.
. tests/tap.sh
if [ ! -x .venv/bin/jupytext ]; then
    skip "notebooks" "no .venv/bin/jupytext; make setup installs it"
    tap_done
fi
points() {
    .venv/bin/python - << 'END'
import sys
sys.path.insert(0, "notebooks/course")
from IPython.core.interactiveshell import InteractiveShell
import course
format = InteractiveShell.instance().display_formatter.format
for right, word in [(1, "1 point of 1"), (0, "No point yet")]:
    shown, _ = format(course.Points(right))
    assert shown["text/plain"] == str(right) and word in shown["text/html"] and sum([course.Points(right)]) == right, shown
END
}
check "a comparison shows a sentence; nbgrader reads a number" points

pictures() { # FILE...: calls of Image without an alt text, or with one that says nothing
    .venv/bin/python - "$@" << 'END'
import ast, sys
import jupytext
bad, n = [], 0
for name in sys.argv[1:]:
    for cell in jupytext.read(name).cells:
        if cell.cell_type != "code" or "Image(" not in cell.source:
            continue
        for call in ast.walk(ast.parse(cell.source)):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Image":
                n += 1
                alt = next((k.value for k in call.keywords if k.arg == "alt"), None)
                if alt is None or len(ast.unparse(alt)) < 30:
                    bad.append(f"{name}: {ast.unparse(call)[:80]}")
print("\n".join(bad))
assert n and not bad, n
END
}
check "every picture of a notebook has an alt text" pictures notebooks/*.ipynb
bare() { sed 's/, alt=\\"[^\\]*\\"//' notebooks/1-*.ipynb > "$tap_dir/1.ipynb" && ! pictures "$tap_dir/1.ipynb"; }
check "one without is found" bare
formulas() { # FILE...: texts with a formula, which would have MathJax fetched
    .venv/bin/python - "$@" << 'END'
import sys
import jupytext
bad = [f"{name}: {line}" for name in sys.argv[1:] for cell in jupytext.read(name).cells if cell.cell_type == "markdown"
       for line in cell.source.splitlines() if "$" in line]
print("\n".join(bad))
assert not bad
END
}
check "no text has a formula for MathJax, so an exported page opens offline" formulas notebooks/*.ipynb
with_one() { sed 's/Q K^T/$QK^T$/' notebooks/2-*.ipynb > "$tap_dir/2.ipynb" && ! formulas "$tap_dir/2.ipynb"; }
check "one with a formula is found" with_one
taken() { .venv/bin/python -c 'from IPython.display import Image; i = Image(data=b"\x89PNG\r\n\x1a\n" + bytes(40), format="png", alt="words"); assert i._repr_mimebundle_()[1]["image/png"]["alt"] == "words" if hasattr(i, "_repr_mimebundle_") and i.embed else i.alt == "words"'; }
check "IPython takes alt texts" taken
rounds() { # the answer that the timeline shows is right, a part of a round is not
    .venv/bin/python -c '
import sys
sys.path.insert(0, "notebooks/course")
import answers
tolerance = answers.questions(6)["rounds"][1]
assert answers.is_right(6, "rounds", 3, tolerance) and not answers.is_right(6, "rounds", 16 * 22 / 132, tolerance)'
}
check "lab 6: three rounds, as the timeline shows" rounds
tap_done
