"""For tests in Python: check(NAME, PASSED, WHY) prints a line of TAP; end() the plan, and leaves with 1 if any failed."""
import sys

n = failed = 0


def check(name, passed, why=''):
    global n, failed
    n += 1
    failed += not passed
    print(f'{"ok" if passed else "not ok"} {n} - {name}' + ('' if passed else f'\n# {why}'), flush=True)


def end():
    print(f'1..{n}')
    sys.exit(failed > 0)
