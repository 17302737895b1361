"""Modifier orders: which spellings of the emulator's instruction forms ptxas takes.

    tests/golden/orders.py draw SEED FORMS ORDERS   asks ptxas: FORMS of the form tables, each with modifiers drawn
                                             and in up to ORDERS orders; prints a line for each that it takes
    tests/golden/orders.py module FILE              a PTX module of one kernel with the lines of FILE

A line is an instruction: "ld.nc.global.f32 %r0, [%l0];". tests/golden/test_orders.sh gives them to the front end.
"""
import itertools, os, random, re, subprocess, sys, tempfile

HEAD = """.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .b16 %h<64>;
.reg .b32 %r<160>;
.reg .b64 %l<64>;
.reg .pred %p<8>;
.shared .align 16 .b8 smem[1024];
"""
FOOT = "L0:\nret;\n}\n"


def forms():
    """(pattern, operands) of the form tables."""
    text = '#include "emulator/front/form_lists.h"\n#define FORM(p, o, ...) @ p ~ o @\n#define SELECT FORM\n'
    text += '#include "emulator/front/forms_scalar.def"\n#include "emulator/front/forms_tensor.def"\n'
    out = subprocess.run(["cpp", "-P", "-I."], input=text, capture_output=True, text=True, check=True).stdout
    for form in re.findall(r"@(.*?)@", out, re.S):
        pattern, operands = form.split("~")
        yield ["".join(re.findall(r'"(.*?)"', part)) for part in (pattern, operands)]


def slots(pattern):
    """The head, then a list of alternatives for each modifier; '' where it may be absent."""
    parts = re.findall(r"\{[^}]*\}|\.?(?:[^.{(]|\([^)]*\))+", pattern)
    for part in parts:
        if part[0] == "{":
            yield [""] + [a[1:] for a in part[1:-1].split("|")]
        else:
            pieces = re.split(r"(\([^)]*\))", part.lstrip("."))
            yield ["".join(c) for c in itertools.product(*[p[1:-1].split("|") if p[:1] == "(" else [p] for p in pieces])]


BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}


def operand(token, last, four, group, number):
    """One operand's text; four: what a width of 4 is here (h or r); group: registers of a {group}."""
    role, width = token.lstrip("?")[0], token.lstrip("?")[1:2]
    size = {"8": "l", "4": four, "p": "p"}.get(width, {8: "l", 2: "h", 1: "h"}.get(last, "r"))
    if role == "a":
        return "[smem]" if group == "shared" else f"[%l{number}]"
    if role == "c":
        return "[%l" + str(number) + ", {" + ",".join(f"%r{n}" for n in range(group)) + "}]"
    if role == "i":
        return str({"4": 16}.get(width, 1))
    if role in "DS":
        names = [f"%{size}{(number * 16 + n) % 60}" for n in range(group)]
        return names[0] if group == 0 else "{" + ",".join(names) + "}"
    if role == "l":
        return "L0"
    return f"%{size}{number}"


def instructions(opcode, signature):
    """Ways to write the operands: ptxas knows which is right."""
    kinds = re.findall(r"\.(?:[busf]|bf|tf)(8|16|32|64)(x2)?(?=\.|$)", opcode)
    last = 4 if not kinds else BYTES[kinds[-1][0]] * (2 if kinds[-1][1] else 1)
    tokens = signature.split()
    needed = [t for t in tokens if not t.startswith("?")]
    n_optional = tokens.index(next(t for t in tokens if t[0] == "?")) if len(needed) < len(tokens) else len(tokens)
    rank = int(m.group(1)) if (m := re.search(r"\.(\d)d\b", opcode)) else 0
    vector = int(m.group(1)) if (m := re.search(r"\.v(\d)\b", opcode)) else 1
    for four in "rh":
        groups = [t for t in tokens[:n_optional] if t[0] in "DS"]
        many = [(1, 2, 4, 8)] * len(groups) if vector == 1 and groups else [(vector,)] * len(groups)
        if re.match(r"ld|st\.|st$|red", opcode.split(".")[0]) and vector == 1:
            many = [(1,)] * len(groups)
        for sizes in itertools.product(*many):
            texts, size = [], iter(sizes)
            for n, token in enumerate(tokens[:n_optional]):
                if token.lstrip("?")[0] in "LC" or token[0] in "mM":
                    return
                group = next(size) if token[0] in "DS" else rank if token[0] == "c" else 0
                text = operand(token, last, four, group, n)
                if group == 1 and vector == 1 and re.match(r"ld|st", opcode):
                    text = text.strip("{}")
                texts.append(text)
            yield opcode + " " + ", ".join(texts) + ";"


def taken(lines):
    """Those of the lines that ptxas takes."""
    lines = list(dict.fromkeys(lines))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.ptx")
        while lines:
            with open(path, "w") as f:
                f.write(HEAD + "\n".join(lines) + "\n" + FOOT)
            r = subprocess.run([os.environ.get("PTXAS", "ptxas"), "-arch=sm_90a", "-O0", "-o", os.path.join(folder, "k"), path],
                               capture_output=True, text=True)
            first = HEAD.count("\n") + 1
            bad = {int(n) - first for n in re.findall(r"line (\d+); (?:error|fatal)", r.stdout + r.stderr)}
            if not bad:
                return lines if r.returncode == 0 else []
            lines = [l for n, l in enumerate(lines) if n not in bad]
    return []


def draw(rng, n_forms, n_orders):
    chosen = list(forms())
    if n_forms < len(chosen):
        chosen = rng.sample(chosen, n_forms)
    tries = []
    for pattern, signature in chosen:
        for _ in range(3 + 3 * pattern.count("{")):
            # most modifiers exclude each other: optional ones are seldom there
            words = [rng.choice(s) for s in slots(pattern) if s[0] or rng.random() < 0.4]
            words = [w for w in words if w]
            tries += [(words, line) for line in instructions(".".join(words), signature)]
    good = set()
    for at in range(0, len(tries), 400):
        good |= set(taken([line for _, line in tries[at:at + 400]]))
    seen, orders = set(), []
    for words, line in tries:
        if line not in good or ".".join(words) in seen:
            continue
        seen.add(".".join(words))
        rest = line[line.index(" "):]
        ways = list(itertools.permutations(words[1:])) if len(words) < 6 else [
            tuple(rng.sample(words[1:], len(words) - 1)) for _ in range(4 * n_orders)]
        rng.shuffle(ways)
        orders += [line] + [".".join((words[0],) + w) + rest for w in ways[:4 * n_orders]]
    kept, count = [], {}
    for at in range(0, len(orders), 400):
        for line in taken(orders[at:at + 400]):
            key = tuple(sorted(line.split(" ")[0].split(".")))
            count[key] = count.get(key, 0) + 1
            if count[key] <= n_orders:
                kept.append(line)
    return kept


if __name__ == "__main__":
    if sys.argv[1] == "draw":
        print("\n".join(draw(random.Random(int(sys.argv[2])), int(sys.argv[3]), int(sys.argv[4]))))
    else:
        print(HEAD + "".join(l for l in open(sys.argv[2]) if l[0] != "#") + FOOT)
