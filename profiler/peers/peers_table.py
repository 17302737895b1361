#!/usr/bin/env python3
"""A stage beside its peers, from records of `make peers`, as the Markdown tables of its README: for each set of rows one
of loaded times and one of bursts.

    make stage-6 peers-table                       (RECORDED=h200; RECORDED= takes results/peers.jsonl)
    make stage-6 peers-table RECORDED=h100,h200    runs on several boards (NAME-two-boards-peers.jsonl), in one table
    python3 profiler/peers/peers_table.py RECORDS [STAGE ...] [--below FILE] [--peer NAME] [--strict]

RECORDS: JSON lines of peers.py; several files, with commas between, are boards beside each other. --peer: beside this one
alone, as "FlashAttention-2", not the fastest. A time is the newest in the file; what is not there is "-". Without a STAGE: those that
have a record.

A stage may have notes/below.txt (or FILE): its bar, and why rows are below it. A row is below where the best peer takes
less than the bar times the stage's time, and, where DRAM is what limits it, where K and V come at less than `copy` of the
rate of a copy in the same run:

    bar 1.03 copy 0.97
    a why rows are below, in one line
      B1 H8 S512 D64                        such a row, loaded and in bursts; "burst: B1 H8 ..." in bursts only
      h200-all loaded: B1 H8 S512 D64       in that record only (records/runs/h200-all-peers.jsonl), loaded only
      two-boards: B1 H8 S512 D64            in the records NAME-two-boards of all boards

The tables print the letter beside the row and the reasons at the end; a row below the bar without one has "?". Rows that
have a reason and need none are named on stderr. A damaged line of RECORDS is named and left out; with --strict the exit
status is then 5.
"""
import glob
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "common/harness"))
import records as files  # noqa: E402

BIG = 128 << 20  # bytes: so much does not stay in L2 from one launch to the next
SHORT = {"FlashAttention-2": "FA2", "FlashAttention-3": "FA3", "FlashAttention-4": "FA4"}


def records_of(path):
    """The records of make peers; a file whose first record is none is refused."""
    first = []

    def whole(r):
        if not first and "copy_tb_per_s" not in r and ("text" not in r.get("problem", {}) or not ("peer" in r or "stage" in r)):
            fail(f"{path}: no record of make peers")
        first.append(r)
        if "copy_tb_per_s" in r:
            return float(r["copy_tb_per_s"])
        if "peer" not in r and "stage" not in r:
            raise ValueError("no record of make peers")
        if "samples" in r:
            rate(r) if "stage" in r else number(r["samples"]["median_us"])
        return r["problem"]["text"].split(), r["peer"]["name"] if "peer" in r else r["stage"].split("-")

    if not os.path.isfile(path):
        fail(f"there is no {path}; RECORDED=h200 is one, and make peers writes results/peers.jsonl")
    records = list(files.read(path, "peers-table", whole))
    if not records:
        fail(f"{path}: none of its lines is a record of make peers")
    return records


def fail(why):
    print(f"peers-table: {why}", file=sys.stderr)
    sys.exit(5)


def number(x):
    return "-" if x is None else f"{x:.1f}" if x < 100 else f"{x:.0f}"


def line(cells):
    print("| " + " | ".join(cells) + " |")


def decoding(p):
    """Bytes moved at least where each query reads its keys once, which is what limits it there; else 0."""
    if p.get("seqlen_q", 99) * p.get("heads", 1) // p.get("kv_heads", 1) > 64 or p.get("seqlen_k", 0) <= 256:
        return 0
    return 4.0 * p["batch"] * p["head_dim"] * (p["heads"] * p["seqlen_q"] + p["kv_heads"] * p["seqlen_k"])


def rate(record):
    """TFLOPS; decoding: TB/s."""
    p, s = record["problem"], record["samples"]
    return f"{decoding(p) / s['median_us'] * 1e-6:.2f} TB/s" if decoding(p) else f"{s['tflops']:.0f}"


