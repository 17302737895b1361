"""What lies in a folder of submissions: which submissions there are, and safe copies of their files.

    Intake(folder, labs, skip)         .work: [Submission]    .refused: [(student, what, why)]    .steps: [Submission]
    take(submission, names, into)      copies files of these names, {name: why not} of the others that are there

A student may have put anything there: links, pipes, devices, names that no file of ours may have. No link is
followed, below the folder of submissions. What is read is an ordinary file, opened once and without waiting."""
import dataclasses
import errno
import os
import pathlib
import re
import stat

import diary
import plain

BYTES = 256 << 10               # of one file
FOLDERS = 20                    # of one student, beside the labs
NAME_BYTES = 100
OURS = (".txt", ".csv", ".html", ".new")  # endings of the files that lie beside the students' folders in OUT
FILES = ("deadlines", "collected")
STEPS = "steps"                 # a folder beside the labs, with a diary of checks


@dataclasses.dataclass
class Submission:
    student: str
    lab: int                # or the name of an exam; None: the folder `steps`, which is not graded
    path: pathlib.Path      # SUBMISSIONS/STUDENT/lab-N or SUBMISSIONS/STUDENT/steps


def _folder(name, at=None):
    """A descriptor of a folder that is no link."""
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)


def _trouble(error):
    """Why a file or a folder could not be opened."""
    known = {errno.ELOOP: "it is a link", errno.ENOTDIR: "it is no folder", errno.EACCES: "it cannot be read: no rights",
             errno.ENXIO: "it is no ordinary file", errno.ENODEV: "it is no ordinary file"}
    return known.get(error.errno, os.strerror(error.errno or errno.EIO))


def bad_name(name):
    """Why a student cannot have this name, or ''."""
    if not name.isprintable():
        return "the name has characters that cannot be printed"
    if "\\" in name:
        return "the name has a backslash"
    if len(os.fsencode(name)) > NAME_BYTES:
        return f"the name has over {NAME_BYTES} bytes"
    if name.lower().endswith(OURS):
        return f"the name ends like a file of the grader's: {', '.join(OURS)}"
    return ""


def _meant(name, labs):
    """The lab that a wrong name may mean: `, is lab-1 meant?`, or ''."""
    match = re.fullmatch(r"(?:lab)?[-_ .]*0*(\d{1,3})", name.lower(), re.ASCII)
    return f", is lab-{int(match[1])} meant?" if match and int(match[1]) in labs else ""


