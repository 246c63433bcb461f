# SPDX-License-Identifier: Apache-2.0
"""The window: some steps recorded by the framework's own profiler, with the options that `stoker why` needs.

  PyTorch     operators with shapes, no Python stacks (they cost more than the rest), one warm-up step of the profiler
  TensorFlow  host_tracer_level 2 (operations and the input pipeline), no Python; steps are marked
  JAX         host_tracer_level 2 and Python calls, because Python prepares the input; steps are marked
  level 1     only the GPU, recorded by the capture library that CUDA's driver loads; it gets the steps and waits

The first step after a profiler starts takes longer than others, so each profiler has one warm-up step, which the window
excludes. While a profiler starts, a prefetching input fills its buffers, and the first steps after that wait less than
usual. If steps waited before, the window begins after the first step that waits at least half as long.

If calls only launch work (JAX), the loop runs ahead of it, and no step ends with its own work. The queue is therefore
drained at the end of the warm-up, half as many steps later before the window, at its end, and when the job ends. The
time of a drain belongs to the steps since the one before, so that they can be timed by their results.

Steps of a millisecond vary with the machine's noise alone, so a window of short steps has more of them (BRIEF_NS).

If the user's own profiler is running, or starts while ours runs, ours stops and writes nothing."""

import atexit
import os
import sys

import _stoker_core
import _stoker_record
from _stoker_record import DONE, IN_WINDOW, LEFT, NEVER, OPEN, TOLD

# The window waits at most this long for a job that doesn't train yet, such as one that passes over its data.
TRAINING_STEPS = 1000
TRAINING_NS = 15_000_000_000
BEFORE = 8  # steps before the profiler's start whose waits are the usual ones
SETTLE = 24  # steps at most, until fetches wait again
WAITS = 0.05  # share of the steps before, from which on they count as waiting


BRIEF_NS = 60_000_000  # minimum total time of a window's steps
BRIEF_STEPS = 8  # at most this many times the requested steps


class _Torch:
    runs_ahead = False  # calls only launch work, and the steps end with their results
    warmup = 1  # the profiler's own warm-up steps
    settles = True
    lasts = False  # it knows beforehand how many steps it records

    def __init__(self, window):
        self.window = window
        self.path = f"{window.base}.pt.trace.json"

    def start(self):
        import torch

        profiler = sys.modules["torch.profiler"]
        activities = [profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            activities.append(profiler.ProfilerActivity.CUDA)
        if torch.autograd._profiler_enabled():
            raise RuntimeError("the program profiles itself")
        schedule = profiler.schedule(wait=0, warmup=1, active=self.window.steps, repeat=1)
        self.profile = profiler.profile(
            activities=activities, schedule=schedule, on_trace_ready=self.ready, record_shapes=True
        )
        self.window.mine = self.profile
        self.places = _stoker_core.load("_stoker_places").places
        self.places.end()
        self.profile.start()

    def tell(self):
        """Adds what the profile carries, while it is still open."""
        carry = getattr(self.profile, "add_metadata_json", None)
        if carry is not None:
            carry("stoker", self.places.told())

    def ready(self, profile):
        profile.export_chrome_trace(self.path + ".part")
        os.rename(self.path + ".part", self.path)

    def step(self):
        self.profile.step()

    record = step  # the next step is the first of the window

    def begins(self):
        pass

    def stop(self, keeps):
        profile, self.profile = self.profile, None
        if not keeps:
            profile.on_trace_ready = None
        profile.stop()
        return self.path if keeps and os.path.exists(self.path) else ""


class _Marked:
    """A profiler that gets the step boundaries."""

    runs_ahead = False
    warmup = 1
    settles = True
    lasts = True

    def __init__(self, window):
        self.window = window
        self.path = window.base
        self.mark = None

    def begins(self):
        """A step begins. If only ends are known, it began when the previous one ended."""
        if self.mark is None:
            self.mark = self.marker(self.window.recorder.count)
            self.mark.__enter__()

    def ends(self):
        mark, self.mark = self.mark, None
        if mark is not None:
            mark.__exit__(None, None, None)

    def step(self):
        self.ends()
        if self.window.recorder.source != _stoker_record.KERAS:
            self.begins()

    record = step

    def stop(self, keeps, is_whole=True):
        if is_whole:
            self.ends()
        self.end()
        self.ends()  # a mark that the trace is to leave out
        if not keeps:
            import shutil

            shutil.rmtree(self.path, ignore_errors=True)
            return ""
        _tell(self.path)
        return self.path


def _field(number, data):
    """A field of a protobuf message."""
    size, length = bytearray(), len(data)
    while length > 127:
        size.append(length & 127 | 128)
        length >>= 7
    return bytes([number << 3 | 2]) + bytes(size) + bytes([length]) + data


def _tell(folder):
    """Appends the job's places to the XSpace that a profiler wrote: a plane without lines, whose name contains them.
    XSpace readers skip planes that they don't know."""
    text = f"/custom:stoker {_stoker_core.load('_stoker_places').places.told()}"
    for place, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".xplane.pb"):
                with open(os.path.join(place, name), "ab") as file:
                    file.write(_field(1, _field(2, text.encode())))
                return