class Below:
    """The bar of a stage, and the reasons of rows below it."""

    def __init__(self, path, copy, record):
        self.record, self.copy_rate, self.bar, self.copy, self.why, self.rows = record, copy, None, 0, {}, {}
        self.seen, self.used, self.without = set(), set(), 0
        if not path:
            return
        try:
            with open(path) as f:
                lines = [text.rstrip("\n") for text in f if text.strip() and not text.startswith("#")]
        except OSError as e:
            fail(f"{path}: {e.strerror}")
        for text in lines:
            words = text.split()
            if words[0] == "bar":
                self.bar, self.copy = float(words[1]), float(words[3])
            elif text[0] != " ":
                letter, self.why[words[0]] = words[0], " ".join(words[1:])
            else:
                self.rows[" ".join(words)] = letter

    def cell(self, way, text, ratio, record):
        """What the table says beside a row."""
        if not self.bar or ratio is None:
            return ""
        runs = self.record.split("-", 1)[-1]  # of several boards: h200-two-boards, h100-two-boards
        keys = [f"{self.record} {way}: {text}", f"{self.record}: {text}", f"{runs}: {text}", f"{way}: {text}", text]
        self.seen.update(keys)
        moved = decoding(record["problem"])
        slow = way == "loaded" and moved > BIG and self.copy_rate and moved / record["samples"]["median_us"] * 1e-6 < self.copy * self.copy_rate
        if round(ratio, 2) >= self.bar and not slow:
            return ""
        for key in keys:
            if key in self.rows:
                self.used.add(key)
                return self.rows[key]
        self.without += 1
        return "?"

    def report(self):
        """Prints the reasons."""
        if not self.bar:
            return
        print(f"Why a row is below {self.bar} times the best peer"
              + (f", or {100 * self.copy:.0f} % of a copy's {self.copy_rate:.2f} TB/s" if self.copy_rate else "") + ":\n")
        there = {self.rows[key] for key in self.used}
        for letter, why in self.why.items():
            if letter in there:
                print(f"- {letter}: {why}")
        if self.without:
            print(f"- ?: {self.without} rows are below it and have no reason")
        for row in self.rows:
            if row in self.seen and row not in self.used:
                print(f"peers-table: {row} has a reason and is not below the bar", file=sys.stderr)


def table(way, records, problems, peers, stage, below):
    """`records` by problem and who, of one way and one set of rows."""
    line([way] + [SHORT.get(p, p) for p in peers] + [f"stage {stage} (TFLOPS)", "best peer / stage"] +
         (["image", "clock, MHz"] if way == "loaded" else []) + (["why"] if below.bar else []))
    line(["---"] * (len(peers) + 3 + 2 * (way == "loaded") + bool(below.bar)))
    for p in problems:
        us = {who: records[p, who]["samples"]["median_us"] for who in (*peers, stage) if (p, who) in records}
        best, mine = min((us[w] for w in peers if w in us), default=None), records.get((p, stage))
        cells = [p] + [number(us.get(w)) for w in peers]
        cells += [f"{number(us[stage])} ({rate(mine)})" if mine else "-", f"{best / us[stage]:.2f}" if best and mine else "-"]
        if way == "loaded":
            clock = mine and mine["samples"].get("clock_mhz")
            image = mine and (mine.get("kernels") or [{}])[0].get("image")
            cells += [image or "-", f"{clock:.0f}" if clock else "-"]
        if below.bar:
            cells.append(below.cell(way, p, best / us[stage] if best and mine else None, mine))
        line(cells)
    print()


def option(arguments, name):
    """The value of an option, which leaves the list; None: not there."""
    if name not in arguments[:-1]:
        return None
    at = arguments.index(name)
    value = arguments[at + 1]
    del arguments[at:at + 2]
    return value


def reasons_of(stage):
    return next(iter(glob.glob(os.path.join(ROOT, "stages", f"{stage}-*", "notes", "below.txt"))), None)


