# SPDX-License-Identifier: Apache-2.0
"""Shared by scripted tests: a separate environment, checks that are counted, and a last line with their number. A
script without a single check fails, unless it says why it was skipped."""

import collections.abc
import contextlib
import fcntl
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED = 77  # exit status of a test that was skipped whole
counts = {"checks": 0, "failed": 0, "skipped": 0}
reasons: list[str] = []


def settle_environment() -> None:
    """The programs under test see this terminal, language and signals, not the caller's."""
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "LANG", "LANGUAGE", "STOKER_DATA_RECORD"):
        os.environ.pop(name, None)
    for name in [n for n in os.environ if n.startswith("LC_")]:
        del os.environ[name]
    os.environ.update(LC_ALL="C.UTF-8", TERM="xterm", PYTHONDONTWRITEBYTECODE="1")
    # A shell ignores Ctrl-C for what it puts into the background, and programs inherit that.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def work_in_memory() -> None:
    """Temporary files in memory, where a system has that: for thousands of small runs a busy disk takes most of the time."""
    if "TMPDIR" not in os.environ and os.access("/dev/shm", os.W_OK | os.X_OK):
        tempfile.tempdir = "/dev/shm"


def check(good: object, what: str) -> None:
    counts["checks"] += 1
    if not good:
        counts["failed"] += 1
        print(f"failed: {place()}: {what}", file=sys.stderr)


def place() -> str:
    """The line that asks, and the outermost function of the script around it."""
    frame = sys._getframe(2)
    line, name = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}", frame.f_code.co_name
    while frame.f_back and frame.f_back.f_code.co_name not in ("main", "<module>"):
        frame = frame.f_back
        name = frame.f_code.co_name
    return f"{line}: {name}"


def skip(why: str, parts: int = 1) -> None:
    """Leaves out `parts` parts of the test."""
    counts["skipped"] += parts
    if why not in reasons:
        reasons.append(why)
        print(f"skipped: {why}")


END = b"\0end of the output\0"


def on_terminal(words: "list[object]", columns: int = 80, **how: typing.Any) -> "tuple[int, bytes]":
    """(exit code, bytes) of a program whose output and errors go to a pseudo-terminal. Its slave stays open here until a mark
    that follows the output has arrived: a terminal that closes may drop what its reader has not yet had."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    p = subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, **how)
    ended = threading.Thread(target=lambda: (p.wait(), os.write(slave, END)))
    ended.start()
    seen = b""
    while not seen.endswith(END):
        seen += os.read(master, 65536)
    ended.join()
    os.close(slave)
    os.close(master)
    return p.returncode, seen[: -len(END)]


def needs_terminal() -> bool:
    """Whether this system gives pseudo-terminals; says so where it does not."""
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError as e:
        skip(f"no pseudo-terminal can be had: {e}")
        return False
    return True


@contextlib.contextmanager
def library_missing(program: pathlib.Path, library: str) -> "collections.abc.Iterator[tuple[str, dict[str, str]]]":
    """(file name, environment) of a shared library that a program names and cannot load there: what is found first is empty."""
    names = set(re.findall(re.escape(library).encode() + rb"\.so\.\d+", pathlib.Path(program).read_bytes()))
    assert len(names) == 1, f"{library}: {names}"
    file = names.pop().decode()
    with tempfile.TemporaryDirectory(prefix="stoker-no-library-") as folder:
        pathlib.Path(folder, file).touch()
        yield file, {**os.environ, "LD_LIBRARY_PATH": folder}


def small_profiles() -> "list[pathlib.Path]":
    """The profiles that fuzzing begins with: folders of its seeds that bear a reader's name."""
    readers = sorted(p.name for p in (ROOT / "src/profile/readers").iterdir() if p.is_dir() and p.name != "partial")  # which has no events
    return [p for name in readers for p in sorted((ROOT / "tests/fuzz/seeds" / name).glob("*"))]


def fixtures(holds: str = "expected.json", which: str = "fixtures") -> pathlib.Path | None:
    """The folder of further profiles, where it is there and holds that file; `field`: those of other people's programs."""
    name = f"STOKER_{which.upper()}"
    folder = pathlib.Path(os.environ.get(name) or ROOT.parent / "shared" / which)
    if (folder / holds).exists():
        return folder
    skip(f"no further profiles; set {name} to their folder")
    return None


def waits_for_interrupt(pid: int, seconds: float = 60) -> None:
    """Returns when the process handles SIGINT, however long it takes to get there on a busy machine."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
        except OSError:  # it has ended, or there is no /proc
            break
        caught = [line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")]
        if caught and int(caught[0], 16) & 1 << (signal.SIGINT - 1):
            break
        time.sleep(0.005)
    time.sleep(0.2)  # into what it does then


def done(name: str, more: str = "") -> int:
    """Prints the counts; the exit status of the test."""
    left_out = f", {counts['skipped']} skipped: {'; '.join(reasons)}" if reasons else ""
    print(f"{name}: {counts['checks']} checks{more}, {counts['failed']} failed{left_out}")
    if counts["failed"]:
        print(f"alone: ctest --test-dir build/release -R '^{name}$' -V", file=sys.stderr)
        return 1
    if counts["checks"]:
        return 0
    if reasons:
        return SKIPPED
    print(f"failed: {name} checked nothing", file=sys.stderr)
    return 1


settle_environment()
