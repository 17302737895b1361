"""Keeps wrong programs from harm (Landlock, Linux 5.13): what runs after confine() can write, make and remove files only below
the folders named, write to /dev/null and /dev/full, and signal its own children. Where the kernel has none, nothing is kept."""
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)
CREATE, ADD, RESTRICT = 444, 445, 446  # landlock_create_ruleset, _add_rule, _restrict_self
WRITE_FILE, TRUNCATE, SIGNAL = 1 << 1, 1 << 14, 1 << 1
version = libc.syscall(CREATE, None, 0, 1)
# what an access right of a file changes: written, removed, made; from version 2 on renamed to another folder, from 3 on truncated
CHANGES = sum(1 << n for n in (1, *range(4, 13))) | (1 << 13 if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)


class Ruleset(ctypes.Structure): _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]
class Beneath(ctypes.Structure): _pack_, _fields_ = 1, [("allowed", ctypes.c_uint64), ("fd", ctypes.c_int32)]


def ruleset(*folders):
    """For confine(); None where the kernel has no Landlock."""
    if version < 1: return None
    rules = Ruleset(CHANGES, 0, SIGNAL if version >= 6 else 0)
    fd = libc.syscall(CREATE, ctypes.byref(rules), 24 if version >= 6 else 16 if version >= 4 else 8, 0)
    for path, allowed in [(f, CHANGES) for f in folders] + [(f, CHANGES & (WRITE_FILE | TRUNCATE)) for f in ("/dev/null", "/dev/full")]:
        if not os.path.exists(path): continue
        at = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if libc.syscall(ADD, fd, 1, ctypes.byref(Beneath(allowed, at)), 0): raise OSError(ctypes.get_errno(), f"no rule for {path}")
        os.close(at)
    return fd


def confine(rules):
    """This process and all it will start; may follow a fork."""
    if rules is None: return
    if libc.prctl(38, 1, 0, 0, 0) or libc.syscall(RESTRICT, rules, 0): raise OSError(ctypes.get_errno(), "cannot confine")