def boards(paths, stages, only, reasons):
    """Runs on several boards beside each other: the fastest peer, the stage and their ratio, loaded; the ratio in bursts."""
    runs = []
    for path in paths:
        us, rows, copy = {}, {}, 0
        for r in records_of(path):
            copy = max(copy, r.get("copy_tb_per_s", 0))
            if "samples" not in r or only and r.get("peer", {}).get("name", only) != only:
                continue
            who = r["peer"]["name"] if "peer" in r else r["stage"].split("-")[0]
            way = "burst" if "rest_ms" in r["samples"] else "loaded"
            rows.setdefault(r.get("rows", ""), {})[r["problem"]["text"]] = None
            us[r["problem"]["text"], way, who] = r
        runs.append((os.path.basename(path).removesuffix(".jsonl").removesuffix("-peers"), us, rows, copy))
    for stage in stages or ["6"]:
        below = [Below(reasons or reasons_of(stage), copy, name) if not only else Below(None, copy, name) for name, _, _, copy in runs]
        counts = {(name, way): [] for name, *_ in runs for way in ("loaded", "burst")}
        for rows in runs[0][2]:
            print(f"Rows: {rows}\n")
            line(["us, loaded"] + [cell for name, *_ in runs for cell in (f"{name.split('-')[0]}: " + (SHORT.get(only, only) if only else "fastest peer"),
                 f"stage {stage}", "ratio", "in bursts")] + (["why"] if below[0].bar else []))
            line(["---"] * (1 + 4 * len(runs) + bool(below[0].bar)))
            for text in runs[0][2][rows]:
                cells, why = [text], []
                for (name, us, _, _), b in zip(runs, below):
                    ratio = {}
                    for way in ("loaded", "burst"):
                        peers = {who: r["samples"]["median_us"] for (t, w, who), r in us.items() if (t, w) == (text, way) and "peer" in r}
                        mine = us.get((text, way, stage))
                        if peers and mine:
                            ratio[way] = min(peers.values()) / mine["samples"]["median_us"]
                            counts[name, way].append(ratio[way])
                            letter = b.cell(way, text, ratio[way], mine)
                            why += [letter] if letter and letter not in why else []
                        if way == "loaded":
                            best = min(peers, key=peers.get, default=None)
                            cells += [f"{SHORT.get(best, best)} {number(peers[best])}" if best else "-",
                                      number(mine["samples"]["median_us"]) if mine else "-"]
                    cells += [f"{ratio[way]:.2f}" if way in ratio else "-" for way in ("loaded", "burst")]
                line(cells + ([" ".join(why)] if below[0].bar else []))
            print()
        for (name, way), ratios in counts.items():
            if ratios:
                print(f"{name.split('-')[0]}, {way}: {len(ratios)} rows, {sum(r >= 1 for r in ratios)} at 1.00 or more, "
                      f"{sum(r >= 1.03 for r in ratios)} at 1.03 or more, {sum(r >= 1.1 for r in ratios)} at 1.10 or more, "
                      f"least {min(ratios):.2f}")
        print()
        for b in below[1:]:
            below[0].used |= b.used
            below[0].seen |= b.seen
            below[0].without += b.without
        below[0].report()


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: peers_table.py RECORDS [STAGE ...]")
    strict = "--strict" in sys.argv
    path, *stages = [word for word in sys.argv[1:] if word != "--strict"]
    reasons, only = (option(stages, name) for name in ("--below", "--peer"))
    if "," in path:
        boards(path.split(","), stages, only, reasons)
        return files.status(strict)
    records = [r for r in records_of(path) if not only or "peer" not in r or r["peer"]["name"] == only]
    recorded = sorted({r["stage"].split("-")[0] for r in records if "stage" in r and "samples" in r})
    for stage in stages:
        if stage not in recorded:
            fail(f"{path} has no stage {stage}, but {', '.join(recorded) or 'none'}")
    for stage in stages or recorded:
        why = reasons or reasons_of(stage)
        tables(records, stage, why, os.path.basename(path).removesuffix(".jsonl").removesuffix("-peers"))
    return files.status(strict)


def tables(records, stage, reasons, name):
    record, problems, peers = {}, {}, []
    below = Below(reasons, max((r["copy_tb_per_s"] for r in records if "copy_tb_per_s" in r), default=0), name)
    for r in records:
        if "samples" not in r:
            continue
        who = r["peer"]["name"] if "peer" in r else r["stage"].split("-")[0]
        key, text = (r.get("rows", ""), "burst" if "rest_ms" in r["samples"] else "loaded"), r["problem"]["text"]
        if text not in problems.setdefault(key, []):
            problems[key].append(text)
        if "peer" in r and who not in peers:
            peers.append(who)
        record.setdefault(key, {})[text, who] = r
    for rows in dict.fromkeys(key[0] for key in problems):
        if rows:
            print(f"Rows: {rows}\n")
        for way in ("loaded", "burst"):
            if (rows, way) in problems:
                there = [w for w in peers if any(k[1] == w for k in record[rows, way])]
                table(way, record[rows, way], problems[rows, way], there, stage, below)
    below.report()


if __name__ == "__main__":
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common/base"))
    import main_program
    try:
        main_program.run(main)
    except OSError as e:
        sys.stdout = None  # or Python writes the rest once more
        fail(e)
