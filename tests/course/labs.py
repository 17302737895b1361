"""The labs' own kernels and mistakes, as a table: labs.py [all] LAB...; $DEVICE: emu (default) or cuda; $J at a time

    RESULT<tab>LAB<tab>WHAT<tab>HOW IT WENT      RESULT is ok or not
    #| ...                                       the same by lab and kind, at the end

For each lab: the skeleton compiles, and the check says what is to be written; the solution passes; every
mistake of notebooks/course/N/mistakes (without `all`: two a lab) is refused with its own hint, which no other has and which
begins with what was seen; wrong kernels of no list (EVIDENCE) get a hint that stops at the evidence."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, "notebooks/course")
import build
import lab_folder
import mistakes
import start

os.environ["OMP_NUM_THREADS"] = "1"  # as many checks at a time as there are cores
DEVICE = os.environ.get("DEVICE") or "emu"
OUT = build.BUILD / "labs" / "test"
SLOW = r"s/^( *)(float s_frag\[.*)/\1int at = 0;\n#pragma unroll 1\n\1for (int w = 0; w < 200; w++) " \
       r"at = *(const unsigned short *)(args.q + at % 8);\n\1if (at == 65535) return;\n\1\2/"

LAB_6 = "/BEGIN SOLUTION lab-6: S of/,/END/"
# Wrong kernels of no list: (lab, what, edit, what the hint says, what it must not say).
EVIDENCE = [
    (1, "three keys past the end", r"s/n_visible = args\.seqlen_k - kv0;/n_visible = args.seqlen_k - kv0 + 3;/", r"P is not 0 for keys that a row may not see: look at line 111",
     r"right up to P"),
    (6, "the turn is not taken", LAB_6 + "{/take_turn/d}", r"barrier 1: 224 of 256 threads have arrived", r"K's stages|phases"),
    (6, "full wants 128 arrivals", r"s/(mbarrier_init\(smem_address\(&[kv]_full\[s\]\)), 1\)/\1, 128)/", r"k_full\[0\]: phase 0, 127 of 128 arrivals missing.*mbarrier_init",
     r"Nothing is ever loaded"),
    (6, "V at K's stage", LAB_6 + r"{s/v_desc, v\.stage \* KV/v_desc, k.stage * KV/}", r"v_full\[1\] writes.*the stage you meant", r"has another tile by now"),
    (6, "the producer waits for full", r"s/wait\(&r\.empty\[r\.stage\], r\.parity\)/wait(\&r.full[r.stage], r.parity)/", r"the TMA load of k_full\[0\] writes", r"K's stages turn"),
    (6, "P V before Q K", LAB_6 + r"{/issue_qk/d; s/^( *)issue_pv.*/&\n\1issue_qk(s_frag, q_desc, gmma_desc_advance(k_desc, k.stage * KV_BYTES));/}",
     r"reads an accumulator.*line 246.*order of the groups", r"softmax writes P"),
    (3, "alpha of warp 0", r"s/&alpha_smem\[warp \* 16\]/\&alpha_smem[0]/", r"line 188.*address you meant", r"lanes do not run in step"),
    (4, "a place without a limit", r"s/place = chunk \^ row % 8;/place = chunk ^ row;/", r"address you meant", r"barrier says"),
]


def evidence(folder, what, edit, says, never):
    source = OUT / f"{folder.number}-{what.replace(' ', '-')}"
    mistakes.make(folder, mistakes.Mistake("", [edit], []), source)
    status, said = check(folder.number, source)
    hint = said.rpartition("hint: ")[2].strip()
    return status == 1 and re.search(says, hint) and not re.search(never, hint), f"hint: {hint}"


def check(number, source):
    done = subprocess.run([sys.executable, "notebooks/course/check.py", str(number), "--source", source, "--device", DEVICE],
                          capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def skeleton(folder):
    source = OUT / f"{folder.number}-skeleton"
    source.mkdir(parents=True, exist_ok=True)
    for name, text in start.contents(folder.number).items():
        (source / name).write_text(text)
    try:
        build.Kernel(folder, source, OUT / f"{folder.number}-skeleton-out").compile()
    except build.Refused as why:
        return False, str(why)
    status, said = check(folder.number, source)
    file, _, _, sentence = folder.holes()[0]
    first = said.splitlines()[0]
    return status == 1 and sentence in first and file.name in first, first


def solution(folder):
    source = OUT / f"{folder.number}-solution"
    mistakes.make(folder, mistakes.Mistake("", ["s/END SOLUTION/END/"], []), source)
    status, said = check(folder.number, source)
    return status == 0, said.splitlines()[-1] if status == 0 else said


def mistake(folder, n, known):
    source = OUT / f"{folder.number}-{n}"
    mistakes.make(folder, known, source)
    status, said = check(folder.number, source)
    hint = said.rpartition("hint: ")[2].strip()
    seen, quoted = hint.removesuffix(known.hint), re.compile(r"\w.*\w.*[.] $", re.S)  # what was seen comes first
    return status == 1 and hint.endswith(known.hint) and bool(quoted.match(seen)), f"hint: {hint}" if status == 1 else said


def see(folder, slow):
    """The predicted time of the solution is ours; with 200 loads in a chain for each tile it is longer."""
    source = OUT / f"{folder.number}-see{'-slow' * slow}"
    mistakes.make(folder, mistakes.Mistake("", [SLOW if slow else "s/END SOLUTION/END/"], []), source)
    done = subprocess.run([sys.executable, "notebooks/course/see.py", str(folder.number), "--source", source, "--device", "emu"],
                          capture_output=True, text=True)
    times = re.search(r"yours takes (\S+) times", done.stdout)
    right = times and (float(times[1]) > 1.5 if slow else 0.95 < float(times[1]) < 1.05)
    return right and "validated" not in done.stdout and "cases, mean" in done.stdout, done.stdout + done.stderr


def jobs(number, every):
    folder = lab_folder.read(number)
    known = mistakes.read(folder)
    yield number, "solution", "solution", lambda: solution(folder)
    yield number, "skeleton", "skeleton", lambda: skeleton(folder)
    if folder.tile and (every or number == 4):
        yield number, "time", "the solution's predicted time is ours", lambda: see(folder, False)
        if number < 4 or not every:
            yield number, "time", "a slow kernel's is longer", lambda: see(folder, True)
    yield number, "", f"{len(known)} mistakes, at least 6", lambda: (len(known) >= 6, "")
    hints = {m.hint for m in known}
    yield number, "", "hints, each its own", lambda: (len(hints) == len(known) and all(len(h) > 40 for h in hints), "")
    for lab, what, *case in EVIDENCE:
        if lab == number and (every or lab != 6 or what.startswith("the turn")):
            yield number, "evidence", what, lambda case=case, what=what: evidence(folder, what, *case)
    chosen = range(len(known)) if every else (number % len(known), (number + 5) % len(known))
    for n in chosen:
        yield number, "mistakes", known[n].name, lambda n=n: mistake(folder, n, known[n])


def tried(job):
    number, kind, what, run = job
    try:
        ok, how = run()
    except (ValueError, OSError) as why:
        ok, how = False, str(why)
    table.setdefault((number, kind), []).append(bool(ok))
    return f"{'ok' if ok else 'not'}\tlab {number}\t{what}\t{' / '.join(how.splitlines())}"


def printed(wanted):
    titles = {"solution": "solution passes", "skeleton": "skeleton fails", "mistakes": "mistakes get their hint", "evidence": "of no list",
              "time": "predicted times"}
    print(f"#| {'lab':5}" + "".join(f"{title:>25}" for title in titles.values()))
    for number in wanted:
        done = [table.get((number, kind), []) for kind in titles]
        print(f"#| {number:<5}" + "".join(f"{f'{sum(some)} of {len(some)}' if some else '-':>25}" for some in done))


table = {}
every = "all" in sys.argv
wanted = [int(word) for word in sys.argv[1:] if word.isdigit()] or lab_folder.numbers()
with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("J") or os.cpu_count())) as pool:
    for line in pool.map(tried, [job for number in wanted for job in jobs(number, every)]):
        print(line, flush=True)
printed(wanted)
