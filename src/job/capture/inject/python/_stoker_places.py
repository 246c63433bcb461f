# SPDX-License-Identifier: Apache-2.0
"""Where in the program's own files the time goes: the loop, its loader, its data set, the slowest lines, and the
evaluations of the whole run. The window's profile carries this as `stoker` among its top-level values.

Method: lines come from samples of the training thread's stack, from the first step until the window opens. A sample
counts for the innermost frame in the job's own files, so time in a library counts for the line that called it. An
evaluation is the time from model.eval() to model.train() in which no gradients are computed.

Limits: few samples if the warm-up is short; loader workers are other processes and aren't sampled; an evaluation that
never calls eval() isn't seen."""

import atexit
import gc
import json
import os
import sys
import threading
import time

import _stoker_core
from _stoker_record import KERAS, OPTIMIZER, ident, now

PERIOD = 0.002  # s from one sample to the next
SAMPLES = 400  # at most
LONG = 10  # warm-up steps; from here on, short steps may extend the warm-up
DRAWN_OUT = 20  # extra steps at most, until there are samples
FEWEST = 10  # samples needed before shares are reported
LINES = 3  # that are reported
WAITS = 0.2  # of the time: from here on, a job without a window gets a note on its input
WINDOW_FEW = 3  # steps of a window: with fewer, its report can't tell (thresholds.def, HOST_STEPS)
TEXT = 160  # bytes of one place, at most
LOADERS = 64  # that are remembered
EVALUATIONS = 4096  # that are remembered

_LIBRARIES = tuple(
    {os.path.realpath(os.path.dirname(module.__file__)) + os.sep for module in (os, json.decoder) if module.__file__}
)
_FETCH = ("torch/utils/data/dataloader.py", "tensorflow/python/data/ops/iterator_ops.py")
_AHEAD = {
    "pytorch": ": let workers make them ahead of time (num_workers=2)",
    "tensorflow": ": let the pipeline end with prefetch",
}


_own = {}  # file -> whether it is the job's own


def is_own(code):
    """Whether the code is the job's own, not a library's and not these hooks'."""
    file = code.co_filename
    if file not in _own:
        _own[file] = _is_own(file)
    return _own[file]


def _is_own(file):
    if file.startswith("<") or "site-packages" in file or "dist-packages" in file:
        return False
    torch = getattr(sys.modules.get("torch"), "__file__", None)  # it may run from its build folder
    if torch and file.startswith(os.path.dirname(torch) + os.sep):
        return False
    return not file.startswith(_LIBRARIES) and os.path.dirname(file) != _stoker_core.folder


def own_frame(frame):
    """The job's own innermost frame, or None."""
    while frame is not None and not is_own(frame.f_code):
        frame = frame.f_back
    return frame


def _text(code, line):
    file = os.path.basename(code.co_filename)
    name = getattr(code, "co_qualname", code.co_name).rpartition("<locals>.")[2]
    return f"{file}:{line}"[:TEXT] if name.startswith("<") else f"{name} ({file}:{line})"[:TEXT]


def here():
    """The place in the job's own code that is running, as text; "": none."""
    frame = own_frame(sys._getframe())
    return _text(frame.f_code, frame.f_lineno) if frame is not None else ""


def of_function(function):
    """Where one of the job's own functions is defined; "" for others."""
    code = getattr(function, "__code__", None)
    return _text(code, code.co_firstlineno) if code is not None and is_own(code) else ""


