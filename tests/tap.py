"""For tests in Python: check(NAME, PASSED, WHY) prints a line of TAP; refused(NAME, TEXT, CALL) passes if attnlab refuses the
call with these words; end() prints the plan, and leaves with 1 if any failed."""
import sys

n = failed = 0


def check(name, passed, why=''):
    global n, failed
    n += 1
    failed += not passed
    print(f'{"ok" if passed else "not ok"} {n} - {name}' + ('' if passed else f'\n# {why}'), flush=True)


def refused(name, text, call, kind=None):
    from attnlab import KernelError
    try:
        call()
        check(name, False, 'it was not refused')
    except kind or KernelError as error:
        check(name, text in str(error), str(error))


def end():
    print(f'1..{n}')
    sys.exit(failed > 0)