class Intake:
    def __init__(self, folder, labs, skip=None):
        """labs: the numbers there are. skip: a folder of ours that may lie among the submissions."""
        self.folder, self.labs, self.work, self.refused, self.steps = pathlib.Path(folder), set(labs), [], [], []
        self.skip = os.stat(skip) if skip and os.path.exists(skip) else None
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in sorted(os.listdir(top)):
                self._student(top, name)
        finally:
            os.close(top)
        self.work.sort(key=lambda submission: (submission.student, str(submission.lab)))

    def refuse(self, student, what, why):
        self.refused.append((student, what, why))

    def _student(self, top, name):
        try:
            about = os.stat(name, dir_fd=top, follow_symlinks=False)
            if stat.S_ISREG(about.st_mode) and name in FILES or self.skip and os.path.samestat(about, self.skip):
                return
            at = _folder(name, top)
        except OSError as error:
            # a folder that is a link is no folder either: say what it is
            linked = stat.S_ISLNK(about.st_mode) if error.errno == errno.ENOTDIR else False
            return self.refuse(name, "", f"not graded: {'it is a link' if linked else _trouble(error)}; STUDENT/lab-N/ is wanted")
        try:
            why = bad_name(name) or ("the name is one of a file of the course" if name in FILES else "")
            if why:
                return self.refuse(name, "", f"not graded: {why}; rename the folder")
            self._labs(at, name)
        except OSError as error:  # no right to enter it, or it goes away meanwhile
            self.refuse(name, "", f"not graded: {_trouble(error)}")
        finally:
            os.close(at)

    def _labs(self, at, student):
        found, wrong = 0, 0
        names = sorted(os.listdir(at))
        for name in names:
            about = os.stat(name, dir_fd=at, follow_symlinks=False)
            if name == STEPS and stat.S_ISDIR(about.st_mode):
                self.steps.append(Submission(student, None, self.folder / student / name))
                found += 1
                continue
            match = re.fullmatch(r"lab-(0|[1-9]\d{0,2})|exam-[1-9]", name, re.ASCII)
            number = match and (int(match[1]) if match[1] else name)
            known = match and number in self.labs
            if not known and not stat.S_ISDIR(about.st_mode) and not stat.S_ISLNK(about.st_mode):
                continue  # a file beside the labs
            why = ""
            if not known:
                why = f"there is no such {'lab' if match[1] else 'exam'}" if match else f"no folder lab-N{_meant(name, self.labs)}"
            elif stat.S_ISLNK(about.st_mode):
                why = "it is a link"
            elif not stat.S_ISDIR(about.st_mode):
                why = "it is no folder"
            elif not os.access(name, os.R_OK | os.X_OK, dir_fd=at):
                why = "it cannot be read: no rights"
            found += 1
            if not why:
                self.work.append(Submission(student, number, self.folder / student / name))
                continue
            wrong += 1
            if wrong <= FOLDERS:
                self.refuse(student, name, f"not graded: {why}")
        if wrong > FOLDERS:
            self.refuse(student, "", f"not graded: {wrong - FOLDERS} more folders that are no labs")
        if not found:
            beside = f": {plain.line(names[0])} lies outside" if names else ", it is empty"
            self.refuse(student, "", f"not graded: there is no folder lab-N in it{beside}")


def open_lab(submission):
    """A descriptor of the lab's folder. No part below the folder of submissions may be a link."""
    top = os.open(submission.path.parents[1], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        student = _folder(submission.student, top)
        try:
            return _folder(submission.path.name, student)
        finally:
            os.close(student)
    finally:
        os.close(top)


def read(name, at=None, most=BYTES):
    """(bytes, None) of an ordinary file; (None, why not) of anything else. FileNotFoundError if there is none."""
    try:
        # a device is not opened; a pipe that comes here meanwhile does not wait for a writer
        if not stat.S_ISREG(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
            return None, "it is no ordinary file"
        f = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, dir_fd=at)
    except FileNotFoundError:
        raise
    except OSError as error:
        return None, _trouble(error)
    with open(f, "rb") as f:
        about = os.fstat(f.fileno())
        if not stat.S_ISREG(about.st_mode):
            return None, "it is no ordinary file"
        if about.st_size > most:
            return None, f"it has {about.st_size} bytes: {most} at most"
        data = f.read(most + 1)  # it may grow meanwhile
        return (data, None) if len(data) <= most else (None, f"it has over {most} bytes")


def take(submission, names, into):
    """Copies the files of these names. {name: why not} of those that are there and cannot be taken."""
    refused = {}
    at = open_lab(submission)
    try:
        for name in names:
            try:
                data, why = read(name, at)
            except FileNotFoundError:
                continue
            if why:
                refused[name] = why
            else:
                (into / name).write_bytes(data)
    finally:
        os.close(at)
    return refused


def diary_of(submission):
    """([diary.Entry], why it is not read or '')."""
    try:
        at = open_lab(submission)
        try:
            data, why = read(diary.NAME, at, diary.BYTES)
        finally:
            os.close(at)
    except FileNotFoundError:
        return [], ""
    except OSError as error:
        return [], _trouble(error)
    return (diary.read(data), "") if data is not None else ([], why)


def arrived(submission, names):
    """When the last of these files came to lie here: the time of its inode, which nobody can set (touch, tar and rsync set
    another one). Seconds."""
    at = open_lab(submission)
    try:
        times = [os.fstat(at).st_ctime]
        for name in names:
            try:
                times.append(os.stat(name, dir_fd=at, follow_symlinks=False).st_ctime)
            except OSError:
                pass
        return max(times)
    finally:
        os.close(at)
