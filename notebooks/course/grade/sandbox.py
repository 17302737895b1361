"""A place of its own for a program that is not trusted: nothing of this machine but what is named, no network,
no other process, and limits.

    mode()                                          'bubblewrap', or 'weak' where $SANDBOX says so
    run(words, see, write, seconds, megabytes)      Result

bubblewrap: user, mount, network, process and IPC namespaces of its own; a file system in which only `see` (read
only) and `write` exist; no capabilities. weak: a folder, an empty environment and the limits, nothing more: a
kernel cannot run host code, but what the compiler reads is checked only afterwards (compile.py)."""
import dataclasses
import functools
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import time

import children

SYSTEM = ["/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc/alternatives", "/etc/ld.so.cache"]
FILE_MEGABYTES = 256
PROCESSES = 128
GPU_ENVIRONMENT = ["LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"]
WAIT = 4            # seconds of wall time for each of CPU time


class Refused(Exception):
    """This machine has no sandbox: one sentence with the remedy."""


@dataclasses.dataclass
class Result:
    status: int
    out: str
    err: str
    seconds: float
    timed_out: bool = False

    @property
    def crashed(self):
        """How it ended without a word, or ''."""
        number = -self.status if self.status < 0 else self.status - 128
        if self.status and not self.err.strip():
            return f"it ended by {signal.Signals(number).name}" if number in set(signal.Signals) else f"it ended with status {self.status}"
        return ""

    @property
    def killed(self):
        """Why it was ended from outside, or ''."""
        if self.timed_out or self.status in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
            return f"it took over {self.seconds:.0f} s"
        if self.status in (-signal.SIGKILL, 128 + signal.SIGKILL):
            return "it wanted more time or memory than it may have"
        if self.status in (-signal.SIGXFSZ, 128 + signal.SIGXFSZ):
            return f"it wrote a file of over {FILE_MEGABYTES} MB"
        return ""


@functools.cache
def mode():
    if os.environ.get("SANDBOX") == "weak":
        return "weak"
    program = shutil.which("bwrap")
    if not program:
        raise Refused("no bubblewrap here: make setup installs it; SANDBOX=weak grades without a sandbox")
    tried = subprocess.run([program, "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"],
                           capture_output=True, text=True)
    if tried.returncode:
        why = (tried.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise Refused(f"bubblewrap is refused here ({why}): let users make namespaces "
                      "(kernel.unprivileged_userns_clone=1), or grade with SANDBOX=weak")
    return "bubblewrap"


def _walls(see, write, gpu):
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv",
             "--uid", "65534", "--gid", "65534", "--hostname", "sandbox", "--proc", "/proc", "--dev", "/dev",
             "--size", str(FILE_MEGABYTES << 21), "--tmpfs", "/tmp", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "LC_ALL", "C.UTF-8"]
    for folder in SYSTEM:
        if os.path.islink(folder):
            words += ["--symlink", os.readlink(folder), folder]
        elif os.path.exists(folder):
            words += ["--ro-bind", folder, folder]
    if gpu:
        words += ["--ro-bind", "/sys", "/sys"]
        for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":"):  # where the driver may lie
            if os.path.isabs(folder) and os.path.isdir(folder):
                words += ["--ro-bind", folder, folder]
        for name in GPU_ENVIRONMENT:
            words += ["--setenv", name, os.environ[name]] if name in os.environ else []
        for device in pathlib.Path("/dev").glob("nvidia*"):
            words += ["--dev-bind", str(device), str(device)]
    for here, there in see.items():
        words += ["--ro-bind", str(here), str(there)]
    for here, there in write.items():
        words += ["--bind", str(here), str(there)]
    return words


def _limits(seconds, megabytes):
    """Of the program itself, in the child: CPU time, written memory (the emulator reserves far more addresses), files, no core."""
    def apply():
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_MEGABYTES << 20,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if megabytes:
            resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20,) * 2)
    return apply


def run(words, see, write, seconds, megabytes, cwd="/", gpu=False):
    """words: the command, in paths of the inside. see, write: {path here: path inside}. seconds: of CPU time, for each
    process. megabytes 0: no limit."""
    if mode() == "bubblewrap":
        command = [*_walls(see, write, gpu), "--chdir", str(cwd), "prlimit", f"--nproc={PROCESSES}", "--", *map(str, words)]
        environment, folder = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}, None
    else:
        inside = {str(there): str(here) for here, there in [*see.items(), *write.items()]}

        def outside(word):
            for there in sorted(inside, key=len, reverse=True):
                if str(word) == there or str(word).startswith(there + "/"):
                    return inside[there] + str(word)[len(there):]
            return str(word)

        command, folder = [outside(word) for word in words], outside(cwd)
        environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        environment |= {name: os.environ[name] for name in GPU_ENVIRONMENT if gpu and name in os.environ}
    begin = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        timed_out = False

        def stop(process):
            os.killpg(process.pid, signal.SIGKILL)

        with children.started(command, stop, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder, env=environment,
                              preexec_fn=_limits(seconds, megabytes)) as process:
            try:
                process.wait(WAIT * seconds)
            except subprocess.TimeoutExpired:
                timed_out = True
                stop(process)
                process.wait()
        if timed_out and not gpu:  # its CPU time would have ended it before: nothing here sleeps
            raise Refused(f"this machine is too busy to grade: {WAIT * seconds:.0f} s went by, and {seconds:.0f} s of CPU time "
                          "were not to be had in them; grade again, with less beside it (J=1)")

        def text(f):
            f.seek(0)
            return f.read(1 << 20).decode(errors="replace")

        return Result(process.returncode, text(out), text(err), time.monotonic() - begin, timed_out)
