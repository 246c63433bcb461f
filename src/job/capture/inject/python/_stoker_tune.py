# SPDX-License-Identifier: Apache-2.0
"""Hooks of `stoker tune` inside a job, in addition to those of `stoker run`. They report the job's calls (facts, and
the line of the program that makes them), apply fixes to these calls, collect losses, and end the job after enough
steps.

STOKER_TUNE is "stop=N fix=ID=VALUE;ID=VALUE"; N 0 doesn't end the job. The findings go to DIR/tune-PID.txt, one per
line:

    fact    NAME    VALUE               of a call, as the program makes it
    place   CALL    FILE    LINE        the program's own line
    applied FIX                         it took effect
    refused FIX     WHY                 it must not be applied here
    loss    STEP    VALUE
    end     STEPS

Losses are kept as the framework gave them and become numbers at the end, so that no step waits for a device."""

import atexit
import os
import sys

import _stoker_core

LOSSES = 4096  # kept per run
_STDLIB = os.path.dirname(os.__file__)

_asked = {}  # name of a fix's function -> (id, value)
_functions = {}  # call -> functions of fixes
stop = 0
_said = set()
_losses = []
_roots = []  # folders of frameworks


def say(kind, *fields):
    line = "\t".join([kind, *(" ".join(str(f).split())[:300] for f in fields)])
    if (os.getpid(), line) in _said:
        return
    _said.add((os.getpid(), line))
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
        fd = os.open(f"{_stoker_core.plan['dir']}/tune-{os.getpid()}.txt", flags, 0o666)
        try:
            os.write(fd, (line + "\n").encode("utf-8", "replace"))
        finally:
            os.close(fd)
    except OSError:
        pass


def fact(name, value):
    say("fact", name, value)


def is_own(path):
    """Whether a line is the program's, not Python's, a framework's or these hooks'."""
    return not (
        path.startswith("<") or "/site-packages/" in path or "/dist-packages/" in path or path.startswith(_STDLIB)
        or any(path.startswith(root) for root in _roots) or path.startswith(_stoker_core.folder)
    )


def is_direct(depth=2):
    """Whether the program itself makes the call, not a framework."""
    return is_own(sys._getframe(depth).f_code.co_filename)


def place(call):
    frame = sys._getframe(1)
    while frame is not None and not is_own(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is not None:
        say("place", call, os.path.abspath(frame.f_code.co_filename), frame.f_lineno)


def knows(module):
    """A framework's module: its package's folder isn't the program."""
    package = sys.modules.get(module.__name__.partition(".")[0], module)
    root = os.path.dirname(getattr(package, "__file__", "") or "")
    if root and root not in _roots:
        _roots.append(root)


# Fixes


def fix(call):
    """Marks the function of a fix. Its name is the fix's id (src/fixes/text), with `_` for `.` and `-`. If the fix is
    requested, the function is called with its value and a dict of what the call works with, which it may change. It
    returns whether it changed something, a function that says so when the run ends, or why it must not be applied: a
    name in src/fixes/refusals.def, or a reason of its own."""

    def mark(function):
        _functions.setdefault(call, []).append(function)
        return function

    return mark


def asks(call):
    """Whether a fix of this call is requested."""
    return any(f.__name__ in _asked for f in _functions.get(call, ()))


def apply(call, now):
    """Applies the requested fixes of this call, in the order in which their functions are defined."""
    for function in _functions.get(call, ()):
        if function.__name__ in _asked:
            name, value = _asked[function.__name__]
            try:
                _tell(name, function(value, now))
            except Exception as e:
                _tell(name, f"{type(e).__name__}: {e}")


def change(now, name, value):
    """Sets it, and returns whether that changed it."""
    was, now[name] = now.get(name), value
    return was != value


def _tell(name, result):
    if callable(result):
        ends.append(lambda: _tell(name, result()))
    elif isinstance(result, str):
        say("refused", name, result)
    elif result:
        say("applied", name, "")


# Losses


def loss(step, value):
    if len(_losses) < LOSSES:
        _losses.append((step, value))


def _flush():
    """Losses as numbers; other values are left out."""
    kept, _losses[:] = list(_losses), []
    for step, value in kept:
        try:
            say("loss", step, repr(float(value)))
        except Exception:
            continue


# The end


def _finish():
    """After the last step, whether the job is stopped there or ends earlier by itself."""
    _flush()
    asked, ends[:] = list(ends), []
    for at_end in asked if os.getpid() == _main else ():
        try:
            at_end()
        except Exception:
            continue


def _faults():
    """Pages that this process, with all its threads, has got from the system without reading a file."""
    try:
        with open("/proc/self/stat", "rb") as stat:
            return int(stat.read().rpartition(b")")[2].split()[7])
    except (OSError, ValueError, IndexError):
        return None


class Window:
    """Takes the role of `stoker run`'s window, and ends the job at that point. Halfway there it starts to count pages,
    because allocators have settled by then."""

    is_open = False

    def __init__(self, recorder):
        self.recorder = recorder
        self.steps, self.faults = 0, None

    def is_mine(self, profile):
        return False

    def step_begins(self):
        pass

    def give_way(self):
        pass

    def turn(self):
        steps, faults = self.recorder.count, _faults()
        if steps < stop:
            self.steps, self.faults = steps, faults
            self.recorder.event = stop
            return
        if faults is not None and self.faults is not None and steps > self.steps:
            fact("process.faults", (faults - self.faults) // (steps - self.steps))
        _finish()
        self.recorder.finish()
        say("end", self.recorder.count)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                continue
        os._exit(0)


ends = []  # called once, in the process that registered them
_main = os.getpid()


def start(text):
    global stop
    words = dict(w.partition("=")[::2] for w in text.split())
    stop = int(words.get("stop", 0))
    for asked in words.get("fix", "").split(";"):
        name, _, value = asked.partition("=")
        if name:
            _asked[name.replace(".", "_").replace("-", "_")] = (name, value)
    if stop:
        _stoker_core.turner = "_stoker_tune"
        _stoker_core.plan.update(steps=1, warmup=(stop + 1) // 2)
        _stoker_core.recorder.restart()
    atexit.register(_finish)
    for name in ("data", "torch", "tf", "step", "keras", "jax"):
        for module, patch in _stoker_core.load("_stoker_fix_" + name).WATCHED:
            _stoker_core.more.setdefault(module, []).append(patch)
