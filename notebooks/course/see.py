#!/usr/bin/env python3
"""How long would a student's kernel take, beside ours? see.py N|exam-3 [--source FOLDER] [--device auto|cuda|emu] [OPTION...]

Predicts the time on an H200 from the machine code of both, at B1 H8 S512 D64; where there is a GPU, measures
both, too. An exam is timed beside stage 4, at its own problem or that of the options given. Exit 0: both were timed; 1: not yet right; 2: usage; 4: something is missing here."""
import argparse
import concurrent.futures
import json
import pathlib
import sys

import build
import check
import lab_folder
from lab_folder import ROOT

CHIP = "sm_90a"


def record(program, folder, device, out, problem):
    """One run of a program beside its images: its record, or None and what it said."""
    words = ["--device", device, "--quiet", "--image", folder.images[0], "--json", out, *problem]
    words += ["--no-time", "--counters", "CYCLES,TENSOR,STALL"] if device == "emu" else ["--counters", "none"]
    out.unlink(missing_ok=True)
    done = build.run(program, *words, limit=300)
    if done.returncode or not out.exists():
        return None, done.stderr.replace(f"{ROOT}/", "").strip()
    return json.loads(out.read_text()), ""


def values_of(who, found, goal):
    """{counter: value} of one run. Refused: it has no time."""
    values = {c["name"]: c["value"] for c in found["counters"] if "value" in c}
    if "duration_us" not in values:
        why = next((c["na"] for c in found["counters"] if "na" in c), "there is no predicted time")
        file, line, why = lab_folder.untimed(why, goal)
        raise build.Refused(f"{f'{file}:{line}' if file else who}: {why}".replace(f"{ROOT}/", ""))
    return values


def row(who, values):
    """A line of the table, and the time in us."""
    waits = {name[6:]: value for name, value in values.items() if name.startswith("stall_") and name != "stall_selected"}
    most = sorted(waits, key=waits.get, reverse=True)[:3]
    said = ", ".join(f"{name} {waits[name]:.2f}" for name in most)
    print(f"{who:8} {values['duration_us']:8.1f} {values['cycles_elapsed']:9.0f} {values['tensor_active_pct']:13.1f}   {said}")
    return values["duration_us"]


def show(folder, kernel, device, problem):
    if not folder.tile:
        print(f"lab {folder.number} computes one product, which is too short to be timed: its cycles were measured on an"
              " H200, `make stage-5 sweep RECORDED=h200`")
        return True
    programs = {"yours": kernel.program, folder.ours: build.BUILD / folder.rival.program}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = dict(zip(programs, pool.map(
            lambda who: record(programs[who], folder, device, kernel.out / f"see-{who.replace(' ', '-')}.json", problem), programs)))
    for who, (one, said) in found.items():
        if not one:
            print(f"{who}: {said}\n`make {folder.goal} check` says more", file=sys.stderr)
            return False
    yours, ours = found["yours"][0], found[folder.ours][0]
    text = ours["problem"]["text"]
    if device == "cuda":
        times = [one["samples"]["median_us"] for one in (yours, ours)]
        print(f"\n{text} on this {ours['device']['name']}, measured: yours {times[0]:.1f} us, {folder.ours} {times[1]:.1f} us")
        return True
    values = {who: values_of(who, one, folder.goal) for who, (one, _) in found.items()}
    how = next((c["validated"] for c in ours["counters"] if "validated" in c), "no prediction")
    print(f"{text}, predicted; errors of such predictions on {how}\n")
    print(f"{'':8} {'us':>8} {'cycles':>9} {'tensor pipe %':>13}   warps that wait, for each instruction issued, by reason")
    ratio = row("yours", values["yours"]) / row(folder.ours, values[folder.ours])
    print(f"\nyours takes {ratio:.2f} times as long as {folder.ours}: the grader gives full points for time up to {folder.full_time:g} times")
    return True


def timed(folder, kernel, device, gpu, problem=()):
    """Predicted; where there is a GPU, measured, too: then a prediction may lack."""
    lacks = False
    try:
        if not show(folder, kernel, "emu", problem):
            return False
    except build.Refused as why:
        if not gpu:
            raise
        lacks = True
        print(f"no prediction: {why}")
    try:
        return not gpu or show(folder, kernel, "cuda", problem)
    except build.NoGpu as why:
        if device != "auto" or lacks:
            raise
        print(f"not measured: {why}")
        return True


def main():
    parser = argparse.ArgumentParser(description="the time of a student's kernel, beside ours")
    parser.add_argument("lab", type=lab_folder.known, metavar="N|exam-N")
    parser.add_argument("--source", metavar="FOLDER", help="where the files are (default: my-labs/N)")
    parser.add_argument("--device", choices=["auto", "cuda", "emu"], default="auto")
    given, problem = parser.parse_known_args()
    try:
        folder = lab_folder.read(given.lab)
        source = pathlib.Path(given.source or ROOT / "my-labs" / str(given.lab))
        if problem and not isinstance(folder, lab_folder.AttentionExam):
            parser.error(f"unrecognized arguments: {' '.join(problem)}")
        gpu = build.gpu_wanted(given.device)
        kernel = build.Kernel(folder, source, build.scratch(given.lab, source, "see-"))
        holes = check.empty_holes(kernel)
        if holes:
            print(f"see: {holes[0][0]}:{holes[0][1]}: still to be written: {holes[0][2]}", file=sys.stderr)
            return 1
        build.waiting("compiling, then predicting")
        kernel.compile(["sm_"] if gpu else [CHIP])
        right = timed(folder, kernel, given.device, gpu, folder.with_problem(problem))
    except (LookupError, OSError) as why:
        print(f"see: {why}", file=sys.stderr)
        return 2
    except build.Refused as why:
        print(f"see: {why}", file=sys.stderr)
        return 1 if "does not compile" in str(why) else 4
    return not right


if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "common/base"))
    import main_program
    main_program.run(main)
