#!/usr/bin/env python3
"""Many short tasks: on the cores of this machine, or as job arrays of Slurm.

    jobs.py run FOLDER [--slurm 1|FILE] [--gpu] [--jobs N] [--ok 0,1] < TASKS
    jobs.py task BATCH INDEX                    what one job of an array does

TASKS has a line `NAME<tab>COMMAND` for each task: a name of letters, digits and . _ -, and a line for bash. A command may
add records to the file $JSON. It runs in the folder in which `run` was started, at most `seconds` long (FILE, setup/slurm.txt).

FOLDER/done/NAME/ has what a task said (out, err), its records, its status, its node. It is made by one rename, and the first
one stays: a task that Slurm starts again after its node was lost counts once. FOLDER/failed/NAME says why there is
nothing: another status than those of --ok, or the time limit. `run` watches until all have ended, then writes
FOLDER/records.jsonl. Interrupted, it leaves Slurm's jobs alone. The same command again goes on: it waits for
what is queued and starts what failed or was lost. Exit status: 0; 1 tasks failed; 2 usage; 5 a file; 77 no Slurm here."""
import argparse
import concurrent.futures
import getpass
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve()
SETTINGS = {"partition": "", "gpu_partition": "", "gpu": "gpu:1", "seconds": "600", "memory_mb": "2000", "cpus": "1",
            "array": "1000", "options": ""}
ROUNDS = 3        # how often a task is given to Slurm before it counts as lost
PATIENCE = 300    # seconds that Slurm's controller may be silent


def stop(status, why):
    print(f"jobs: {why}", file=sys.stderr)
    raise SystemExit(status)


def settings_of(path):
    found = dict(SETTINGS)
    try:
        lines = pathlib.Path(path).read_text().splitlines()
    except OSError as error:
        stop(5, f"{path}: {error.strerror}")
    for n, line in enumerate(lines, 1):
        word, _, value = line.split("#")[0].strip().partition(" ")
        if not word:
            continue
        if word not in found:
            stop(2, f"{path}:{n}: there is no setting {word}; there are {' '.join(found)}")
        if word in ("seconds", "memory_mb", "cpus", "array") and not re.fullmatch("[1-9][0-9]*", value.strip()):
            stop(2, f"{path}:{n}: {word} is a whole number above 0")
        found[word] = value.strip()
    return found


def tasks_in(text, where):
    """[(name, command)]"""
    tasks = []
    for n, line in enumerate(text.splitlines(), 1):
        name, tab, command = line.partition("\t")
        if not tab or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
            stop(2, f"{where}:{n}: no line NAME<tab>COMMAND")
        tasks.append((name, command))
    if len({name for name, _ in tasks}) < len(tasks):
        stop(2, f"{where}: two tasks have one name")
    return tasks


children, ending = set(), False  # of this process, and whether they are being ended


# ---- One task ------------------------------------------------------------------------------------------------

def run_task(folder, name, command, seconds, ok):
    """Leaves FOLDER/done/NAME or FOLDER/failed/NAME."""
    done, node = folder / "done" / name, os.environ.get("SLURMD_NODENAME", os.uname().nodename)
    if done.exists():
        return
    with open(folder / "starts", "a") as starts:
        starts.write(f"{name} {node} {os.environ.get('SLURM_JOB_ID', '-')}\n")
    mine = folder / "tmp" / f"{name}.{node}.{os.getpid()}.{time.monotonic_ns()}"
    mine.mkdir(parents=True)
    why, began = "", time.monotonic()
    with open(mine / "out", "wb") as out, open(mine / "err", "wb") as err:
        child = subprocess.Popen(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
                                 env={**os.environ, "JSON": str(mine / "records.jsonl")})
        children.add(child)
        try:
            status = child.wait(seconds)
        except subprocess.TimeoutExpired:
            status, why = None, f"past its limit of {seconds} s; setup/slurm.txt has `seconds`"
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()
            children.discard(child)
    if ending:
        shutil.rmtree(mine, ignore_errors=True)
        return
    if not why and status not in ok:
        said = (mine / "err").read_text(errors="replace").strip().splitlines() or ["no word"]
        why = f"status {status}: {said[-1]}"
    if why:
        shutil.rmtree(mine, ignore_errors=True)
        put(folder / "failed" / name, why + "\n")
        return
    (mine / "where").write_text(f"{node} {os.environ.get('SLURM_JOB_ID', '-')} {time.monotonic() - began:.2f} s\n")
    (mine / "status").write_text(f"{status}\n")
    try:
        mine.rename(done)
    except OSError:  # another run of it was first
        shutil.rmtree(mine, ignore_errors=True)
    (folder / "failed" / name).unlink(missing_ok=True)


