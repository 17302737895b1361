# Python programs whose reader has seen enough, and those that are interrupted: common/base/main_program.py ends them.
. tests/tap.sh
$(command -v .venv/bin/python || command -v python3) - << 'P'
import ast, os, pathlib, signal, subprocess, sys, tempfile, time
n = failed = 0


def check(name, passed, why=""):
    global n, failed
    n, failed = n + 1, failed + (not passed)
    print(f"{'ok' if passed else 'not ok'} {n} - {name}", *(f"# {line}" for line in ("" if passed else str(why)).split("\n") if line), sep="\n", flush=True)


def unread(words):
    """(status, what stderr has) with an output that nothing reads."""
    reader, writer = os.pipe()
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}  # with it argparse says nothing of it
    os.close(reader)
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60, env=bare)
    os.close(writer)
    return done.returncode, done.stderr


def program(folder, body):
    path = pathlib.Path(folder) / "a.py"
    path.write_text(f"import pathlib, sys, tempfile, time\nsys.path.append({str(pathlib.Path('common/base').resolve())!r})\n"
                    f"import main_program\ndef main():\n{body}\nmain_program.run(main)\n")
    return [sys.executable, str(path)]


with tempfile.TemporaryDirectory() as folder:
    seen = unread(program(folder, "    for i in range(100000): print(i)"))
    check("much that nothing reads", seen == (141, ""), seen)
    seen = unread(program(folder, "    print(1)\n    sys.exit(3)"))
    check("little that nothing reads, and an exit", seen == (141, ""), seen)
    there = pathlib.Path(folder) / "there"
    seen = unread(program(folder, f"    with tempfile.TemporaryDirectory(dir={folder!r}) as own:\n        pathlib.Path({str(there)!r}).touch()\n"
                                  "        print(1, flush=True)\n        time.sleep(60)"))
    check("its folders go with it", seen == (141, "") and sorted(path.name for path in pathlib.Path(folder).iterdir()) == ["a.py", "there"], seen)
    for body, wanted in (("    return 3", 3), ("    return None", 0), ("    sys.exit(4)", 4), ("    sys.exit('no')", 1)):
        done = subprocess.run(program(folder, f"    print(1)\n{body}"), capture_output=True, text=True)
        check(f"{body.strip()} ends with {wanted}", done.returncode == wanted and done.stdout == "1\n", done)
    run = subprocess.Popen(program(folder, "    print(1, flush=True)\n    time.sleep(60)"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    run.stdout.readline()
    run.send_signal(signal.SIGINT)
    said = run.communicate(timeout=30)
    check("Ctrl-C", run.returncode == 130 and said == ("", ""), (run.returncode, said))

# Every program that a user starts, by what it prints of itself. Those that want an installed library, and one that is installed alone.
APART = ("runtime/python/attnlab_command.py", "chips/bench/pipes.py", "setup.py")
files = subprocess.run(["git", "ls-files", "*.py"], capture_output=True, text=True).stdout.split() or list(map(str, pathlib.Path(".").glob("[a-z]*/**/*.py")))
programs = [name for name in files if not name.startswith("tests/") and name not in APART and 'if __name__ == "__main__":' in pathlib.Path(name).read_text()]
bare = [name for name in programs if "main_program.run(main" not in pathlib.Path(name).read_text()]
check(f"{len(programs)} programs end so", len(programs) > 20 and not bare, bare)
told, bad = 0, []
for name in programs:
    if "argparse" not in pathlib.Path(name).read_text() or subprocess.run([sys.executable, name, "--help"], capture_output=True).returncode:
        continue
    seen = unread([sys.executable, name, "--help"])
    told += 1
    bad += [] if seen == (141, "") else [f"{name}: {seen}"]
check(f"{told} programs whose help nothing reads", told > 10 and not bad, "\n".join(bad))
print(f"1..{n}")
sys.exit(failed > 0)
P
