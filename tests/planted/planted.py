"""Bugs and deadlocks planted in small CUDA programs: what the emulator says of each, as two tables.

    planted.py bugs FOLDER [NAME...]         those of bugs.cu, compiled to FOLDER/bugs
    planted.py deadlocks FOLDER [NAME...]    those of deadlocks.cu
    planted.py check                         the sources: names, marks, launches

The sources say how they are written. A bug is named if a report of its kind names one of its marked lines; a deadlock, if
the report says everything that stands beside its kernel. Exit status 1: one is missed.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get('BUILD', 'build')


class Case:
    def __init__(self, source, name, kind, wrong):
        self.source, self.name, self.kind, self.wrong = source, name, kind, wrong
        self.says, self.lines, self.marks = [], [], {}


def read(source):
    """The cases of a source, by name, and its text."""
    cases, last = {}, None
    with open(os.path.join(HERE, source)) as f:
        text = f.read().splitlines()
    for number, line in enumerate(text, 1):
        head = re.match(r'//= (\w+) \|(?: (.*) \|)? (.*)$', line)
        if head:
            last = cases[head[1]] = Case(source, head[1], head[2] or 'deadlock', head[3])
        elif line.startswith('//- '):
            last.says.append(line[4:])
    for number, line in enumerate(text, 1):
        mark = re.search(r'// @(\w+)(?:\.(\w+))?$', line)
        if mark and mark[1] in cases:
            cases[mark[1]].lines.append(number)
            cases[mark[1]].marks.setdefault(mark[2], number)
        elif mark:
            sys.exit(f'planted.py: {source}:{number} is marked for {mark[1]}, which is no case')
    return cases, text


def reports(case, folder):
    """What the emulator reports of a case, notes left out."""
    program = os.path.join(folder, case.source.removesuffix('.cu'))
    command = [os.path.join(BUILD, 'run'), '--device', 'emu', '--quiet', '--no-predict', '--timeout', '60', program, case.name]
    said = []
    for line in subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.splitlines():
        if line.startswith('run: '):
            said.append(line[5:])
        elif said:
            said[-1] += '\n' + line
    return [r for r in said if not re.match(r'note|\d+ checks? of the emulator failed', r)]


def lines_of(case, report):
    """The lines of the source that a report names; of the host's, with the command that it gives."""
    command = re.search(r'; (addr2line -i?e .*) shows the lines?', report)
    if command:
        report += subprocess.run(command[1].split(), text=True, stdout=subprocess.PIPE).stdout
    found = re.findall(re.escape(case.source) + r':(\d+)', report) + re.findall(r'called from line (\d+)', report)
    return list(dict.fromkeys(int(n) for n in found))


def bug(case, folder):
    """The kind and the lines that are reported, and the verdict."""
    said = reports(case, folder)
    if not said:
        return 'nothing', '', 'missed'
    of_kind = [r for r in said if re.match(case.kind, r)]
    at_line = [r for r in of_kind if set(lines_of(case, r)) & set(case.lines)]
    best = (at_line or of_kind or said)[0]
    kind = re.split(r' in kernel | by |: ', best)[0]
    return kind, ' '.join(map(str, lines_of(case, best))), 'yes' if at_line else 'other line' if of_kind else 'other kind'


def deadlock(case, folder):
    """What the report says of the warps and of the barrier, and what is missing."""
    said = reports(case, folder)
    report = next((r for r in said if r.startswith('deadlock')), '')
    if not report:
        return (said or ['nothing'])[0].splitlines()[0][:80], 'missed'
    lacks = [p for p in case.says if not re.search(re.sub(r'\{(\w+)\}', lambda m: str(case.marks[m[1]]), p), report)]
    told = [re.sub(r', lanes f{8}|, tx-count 0|, which polls.*?(?=: global|$)', '', line.strip()) for line in report.splitlines()[1:]
            if re.search(r'lanes [0-9a-f]{8} (wait|run|stand)|arrived, not:|have not begun|: phase ., (?!0 of \d+ arrivals missing, tx-count 0)', line)]
    return '; '.join(told or report.splitlines()[:1]), 'yes' if not lacks else 'lacks: ' + '; '.join(lacks)


def check():
    """What is wrong with the sources."""
    wrong = []
    for source, least in (('bugs.cu', 50), ('deadlocks.cu', 30)):
        cases, text = read(source)
        wrong += [f'{source}: {len(cases)} cases of {least}'] if len(cases) < least else []
        for case in cases.values():
            marks = set(re.findall(r'\{(\w+)\}', ' '.join(case.says)))
            wrong += [f'{case.name}: no line is marked for it'] if not case.lines and source == 'bugs.cu' else []
            wrong += [f'{case.name}: nothing says what its report must say'] if not case.says and source != 'bugs.cu' else []
            wrong += [f'{case.name}: no line is marked @{case.name}.{m}' for m in marks - set(case.marks)]
            wrong += [] if any(re.search(rf'RUN\({case.name},|"{case.name}"', t) for t in text) else [f'{case.name} is not run']
    return wrong


def main():
    what, folder, names = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else '', sys.argv[3:]
    if what == 'check':
        wrong = check()
        print('\n'.join(wrong))
        return 1 if wrong else 0
    cases = [c for c in read(what + '.cu')[0].values() if not names or c.name in names]
    n_named = 0
    if what == 'bugs':
        print('| bug | what is wrong | lines wanted | kind reported | lines reported | named |')
        print('| --- | --- | --- | --- | --- | --- |')
    else:
        print('| deadlock | what is wrong | reported: who waits, and for what | named |')
        print('| --- | --- | --- | --- |')
    for c in cases:
        if what == 'bugs':
            kind, lines, named = bug(c, folder)
            print(f"| {c.name} | {c.wrong} | {' '.join(map(str, c.lines))} | {kind} | {lines} | {named} |")
        else:
            reported, named = deadlock(c, folder)
            print(f'| {c.name} | {c.wrong} | {reported} | {named} |')
        n_named += named == 'yes'
    print(f'\nnamed {n_named} of {len(cases)}')
    return 0 if n_named == len(cases) else 1


if __name__ == '__main__':
    sys.exit(main())