def put(path, text):
    """Whole or not at all."""
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    new.write_text(text)
    new.replace(path)


def one_job(batch, index):
    folder = batch.parent
    seconds, ok = (batch / "limits").read_text().split()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # Slurm's: the child ends, and nothing is claimed
    name, command = tasks_in((batch / "tasks").read_text(), batch / "tasks")[index]
    run_task(folder, name, command, int(seconds), [int(each) for each in ok.split(",")])


# ---- All of them -----------------------------------------------------------------------------------------------

class State:
    """What is left to do in a folder."""

    def __init__(self, folder, tasks):
        self.folder, self.tasks = folder, tasks
        for each in ("done", "failed", "tmp", "log"):
            (folder / each).mkdir(parents=True, exist_ok=True)
        self.said = ""

    def done(self):
        there = set(os.listdir(self.folder / "done"))
        return {name for name, _ in self.tasks if name in there}

    def failed(self):
        there = set(os.listdir(self.folder / "failed"))
        return {name for name, _ in self.tasks if name in there} - self.done()

    def say(self, more=""):
        text = f"{len(self.done())} of {len(self.tasks)} done, {len(self.failed())} failed{more}"
        if text != self.said:
            self.said = text
            print(f"\r\033[K{text}" if sys.stdout.isatty() else text, end="" if sys.stdout.isatty() else "\n", flush=True)

    def end(self):
        """Merges what there is; the exit status."""
        if sys.stdout.isatty():
            print()
        for each in (self.folder / "tmp").iterdir():  # of nodes that were lost
            shutil.rmtree(each, ignore_errors=True)
        lines = []
        for name, _ in self.tasks:
            path = self.folder / "done" / name / "records.jsonl"
            if path.exists():
                lines.append(path.read_text())
        put(self.folder / "records.jsonl", "".join(lines))
        failed = sorted(self.failed())
        for name in failed[:10]:
            print(f"jobs: {name}: {(self.folder / 'failed' / name).read_text().strip()}", file=sys.stderr)
        print(f"{self.folder}/records.jsonl: {''.join(lines).count(chr(10))} records of {len(self.done())} tasks")
        if failed:
            stop(1, f"{len(failed)} of {len(self.tasks)} failed; the same command again runs those and keeps the others")


def run_here(state, settings, ok, jobs):
    def one(task):
        run_task(state.folder, *task, int(settings["seconds"]), ok)
        state.say()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = [pool.submit(one, task) for task in state.tasks if task[0] not in state.done()]
        try:
            for each in runs:
                each.result()
        except BaseException:
            global ending
            ending = True
            for each in runs:
                each.cancel()
            for child in list(children):
                os.killpg(child.pid, signal.SIGKILL)
            raise
    state.say()


