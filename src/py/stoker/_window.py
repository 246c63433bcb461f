# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="import-not-found,import-untyped"
"""Records a window of steps for the callbacks, and makes its report: starts and ends each framework's profiler, and
marks steps in it. A step lasts from one step's end to the next, so it includes its fetch.

Limits: see stoker/callbacks.py. Every rank records; the first one reports what is in the folder at that time.
"""

import glob
import os
import sys
import time
from typing import Any, Callable, Optional

from ._log import log_report
from ._program import Report, why


class _Torch:
    """torch.profiler, with one step of warm-up and with shapes, like `stoker run`."""

    def __init__(self, folder: str, rank: int, steps: int) -> None:
        import torch

        self.path = os.path.join(folder, f"rank{rank}_{os.getpid()}.pt.trace.json.gz")
        kinds = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            kinds.append(torch.profiler.ProfilerActivity.CUDA)
        plan = torch.profiler.schedule(wait=0, warmup=1, active=steps, repeat=1)
        self.prof = torch.profiler.profile(activities=kinds, schedule=plan, record_shapes=True, on_trace_ready=self._write)
        self.left = steps + 1
        self.prof.start()

    @staticmethod
    def is_taken() -> bool:
        import torch

        return bool(torch.autograd._profiler_enabled())

    def _write(self, prof: Any) -> None:
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        prof.export_chrome_trace(self.path)

    def stepped(self) -> bool:
        """True: the window is complete."""
        self.prof.step()
        self.left -= 1
        return self.left == 0

    def stop(self) -> None:
        self.prof.stop()


class _Marked:
    """A profiler that writes an XSpace, with steps as annotations that are entered and left."""

    def __init__(self, folder: str, rank: int, steps: int) -> None:
        self.left, self.number = steps, 0
        self.start(folder)
        self.mark = self.annotation(0)
        self.mark.__enter__()

    def start(self, folder: str) -> None:
        raise NotImplementedError

    def annotation(self, number: int) -> Any:
        raise NotImplementedError

    def end(self) -> None:
        raise NotImplementedError

    def stepped(self) -> bool:
        self.mark.__exit__(None, None, None)
        self.left -= 1
        self.number += 1
        self.mark = self.annotation(self.number)
        self.mark.__enter__()
        return self.left == 0

    def stop(self) -> None:
        self.mark.__exit__(None, None, None)
        self.end()


class _TensorFlow(_Marked):
    @staticmethod
    def is_taken() -> bool:
        return False  # starting a second one fails with a message

    def start(self, folder: str) -> None:
        import tensorflow as tf

        options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2, python_tracer_level=0)
        tf.profiler.experimental.start(folder, options=options)

    def annotation(self, number: int) -> Any:
        import tensorflow as tf

        return tf.profiler.experimental.Trace("train", step_num=number, _r=1)

    def end(self) -> None:
        import tensorflow as tf

        tf.profiler.experimental.stop()


class _Jax(_Marked):
    @staticmethod
    def is_taken() -> bool:
        return False

    def start(self, folder: str) -> None:
        import jax

        jax.profiler.start_trace(folder)

    def annotation(self, number: int) -> Any:
        import jax

        return jax.profiler.StepTraceAnnotation("train", step_num=number)

    def end(self) -> None:
        import jax

        jax.block_until_ready(jax.live_arrays())
        jax.profiler.stop_trace()


PROFILERS: "dict[str, type[Any]]" = {"torch": _Torch, "tensorflow": _TensorFlow, "jax": _Jax}


def _say(text: str) -> None:
    print(f"stoker: {text}", file=sys.stderr, flush=True)


class Window:
    """begin() at the start of training, stepped() after each step, end() after the last; none of them raises."""

    def __init__(self, backend: str, steps: int, warmup: int, folder: Optional[str], log: Any, log_dir: Optional[str]) -> None:
        if steps < 1 or warmup < 0:
            raise ValueError(f"stoker: steps={steps}, warmup={warmup}: record 1 step or more, skip 0 or more")
        names = [log] if isinstance(log, str) else list(log)
        unknown = [n for n in names if n not in ("tensorboard", "wandb", "mlflow")]
        if unknown:
            raise ValueError(f"stoker: log={unknown[0]!r}: tensorboard, wandb or mlflow")
        self.backend, self.steps, self.warmup = backend, steps, warmup
        self.root = folder or os.environ.get("STOKER_PROFILES") or "stoker-profiles"
        self.log, self.log_dir = names, log_dir
        self.report: Optional[Report] = None
        self.profiler: Any = None
        self.is_begun = self.is_over = False

    def _guarded(self, do: "Callable[[], None]") -> None:
        """A failure ends the recording, not the training."""
        try:
            do()
        except Exception as e:  # any framework's profiler may raise
            _say(f"no verdict: {type(e).__name__}: {e}")
            self.profiler, self.is_over = None, True

    def begin(self, rank: int = 0) -> None:
        if self.is_begun:
            return
        self.is_begun, self.rank, self.count, self.at = True, rank, 0, time.time()
        name = time.strftime("%Y-%m-%d_%H-%M-%S", time.localtime(self.at))
        run = os.environ.get("TORCHELASTIC_RUN_ID")  # ranks of one launch share a folder
        self.folder = os.path.join(self.root, f"launch-{run}" if run else f"{name}-{os.getpid()}")
        if "_stoker_core" in sys.modules:
            self.is_over = True  # `stoker run` already records this job
        elif self.backend not in PROFILERS:
            _say(f"no verdict: Keras' backend {self.backend} has no profiler that stoker supports")
            self.is_over = True

    def _open(self) -> None:
        kind = PROFILERS[self.backend]
        if kind.is_taken():
            raise RuntimeError("another profiler is recording")
        self.profiler = kind(self.folder, self.rank, self.steps)

    def _close(self) -> None:
        profiler, self.profiler = self.profiler, None
        self.is_over = True
        profiler.stop()

    def _step(self) -> None:
        if self.profiler:
            if self.profiler.stepped():
                self._close()
        elif self.count == self.warmup:
            self._open()

    def stepped(self) -> None:
        if self.is_begun and not self.is_over:
            self._guarded(self._step)
            self.count += 1

    def _finish(self) -> None:
        if self.profiler:
            self._close()
        files = glob.glob(os.path.join(glob.escape(self.folder), "**", "*.*"), recursive=True)
        found = [f for f in files if os.path.isfile(f) and os.path.getmtime(f) >= self.at - 1]
        if not found:
            _say(f"no verdict: the training ended after {self.count} steps; the window begins after {self.warmup}")
        elif self.rank == 0:
            self.report = why(self.folder)
            _say(f"{self.folder}\n{self.report.text}")

    def end(self, log_dir: Optional[str] = None) -> None:
        if not self.is_begun or "_stoker_core" in sys.modules:
            return
        self.is_begun = False
        self._guarded(self._finish)
        for name in self.log if self.report is not None else ():
            report, folder = self.report, self.log_dir or log_dir or "stoker-tensorboard"
            try:
                log_report(name, report, folder, self.count)  # type: ignore[arg-type]
            except Exception as e:  # the service's errors
                _say(f"the verdict was not logged to {name}: {type(e).__name__}: {e}")
