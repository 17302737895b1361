"""Which system calls a program in the sandbox may make: seccomp filters, as the bytes of BPF that bubblewrap loads.

    program(kind)       bytes, or None where there is no filter for this processor

'trial' may read, write, ask for memory, start threads of its own and end; 'predict' also starts nvdisasm and keeps what
it said; 'tools', for compilers and the GPU, may do all but what reaches out of a sandbox. A call that is not allowed
fails with ENOSYS: the C library then takes an older one, as it does on an old kernel."""
import platform
import struct

# x86-64: arch/x86/entry/syscalls/syscall_64.tbl of Linux
START = {  # bubblewrap's first process, and the programs that set user and limits
    "execve": 59, "wait4": 61, "prlimit64": 302, "prctl": 157, "capget": 125, "capset": 126, "getgroups": 115, "setgroups": 116,
    "setresuid": 117, "getresuid": 118, "setresgid": 119, "getresgid": 120, "getuid": 102, "getgid": 104, "geteuid": 107, "getegid": 108}
TRIAL = {
    "read": 0, "write": 1, "close": 3, "fstat": 5, "lseek": 8, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12,
    "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "pread64": 17, "readv": 19, "writev": 20, "access": 21,
    "sched_yield": 24, "mremap": 25, "madvise": 28, "nanosleep": 35, "getpid": 39, "exit": 60, "uname": 63, "fcntl": 72,
    "getcwd": 79, "readlink": 89, "gettimeofday": 96, "getrlimit": 97, "getrusage": 98, "sysinfo": 99, "sigaltstack": 131,
    "arch_prctl": 158, "gettid": 186, "futex": 202, "sched_getaffinity": 204, "set_tid_address": 218, "clock_gettime": 228,
    "clock_getres": 229, "clock_nanosleep": 230, "exit_group": 231, "tgkill": 234, "openat": 257, "newfstatat": 262,
    "readlinkat": 267, "faccessat": 269, "set_robust_list": 273, "getrandom": 318, "rseq": 334, "faccessat2": 439}
PREDICT = {
    "stat": 4, "dup": 32, "dup2": 33, "dup3": 292, "pipe2": 293, "clone": 56, "vfork": 58, "getppid": 110, "ioctl": 16,
    "getdents64": 217, "mkdir": 83, "rename": 82, "unlink": 87, "sched_get_priority_max": 146,
    "sched_get_priority_min": 147, "statx": 332}
NETWORK = {"socket": 41, "socketpair": 53}
OUTWARD = {
    "ptrace": 101, "pivot_root": 155, "chroot": 161, "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167,
    "reboot": 169, "iopl": 172, "ioperm": 173, "init_module": 175, "delete_module": 176, "quotactl": 179, "kexec_load": 246,
    "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272, "perf_event_open": 298, "name_to_handle_at": 303,
    "open_by_handle_at": 304, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "finit_module": 313,
    "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323, "io_uring_setup": 425, "io_uring_enter": 426,
    "io_uring_register": 427, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
    "clone3": 435, "pidfd_getfd": 438, "mount_setattr": 442}
CLONE = 56
CLONE_THREAD = 0x10000
CLONE_NEW = 0x7E020000  # every namespace: mount, cgroup, uts, ipc, user, pid, net

ARCHITECTURE = 0xC000003E          # AUDIT_ARCH_X86_64
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCH, FIRST_ARGUMENT = 0, 4, 16   # of struct seccomp_data
ALLOW, KILL, MISSING = 0x7FFF0000, 0x80000000, 0x00050000 | 38


def _op(code, value, true=0, false=0):
    return struct.pack("HBBI", code, true, false, value)


def _answer(numbers, answer):
    return b"".join(_op(EQUAL, number, 0, 1) + _op(RETURN, answer) for number in sorted(numbers))


def program(kind):
    if platform.machine() != "x86_64":
        return None
    head = (_op(LOAD, ARCH) + _op(EQUAL, ARCHITECTURE, 1, 0) + _op(RETURN, KILL) +
            _op(LOAD, NUMBER) + _op(AT_LEAST, 0x40000000, 0, 1) + _op(RETURN, KILL))  # the numbers of x32
    if kind in ("tools", "gpu"):
        refused = {**OUTWARD, **(NETWORK if kind == "tools" else {})}
        # a process without namespaces of its own; the flags of clone3 cannot be seen, so that it is refused
        clone = _op(EQUAL, CLONE, 0, 4) + _op(LOAD, FIRST_ARGUMENT) + _op(ANY_BIT, CLONE_NEW, 0, 1) + _op(RETURN, MISSING) + _op(RETURN, ALLOW)
        return head + clone + _answer(refused.values(), MISSING) + _op(RETURN, ALLOW)
    allowed = {**START, **TRIAL, **(PREDICT if kind == "predict" else {})}
    only = CLONE_THREAD if kind == "trial" else 0
    clone = _op(EQUAL, CLONE, 0, 6) + _op(LOAD, FIRST_ARGUMENT) + _op(ANY_BIT, CLONE_NEW, 0, 1) + _op(RETURN, MISSING)
    clone += (_op(ANY_BIT, only, 1, 0) if only else _op(ANY_BIT, 0, 1, 1)) + _op(RETURN, MISSING) + _op(RETURN, ALLOW)
    return head + clone + _answer(set(allowed.values()) - {CLONE}, ALLOW) + _op(RETURN, MISSING)
