"""How a Python program of this repository ends.

    if __name__ == "__main__":
        main_program.run(main)      exit status: what main() returns or exits with

If the reader of its output stops (make ... | head), it ends silently with status 141; after Ctrl-C, with 130. Before that,
main() releases what it holds (folders, processes)."""
import os
import signal
import sys


def run(main, *arguments):
    ended_by = status = None
    try:
        try:
            status = main(*arguments)
        except SystemExit as end:
            status = end.code
        sys.stdout.flush()
    except BrokenPipeError:
        ended_by = signal.SIGPIPE
    except KeyboardInterrupt:
        ended_by = signal.SIGINT
    if ended_by:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python writes the rest once more
        status = 128 + ended_by
    sys.exit(status)
