"""How a Python program of this repository ends.

    if __name__ == "__main__":
        main_program.run(main)      exit status: what main() returns or exits with

A reader that has seen enough (make ... | head) ends it without a word, with status 141; so does Ctrl-C, with 130. Whatever
main() holds (folders, processes) is given back first."""
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