class Places:
    def __init__(self, recorder):
        self.recorder = recorder
        self.loaders = {}  # id of a data set -> places: of its loader, of the loop, of what makes an element
        self.lines, self.fetches, self.loops = {}, {}, {}  # text -> samples
        self.samples = self.fetch_samples = 0
        self.latest = {}  # of the last pipeline, the one that Keras iterates over
        self.stepping = ""
        self.begun = self.is_sampling = self.ended = False
        self.step_ns = 0  # of the usual step before the window
        self.whole_steps = 0  # in the window, if the job ended within it
        self.evaluating = 0  # since when
        self.collecting = self.collected = self.collections = self.since = self.until = 0  # full collections of garbage
        self.where = self.where_now = ""
        atexit.register(self.at_exit)
        self.starts, self.lengths = [], []  # of evaluations: step, ns

    # Loaders

    def loader_made(self, loader):
        """A DataLoader, after its __init__."""
        data_set = getattr(loader, "dataset", None)
        while len(self.loaders) >= LOADERS:
            self.loaders.pop(next(iter(self.loaders)))
        self.loaders[id(data_set)] = {"loader": here(), "makes": _makes_elements(data_set),
                                      "workers": getattr(loader, "num_workers", 0)}

    def loop_begins(self, iterator):
        """An iterator of a DataLoader's, after its __init__."""
        loader = self.loaders.get(id(getattr(iterator, "_dataset", None)))
        if loader is not None:
            loader["loop"] = here()

    def pipeline_begins(self, data_set):
        """An iterator over a tf.data data set is created."""
        while len(self.loaders) >= LOADERS:
            self.loaders.pop(next(iter(self.loaders)))
        loop = here()
        self.latest = {"loop": loop, "loader": _made(data_set, loop), "makes": _maps(data_set)}
        self.loaders[id(data_set)] = self.latest

    # Samples

    def step_ends(self):
        """A first sample, at the job's current line: if steps are too short for samples, it is all that is known."""
        self.stepping = here()

    def begin(self):
        """Gradients were computed, or a first step has ended."""
        if self.begun:
            return
        self.begun = True
        self.since = now()
        if self.recorder.plan["steps"] > 0:
            gc.callbacks.append(self._collects)
        self.is_sampling = self.recorder.plan["steps"] > 0 and not self.recorder.plan["gpu"]
        if self.is_sampling:
            threading.Thread(target=self._sample, name="stoker", daemon=True).start()

    def end(self):
        if not self.until:
            self.until = now()
            self.step_ns = 0 if self.recorder.window_framework() == "jax" else self.recorder.usual_step()
        self.ended = True
        if self._collects in gc.callbacks:
            gc.callbacks.remove(self._collects)

    def _collects(self, phase, info):
        """Python's garbage collector starts or ends. Young generations take next to no time."""
        if info.get("generation") != 2 or ident() != self.recorder.thread or self.ended:
            return
        if phase == "start":
            self.collecting = now()
        elif self.collecting:
            self.collected += now() - self.collecting
            self.collections += 1
            self.collecting = 0

    def lack_samples(self):
        """Whether the window should wait for some."""
        r = self.recorder
        warmup = r.plan["warmup"]
        return self.is_sampling and self.samples < FEWEST and warmup >= LONG and r.count < warmup + DRAWN_OUT

    def _sample(self):
        process = os.getpid()
        while not self.ended and self.samples < SAMPLES and os.getpid() == process:
            time.sleep(PERIOD)
            start = now()
            frame = sys._current_frames().get(self.recorder.thread)
            if frame is not None and self.recorder.count and not self.evaluating and not self.ended:
                self._count(frame)
            del frame
            self.recorder.own += now() - start

    def _count(self, frame):
        own, inside, loop = None, None, None  # the job's innermost own frames: of all, within a fetch, around it
        while frame is not None:
            code = frame.f_code
            if (own is None or (loop is None and inside is not None)) and is_own(code):
                text = _text(code, frame.f_lineno)
                loop = text if inside is not None else None
                own = own or text
            if code.co_name == "__next__" and code.co_filename.endswith(_FETCH):
                inside = own or ""
            frame = frame.f_back
        self.samples += 1
        if inside is not None:
            self.fetch_samples += 1
            if loop:
                self.loops[loop] = self.loops.get(loop, 0) + 1
            if inside:
                self.fetches[inside] = self.fetches.get(inside, 0) + 1
        if own is not None:
            self.lines[own] = self.lines.get(own, 0) + 1

    # Evaluations

    def evaluates(self, begins):
        """model.eval() or model.train()."""
        r = self.recorder
        if not r.first or ident() != r.thread:
            return
        if begins and not self.evaluating:
            self.where_now = here()
            self.evaluating = now()
        elif not begins and self.evaluating:
            length, self.evaluating = now() - self.evaluating, 0
            if len(self.starts) < EVALUATIONS:
                self.where = self.where_now or self.where
                self.starts.append(r.count)
                self.lengths.append(length)

    def trains(self):
        """Gradients are computed, so what began as an evaluation isn't one."""
        self.evaluating = 0

    # What is reported

    def at_exit(self):
        """The job ends without a window, so no report shows this."""
        r = self.recorder
        shows = r.window is not None and r.window.holds() >= WINDOW_FEW
        if shows or not r.plan["steps"] or not r.count:
            return
        r.breaks()
        found = self._found()
        if r.total_wait >= WAITS * r.total_time > 0 and "loop" in found:
            ahead = "" if found.get("workers") else _AHEAD.get(r.framework, "")
            r.note(f"the steps wait for batches {100 * r.total_wait // r.total_time}% of the time{ahead}")
            for name, what in (("loop", "the loop fetches its batches in"), ("loader", "its loader is made in"),
                               ("fetch0", "most of the fetches' time is spent at")):  # fmt: skip
                if name in found:
                    r.note(f"{what} {found[name]}")
        if found.get("eval_every"):
            r.note(f"{found['eval']} evaluates every {found['eval_every']} steps, {found['eval_permille'] // 10}% of the time")

    def told(self):
        """JSON: texts and numbers by name, without nesting."""
        return json.dumps(self._found())

    def _found(self):
        r = self.recorder
        found = dict(self.latest if r.source == KERAS else self.loaders.get(r.key, {}))
        if self.loops and r.source != KERAS:  # fit() fetches inside its compiled code, so these are other loops
            found["loop"] = max(self.loops, key=self.loops.get)
        found.update(_most(self.fetches, self.fetch_samples, "fetch"))
        found.update(_most(self.lines, self.samples, "line"))
        if self.stepping:
            found.setdefault("line0", self.stepping)
        span = (self.until or now()) - self.since
        if self.collections and span > 0:
            found["gc_count"], found["gc_permille"] = self.collections, min(1000 * self.collected // span, 1000)
        if r.source == OPTIMIZER:
            found["update"] = self.stepping
        found["step_ns"], found["whole_steps"] = self.step_ns, self.whole_steps
        found["untrained"] = int(not r.trains and r.source not in (OPTIMIZER, KERAS))
        found.update(self._evaluations())
        return {name: value for name, value in found.items() if value}

    def _evaluations(self):
        r, n = self.recorder, len(self.starts)
        span = now() - r.first
        if not n or span <= 0 or not r.count:
            return {}
        each = sorted(self.lengths)[n // 2]
        apart = sorted(b - a for a, b in zip(self.starts, self.starts[1:]))
        every = apart[len(apart) // 2] if apart else 0
        step = max(span - sum(self.lengths), 0) / r.count
        share = each / (each + every * step) if every else min(sum(self.lengths) / span, 1)
        return {"eval": self.where, "eval_count": n, "eval_ns": each, "eval_every": every,
                "eval_permille": round(1000 * share)}  # fmt: skip


def _most(counts, all_of_them, name):
    if all_of_them < FEWEST:
        return {}
    found = {}
    for i, (text, n) in enumerate(sorted(counts.items(), key=lambda item: -item[1])[:LINES]):
        found[f"{name}{i}"] = text
        found[f"{name}{i}_permille"] = round(1000 * n / all_of_them)
    return found


def _stages(data_set):
    """The stages of a tf.data pipeline, the last one first."""
    for _ in range(64):
        if data_set is not None:
            yield data_set
            data_set = getattr(data_set, "_input_dataset", None)


def _maps(data_set):
    """The job's last own function in a pipeline."""
    places = (of_function(getattr(getattr(stage, "_map_func", None), "_func", None)) for stage in _stages(data_set))
    return next((place for place in places if place), "")


def _made(data_set, loop):
    """The job's line after a pipeline's last stage. fit() appends stages of its own."""
    places = (getattr(stage, "_stoker_made", "") for stage in _stages(data_set))
    return next((place for place in places if place and place != loop), "")


def _makes_elements(data_set):
    """The job's own function that makes an element."""
    for _ in range(8):
        for name in ("__getitem__", "__iter__"):
            place = of_function(getattr(type(data_set), name, None))
            if place:
                return place
        data_set = getattr(data_set, "dataset", None)  # of a Subset, or another wrapper
        if data_set is None:
            return ""
    return ""


places = Places(_stoker_core.recorder)
