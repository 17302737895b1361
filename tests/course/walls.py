"""The sandbox's limits, tried from inside (hostile.py calls it)."""
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "notebooks/course/grade")]
import sandbox  # noqa: E402

FORKS = """
import os, time
n = 0
try:
    while n < 200:
        if not os.fork():
            time.sleep(2)
            os._exit(0)
        n += 1
except OSError:
    pass
print(n)
"""
CALLS = """
$| = 1;
my %calls = (fork => [57], clone => [56, 17, 0, 0, 0, 0], socket => [41, 2, 1, 0], ptrace => [101, 0, 0, 0, 0], unshare => [272, 0x10000000],
    userns => [56, 0x10000011, 0, 0, 0, 0], mount => [165, 0, 0, 0, 0, 0], bpf => [321, 0, 0, 0], keyctl => [250, 0, 0, 0],
    io_uring => [425, 1, 0], kill => [62, 1, 0], unlink => [87, "/none"], ioctl => [16, 0, 0x5412, 0]);
for my $name (sort keys %calls) {
    my $got = syscall($calls{$name}[0], @{$calls{$name}}[1 .. $#{$calls{$name}}]);
    syscall(231, 0) if $got == 0 && $name =~ /fork|clone|userns/;
    print "$name ", $got == -1 && $! == 38 ? "missing" : "there", "\\n";
}
"""


def inside(command, calls=None, write=()):
    """(Result, {name: text of what it left}) of a shell command, or a list of words."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        words = ["/bin/sh", "-c", command] if isinstance(command, str) else command
        done = sandbox.run(words, {}, {folder / name: f"/out/{name}" for name in write}, 10, 512, **{"calls": calls} if calls else {})
        return done, {path.name: path.read_text(errors="replace")[:100] if path.is_file() and not path.is_symlink() else "?" for path in folder.iterdir()}


def try_all(check):
    done, _ = inside(["/usr/bin/python3", "-I", "-S", "-c", FORKS])
    running = int((done.out.split() or ["0"])[0])
    check(f"200 processes do not run: {running}", 10 < running <= sandbox.PROCESSES, done)
    done, _ = inside("cat /proc/self/status")
    uid = next(line.split()[1] for line in done.out.splitlines() if line.startswith("Uid"))
    check("no capability, no way to more", "CapEff:\t0000000000000000" in done.out and "NoNewPrivs:\t1" in done.out and uid != "0", done.out)
    for place in ("/", "/dev", "/dev/shm", "/out", "/tmp"):
        done, _ = inside(f"for i in 1 2 3 4; do dd if=/dev/zero of={place}/f$i bs=1M count=200 2> /dev/null; done; "
                         f"du -cm {place}/f? 2> /dev/null | tail -1", write=("report.json",) if place == "/out" else ())
        megabytes = int((done.out.split() or ["0"])[0])
        check(f"disk is limited in {place}: {megabytes} MB", megabytes <= 2 * sandbox.FILE_MEGABYTES, done)
    names = ("report.json", "out0.bin", "out1.bin", "out2.bin")
    done, left = inside("ln -sf /etc/passwd /out/report.json; rm -f /out/out0.bin; mkfifo /out/out0.bin; echo whole > /out/out1.bin; "
                        "echo more > /out/other; true", write=names)
    check("what it leaves is of the names that are wanted, and no link, pipe or folder", left == {"out1.bin": "whole\n"}, f"{done} {left}")
    for kind, spawns in (("trial", "missing"), ("predict", "there")):
        done, _ = inside(["/usr/bin/perl", "-e", CALLS], calls=kind)
        said = dict(line.split() for line in done.out.splitlines())
        wrong = {name: how for name, how in said.items() if how != (spawns if name in ("clone", "unlink", "ioctl") else "missing")}
        check(f"{kind}: no process, no network, no namespace" if kind == "trial" else f"{kind}: processes, no network, no namespace",
              len(said) == 13 and not wrong, f"{done} {wrong}")


if __name__ == "__main__":
    try_all(lambda name, passed, why="": print("ok" if passed else "not ok", name, "" if passed else f"\n# {str(why)[:600]}"))