class _TensorFlow(_Marked):
    def start(self):
        self.module = sys.modules["tensorflow.python.profiler.profiler_v2"]
        trace = sys.modules["tensorflow.python.profiler.trace"]
        self.marker = lambda n: trace.Trace("train", step_num=n, _r=1)
        options = self.module.ProfilerOptions(host_tracer_level=2, python_tracer_level=0, device_tracer_level=1)
        self.module._stoker_start(self.path, options)

    def end(self):
        self.module._stoker_stop()


class _Jax(_Marked):
    runs_ahead = True

    def start(self):
        import jax

        self.module = sys.modules["jax._src.profiler"]
        self.marker = lambda n: jax.profiler.StepTraceAnnotation("train", step_num=n)
        _drain(self.window.recorder)
        kwargs = {}
        if hasattr(jax.profiler, "ProfileOptions"):
            options = jax.profiler.ProfileOptions()
            options.python_tracer_level = 1
            options.host_tracer_level = 2
            kwargs["profiler_options"] = options
        self.module._stoker_start(self.path, **kwargs)

    def record(self):
        _drain(self.window.recorder)
        self.step()

    def stop(self, keeps, is_whole=True):
        _drain(self.window.recorder)
        return super().stop(keeps, is_whole)

    def end(self):
        self.module._stoker_stop()


def _drain(recorder):
    """Waits for all launched work. The steps since the last such wait took that much longer. A window must contain only
    its own steps' work, so it begins and ends when the device is idle."""
    import jax

    begun = _stoker_record.now()
    for array in jax.live_arrays():
        try:
            array.block_until_ready()
        except RuntimeError:  # it was donated, or deleted
            pass
    recorder.drained(_stoker_record.now() - begun)


