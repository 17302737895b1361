"""A place of its own for a program that is not trusted: nothing of this machine but what is named, no network,
no other process, and limits.

    mode()                                          'bubblewrap', or 'weak' where $SANDBOX says so
    run(words, see, write, seconds, megabytes)      Result

bubblewrap: user, mount, network, process and IPC namespaces of its own; a file system in which only `see` (read
only) and the files `write` exist; no capabilities; few system calls (calls.py). Root gives each run a user that owns
nothing: of root's processes the kernel limits neither number nor memory. weak: a folder, an empty environment and the
limits, nothing more: a kernel cannot run host code, but what the compiler reads is checked only afterwards (compile.py).

What a program may write are files of ours, made before it begins and mounted one by one: it can make no link of them.
All else that it writes is in memory, limited, and gone at the end."""
import dataclasses
import functools
import itertools
import os
import pathlib
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time

import calls as system_calls
import children

SYSTEM = ["/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc/alternatives", "/etc/ld.so.cache"]
FILE_MEGABYTES = 256
PROCESSES = 128
FILES = 256         # open at once
FIRST_USER = 0x70000000     # of users that nobody else has: systemd leaves these numbers alone
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "OMP_WAIT_POLICY": "passive"}  # who waits leaves its core to others
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
    tried = subprocess.run([program, *_own(), "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", *_user(), "true"],
                           capture_output=True, text=True)
    if tried.returncode:
        why = (tried.stderr.strip().splitlines() or ["no reason given"])[-1]
        if os.getuid() == 0:
            raise Refused(f"root cannot make a sandbox here ({why}): grade as an ordinary user, or with SANDBOX=weak")
        raise Refused(f"bubblewrap is refused here ({why}): let users make namespaces "
                      "(kernel.unprivileged_userns_clone=1), or grade with SANDBOX=weak")
    return "bubblewrap"


_turn = itertools.count()


def _own():
    """The namespaces. Root needs none of users: in one that root makes, everybody is root to the limits."""
    if os.getuid() == 0:
        return ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL",
                "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return ["--unshare-all", "--cap-drop", "ALL", "--uid", "65534", "--gid", "65534"]


def _user():
    """Of root's sandbox: another user in each, so that the limit of processes is its own; capabilities end with it."""
    if os.getuid():
        return []
    user = FIRST_USER + ((os.getpid() & 0x3FFFFF) << 4) + next(_turn) % 16
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--inh-caps=-all", "--no-new-privs"]


def _memory(place):
    return ["--perms", "1777", "--size", str(FILE_MEGABYTES << 20), "--tmpfs", place]


def _shown(here, there):
    """A file or folder, to be read. bubblewrap would make the folders above it for its own user alone."""
    above = [str(folder) for folder in reversed(pathlib.PurePath(there).parents) if str(folder) not in ("/", "/tmp")]
    made = [] if there.startswith(tuple(SYSTEM)) else [word for folder in above for word in ("--perms", "0755", "--dir", folder)]
    return [*made, "--ro-bind", str(here), there]


def _walls(see, write, gpu):
    words = ["bwrap", *_own(), "--die-with-parent", "--new-session", "--clearenv", "--hostname", "sandbox", "--proc", "/proc",
             "--dev", "/dev", *_memory("/tmp"), *(word for pair in ENVIRONMENT.items() for word in ("--setenv", *pair))]
    for folder in SYSTEM:
        if os.path.islink(folder):
            words += ["--symlink", os.readlink(folder), folder]
        elif os.path.exists(folder):
            words += ["--ro-bind", folder, folder]
    if gpu:
        words += ["--ro-bind", "/sys", "/sys"]
        for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":"):  # where the driver may lie
            if os.path.isabs(folder) and os.path.isdir(folder):
                words += _shown(folder, folder)
        for name in GPU_ENVIRONMENT:
            words += ["--setenv", name, os.environ[name]] if name in os.environ else []
        for device in pathlib.Path("/dev").glob("nvidia*"):
            words += ["--dev-bind", str(device), str(device)]
    for folder in sorted({str(pathlib.PurePath(there).parent) for there in write.values()}):
        words += _memory(folder)
    for here, there in see.items():
        words += _shown(here, str(there))
    for here, there in write.items():
        words += ["--bind", str(here), str(there)]
    return words + ([] if gpu else ["--remount-ro", "/dev"]) + ["--remount-ro", "/"]