def slurm(*words, stdin=None):
    """(what it said, None) or (None, why not)"""
    try:
        done = subprocess.run(words, input=stdin, capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        stop(77, f"no {words[0]} here: Slurm's commands come with Debian's slurm-client; without SLURM=1 the tasks run on this machine")
    except subprocess.TimeoutExpired:
        return None, f"{words[0]} does not end"
    return (done.stdout, None) if done.returncode == 0 else (None, (done.stderr.strip().splitlines() or ["no word"])[-1])


def submit(state, names, settings, gpu, ok):
    """One array of at most `array` tasks each; a batch keeps its own list, so that an index stays what it was."""
    wanted = [task for task in state.tasks if task[0] in names]
    for at in range(0, len(wanted), int(settings["array"])):
        part = wanted[at:at + int(settings["array"])]
        number = len(list(state.folder.glob("batch-*")))
        batch = state.folder / f"batch-{number}"
        batch.mkdir()
        for name, _ in part:
            (state.folder / "failed" / name).unlink(missing_ok=True)
        (batch / "tasks").write_text("".join(f"{name}\t{command}\n" for name, command in part))
        (batch / "limits").write_text(f"{settings['seconds']} {','.join(map(str, ok))}\n")
        partition = settings["gpu_partition"] if gpu else settings["partition"]
        words = ["sbatch", "--parsable", f"--job-name={state.folder.name}", f"--array=0-{len(part) - 1}", "--ntasks=1", "--requeue",
                 f"--cpus-per-task={settings['cpus']}", f"--mem={settings['memory_mb']}",
                 f"--time={math.ceil(int(settings['seconds']) / 60) + 1}", f"--output={state.folder}/log/%A_%a", "--open-mode=append",
                 *([f"--partition={partition}"] if partition else []),
                 *([f"--gres={settings['gpu']}", "--gres-flags=enforce-binding"] if gpu else []), *settings["options"].split()]
        script = f"#!/bin/bash\nexec {quoted(sys.executable)} {quoted(HERE)} task {quoted(batch)} \"$SLURM_ARRAY_TASK_ID\"\n"
        said, why = slurm(*words, stdin=script)
        if why:
            shutil.rmtree(batch)
            stop(5, f"Slurm took no jobs: {why}; what is asked for stands in setup/slurm.txt, or in SLURM=my.txt")
        put(batch / "job", said.strip().split(";")[0] + "\n")


def quoted(path):
    return "'" + str(path).replace("'", "'\\''") + "'"


def queued(state):
    """({name: state}, reason of one that waits), or (None, why Slurm does not say)."""
    said, why = slurm("squeue", "--noheader", "--array", f"--user={getpass.getuser()}", "--format=%F %K %T %r")
    if why:
        return None, why
    job = {}
    for batch in state.folder.glob("batch-*"):
        if (batch / "job").exists():
            job[(batch / "job").read_text().strip()] = tasks_in((batch / "tasks").read_text(), batch)
    live, reason = {}, ""
    for line in said.splitlines():
        number, index, now, waits = line.split(" ", 3)
        if number in job and index.isdigit() and now not in ("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "OUT_OF_MEMORY"):
            live[job[number][int(index)][0]] = now
            reason = waits if now == "PENDING" else reason
    return live, reason


def run_on_slurm(state, settings, gpu, ok):
    rounds, silent, first = {}, 0.0, True
    while True:
        live, reason = queued(state)
        if live is None:
            silent = silent or time.monotonic()
            state.say(f"; Slurm does not answer: {reason}")
            if time.monotonic() - silent > PATIENCE:
                stop(5, f"Slurm has not answered for {PATIENCE} s: {reason}; the same command again goes on")
            time.sleep(2)
            continue
        silent, done = 0.0, state.done()
        open_ = {name for name, _ in state.tasks} - done - set(live) - (set() if first else state.failed())
        lost = {name for name in open_ if rounds.get(name, 0) >= ROUNDS}
        for name in lost:
            put(state.folder / "failed" / name, f"its job ended {ROUNDS} times without a result: {state.folder}/log has what it said\n")
        if open_ - lost:
            time.sleep(0 if first else 2)  # what a job has just written may not be seen here yet
            open_ -= state.done() | lost | (set() if first else state.failed())
            for name in open_:
                rounds[name] = rounds.get(name, 0) + 1
            if open_:
                submit(state, open_, settings, gpu, ok)
        elif not live:
            break
        first = False
        running = sum(now == "RUNNING" for now in live.values())
        waits = len(live) - running
        state.say(f", {running} running" + (f", {waits} waiting ({reason})" if waits else ""))
        time.sleep(1)
    state.say()


def main():
    parser = argparse.ArgumentParser(description="runs many short tasks")
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run")
    run.add_argument("folder", type=pathlib.Path)
    run.add_argument("--slurm", nargs="?", const="1", default="")  # a file of settings, or 1
    run.add_argument("--settings", default=HERE.with_name("slurm.txt"))
    run.add_argument("--gpu", action="store_true")
    run.add_argument("--jobs", type=int, default=os.cpu_count())
    run.add_argument("--ok", default="0")
    task = verbs.add_parser("task")
    task.add_argument("batch", type=pathlib.Path)
    task.add_argument("index", type=int)
    given = parser.parse_args()
    if given.verb == "task":
        one_job(given.batch, given.index)
        return
    settings, ok = settings_of(given.settings if given.slurm in ("", "1") else given.slurm), [int(each) for each in given.ok.split(",")]
    tasks = tasks_in(sys.stdin.read(), "stdin")
    folder = pathlib.Path(os.path.abspath(given.folder))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.umask(0o077)  # a class's files, and its seed
    state = State(folder, tasks)
    try:
        if given.slurm:
            run_on_slurm(state, settings, given.gpu, ok)
        else:
            for name in state.failed():
                (folder / "failed" / name).unlink()
            run_here(state, settings, ok, 1 if given.gpu else given.jobs)
    except KeyboardInterrupt:
        stop(130, "interrupted; " + ("Slurm's jobs go on, and the same command again watches them" if given.slurm else
                                     "the same command again goes on"))
    state.end()


if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "common/base"))
    import main_program
    main_program.run(main)