class _Gpu:
    runs_ahead = False
    warmup = 0
    settles = False
    lasts = False

    def __init__(self, window):
        self.window = window
        self.path = f"{window.base}.gpu.stk"

    def start(self):
        import ctypes

        try:
            path = os.environ["CUDA_INJECTION64_PATH"]
            self.library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_NOLOAD)
        except (KeyError, OSError):
            raise RuntimeError("CUDA was not initialized in the training process") from None
        self.library.stoker_capture_why.restype = ctypes.c_char_p
        times = [ctypes.c_uint64] * 3
        self.library.stoker_capture_step.argtypes = times
        self.library.stoker_capture_fetch.argtypes = [ctypes.c_char_p, *times[:2]]
        self.library.stoker_capture_framework.argtypes = [ctypes.c_char_p]
        if self.library.stoker_capture_window(1) != 0:
            raise RuntimeError(self.library.stoker_capture_why().decode("utf-8", "replace"))
        self.told = set()
        self.tell(self.window.recorder.window_framework())
        self.window.recorder.gpu = self
        self.begun = _stoker_record.now()

    def tell(self, framework):
        """Records once which frameworks are in use."""
        if framework and framework not in self.told:
            self.told.add(framework)
            self.library.stoker_capture_framework(framework.encode())

    def fetched(self, framework, iterator, start, end):
        self.tell(framework)
        self.library.stoker_capture_fetch(iterator.encode(), start, end)

    def begins(self):
        pass

    def record(self):
        pass

    def step(self):
        r = self.window.recorder
        self.library.stoker_capture_step(r.count - 1, self.begun, r.last)
        self.begun = _stoker_record.now()

    def stop(self, keeps):
        r = self.window.recorder
        r.gpu = None
        if keeps:
            self.step()
        self.library.stoker_capture_window(0)
        return self.path

    def next_window(self):
        """The step at which the next one opens."""
        r, every = self.window.recorder, self.window.recorder.plan["every"]
        return r.count + max(1, every * r.count // max(1, r.total_time)) if every else NEVER


class Window:
    def __init__(self, recorder):
        self.recorder = recorder
        self.steps = recorder.plan["steps"]
        self.is_open = False
        self.is_behind = False  # the first one
        self.recorded = 0  # steps in it
        self.mine = None
        self.first = self.last = 0
        self.begun = 0  # when the first of the window's steps began
        self.warmup = 0  # the profiler's own warm-up steps that are left
        self.settle = 0  # steps at most after them, before the window begins
        self.usual = 0.0  # ns that a step before waited
        self.waits = False  # for the training to begin
        self.is_drained = False  # once, so that the steps from there on can be timed by their results
        rank = _stoker_record.rank_of(os.environ)
        name = f"rank{rank}-{os.getpid()}" if rank >= 0 else f"process-{os.getpid()}"
        self.base = f"{recorder.plan['dir']}/{name}"
        self.profiler = None

    def is_mine(self, profile):
        return profile is self.mine or (self.mine is not None and profile is getattr(self.mine, "profiler", None))

    def step_begins(self):
        if self.is_open and not self.warmup and not self.settle:
            self.profiler.begins()

    def turn(self):
        """Called after each step from the warm-up on, until the window is over."""
        r = self.recorder
        if not self.is_open:
            self._open()
        elif self.warmup or self.settle:
            self._settle()
        elif r.count < self.last or self._is_brief():
            self.profiler.step()
            r.flags = IN_WINDOW
        else:
            self._close()

    def _settle(self):
        """Called after each step between the profiler's start and the window."""
        if self.warmup:
            self.warmup -= 1
        if not self.warmup and self.settle:
            self.settle = 0 if self.recorder.waits_of(1)[0] >= self.usual / 2 else self.settle - 1
        if self.warmup or self.settle:
            self.recorder.flags = TOLD
        else:
            self._begin()

    def _is_brief(self):
        """Whether the requested number of steps is too short to end the window."""
        r = self.recorder
        return self.profiler.lasts and r.count < self.first + BRIEF_STEPS * self.steps and r.last - self.begun < BRIEF_NS

    def _waits_for_training(self):
        """In many jobs, passes over the data that aren't training come first. A step that an optimizer or Keras ends is
        training."""
        r = self.recorder
        ends_training = r.source in (_stoker_record.OPTIMIZER, _stoker_record.KERAS)
        if r.plan["gpu"] or r.trains or ends_training:
            return False
        begun = r.plan["warmup"]
        if r.count >= begun + TRAINING_STEPS or _stoker_record.now() - r.first >= TRAINING_NS:
            r.note("the steps don't train: no gradients were computed before the window")
            return False
        r.event = r.count + 1
        return True

    def _open(self):
        r = self.recorder
        self.waits = self._waits_for_training()
        if self.waits:
            return
        if r.user_is_profiling:
            self.leave("the program profiles itself, so stoker recorded no window, only step times")
            return
        if r.window_framework() == "pytorch" and _stoker_core.load("_stoker_places").places.lack_samples():
            r.event = r.count + 1
            return
        if r.plan["gpu"]:
            kind = _Gpu
        else:
            kind = {"pytorch": _Torch, "jax": _Jax}.get(r.window_framework(), _TensorFlow)
        if kind.runs_ahead and not self.is_drained:
            self.is_drained = True
            _drain(r)
            atexit.register(_drain, r)
            r.event = r.count + r.plan["warmup"] // 2
            if r.event > r.count:
                return
        self.profiler = kind(self)
        try:
            self.is_open = True
            _stoker_core.load("_stoker_places").places.end()
            self.profiler.start()
        except Exception as e:
            self.is_open = False
            name = "" if kind is _Gpu else f"{type(e).__name__}: "
            self.leave(f"no window: the profiler didn't start: {name}{e}")
            return
        wait, span = r.waits_of(BEFORE)
        self.usual = wait / max(min(BEFORE, r.count - 1), 1) if kind.settles and wait >= WAITS * span > 0 else 0.0
        self.warmup, self.settle = kind.warmup, SETTLE if self.usual else 0
        self.first = NEVER
        r.flags = TOLD
        r.event = 0  # each step from here on
        if not self.warmup and not self.settle:
            self._begin()
        elif not self.is_behind:
            r.put_window(OPEN, r.count + kind.warmup, self.steps)
        atexit.register(self.at_exit)

    def _begin(self):
        """The next step is the first of the window."""
        r = self.recorder
        self.first, self.last, self.begun = r.count, r.count + self.steps, r.last
        r.flags = IN_WINDOW
        self.profiler.record()
        if not self.is_behind:
            r.put_window(OPEN, self.first, self.steps)

    def _close(self, is_whole=True):
        r = self.recorder
        steps = r.count - self.first
        r.event, r.flags = NEVER, TOLD
        if isinstance(self.profiler, _Torch):
            if not is_whole:  # PyTorch ends the last step's range with the profile
                self.profiler.places.whole_steps = steps
            self.profiler.tell()
            self.profiler.step()
        stops_whole = is_whole or not isinstance(self.profiler, _Marked)
        path = self.profiler.stop(True) if stops_whole else self.profiler.stop(True, False)
        self.is_open, self.mine = False, None
        if path and not self.is_behind:
            self.is_behind = True
            self.recorded = steps
            r.put_window(DONE, self.first, steps, path)
        if path:
            r.event = self.profiler.next_window() if isinstance(self.profiler, _Gpu) else NEVER
        else:
            self.leave("no window: the profiler wrote nothing")
        atexit.unregister(self.at_exit)

    def holds(self):
        """Steps of the first window so far."""
        return self.recorder.count - self.first if self.is_open and not self.is_behind else self.recorded

    def leave(self, why):
        r = self.recorder
        r.event, r.flags = NEVER, 0
        r.note(why)
        if not self.is_behind:
            r.put_window(LEFT)

    def give_way(self):
        """The user's own profiler starts while ours records."""
        if self.is_open:
            self.is_open = False
            try:
                self.profiler.stop(False)
            finally:
                self.mine = None
                self.leave("the program's own profiler started during the window, so stoker's stopped and recorded nothing")

    def at_exit(self):
        """The job ends within the window: what was recorded is kept. The time after the last step isn't a step."""
        if self.is_open and self.recorder.count > self.first:
            try:
                self._close(False)
            except Exception:
                self.recorder.put_window(LEFT)