def _limits(seconds, megabytes):
    """Of the program itself, in the child: CPU time, written memory (the emulator reserves far more addresses), files, no core."""
    def apply():
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_MEGABYTES << 20,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
        if megabytes:
            resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20,) * 2)
    return apply


def _make(path):
    """An empty file of ours that the program may fill."""
    f = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    os.fchmod(f, 0o666)
    os.close(f)


def _settle(path):
    """An ordinary file with something in it stays; without a sandbox it may be anything by now."""
    try:
        about = os.lstat(path)
        if stat.S_ISDIR(about.st_mode):
            shutil.rmtree(path)
        elif not stat.S_ISREG(about.st_mode) or not about.st_size:
            os.unlink(path)
    except FileNotFoundError:
        pass


def run(words, see, write, seconds, megabytes, cwd="/", gpu=False, calls="tools"):
    """words: the command, in paths of the inside. see: {path here: path inside}. write: {file here: file inside}; a file that
    gets nothing is not there afterwards. seconds: of CPU time, for each process. megabytes 0: no limit. calls: as calls.py's."""
    for path in write:
        _make(path)
    try:
        return _run(words, see, write, seconds, megabytes, cwd, gpu, "gpu" if gpu else calls)
    finally:
        for path in write:
            _settle(path)


def _run(words, see, write, seconds, megabytes, cwd, gpu, calls):
    more = {}
    if mode() == "bubblewrap":
        command = [*_walls(see, write, gpu), "--chdir", str(cwd)]
        code = system_calls.program(calls)
        if code:
            loaded = os.memfd_create("calls", 0)
            os.write(loaded, code), os.lseek(loaded, 0, os.SEEK_SET)
            command += ["--seccomp", str(loaded)]
            more["pass_fds"] = [loaded]
        command += [*_user(), "prlimit", f"--nproc={PROCESSES}", "--", *map(str, words)]
        environment, folder = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}, None
    else:
        inside = {str(there): str(here) for here, there in [*see.items(), *write.items()]}
        inside |= {str(pathlib.PurePath(there).parent): str(pathlib.Path(here).parent) for here, there in write.items()}

        def outside(word):
            for there in sorted(inside, key=len, reverse=True):
                if str(word) == there or str(word).startswith(there + "/"):
                    return inside[there] + str(word)[len(there):]
            return str(word)

        command, folder = [outside(word) for word in words], outside(cwd)
        environment = dict(ENVIRONMENT)
        environment |= {name: os.environ[name] for name in GPU_ENVIRONMENT if gpu and name in os.environ}
    try:
        return _limited(command, folder, environment, seconds, megabytes, gpu, more)
    finally:
        for f in more.get("pass_fds", []):
            os.close(f)


def _limited(command, folder, environment, seconds, megabytes, gpu, more):
    begin = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        timed_out = False

        def stop(process):
            os.killpg(process.pid, signal.SIGKILL)

        def late():
            nonlocal timed_out
            timed_out = process.returncode is None
            if timed_out:
                stop(process)

        with children.started(command, stop, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder, env=environment,
                              preexec_fn=_limits(seconds, megabytes), **more) as process:
            timer = threading.Timer(WAIT * seconds, late)  # Popen.wait(seconds) sees a short run's end up to 50 ms late
            timer.daemon = True
            timer.start()
            try:
                process.wait()
            finally:
                timer.cancel()
        if timed_out and not gpu:  # its CPU time would have ended it before: nothing here sleeps
            raise Refused(f"this machine is too busy to grade: {WAIT * seconds:.0f} s went by, and {seconds:.0f} s of CPU time "
                          "were not to be had in them; grade again, with less beside it (J=1)")

        def text(f):
            f.seek(0)
            return f.read(1 << 20).decode(errors="replace")

        return Result(process.returncode, text(out), text(err), time.monotonic() - begin, timed_out)
