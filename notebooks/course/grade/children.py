"""Programs that do not outlive the one that started them: whoever ends it (Ctrl-C, kill) ends them first, and its
folders go with it.

    children.end_with_us()                  once, in the main thread; exit status 130 or 143
    with children.started(words, stop, ...) as process:      stop(process): how it is ended"""
import contextlib
import signal
import subprocess
import sys
import threading

_lock = threading.RLock()  # the handler may come while the main thread holds it
_running = {}   # {process: stop}
_ended = False


def _end(number, frame):
    global _ended
    for again in (signal.SIGINT, signal.SIGTERM):
        signal.signal(again, signal.SIG_IGN)
    with _lock:
        _ended = True
        for process, stop in _running.items():
            with contextlib.suppress(ProcessLookupError):
                stop(process)
    sys.exit(128 + number)


def end_with_us():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)


@contextlib.contextmanager
def started(words, stop, **more):
    with _lock:
        if _ended:  # what still waits for its turn
            raise InterruptedError("ended")
        process = subprocess.Popen(words, **more)
        _running[process] = stop
    try:
        yield process
    finally:
        with _lock:
            del _running[process]
