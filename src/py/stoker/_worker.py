# SPDX-License-Identifier: Apache-2.0
"""Records what the worker processes of a PyTorch DataLoader do, for `stoker why`.

A profiler sees only the training process, waiting for its workers. With this, each worker records its own batches: each
item, collating them, and, between two batches, waiting for its turn. The recording is a Chrome JSON trace, one file per
worker. It is complete after each write, so a killed worker loses at most its last second.

Limits: wraps the fetchers of torch.utils.data._utils if they have the form used since PyTorch 1.2; otherwise only items
are recorded. Work inside an item isn't recorded.
"""

import functools
import json
import multiprocessing.util
import os
import sys
import threading
import time
from typing import Any, Callable

BATCH, COLLATE = "stoker worker: batch", "stoker worker: collate"  # as in src/wire/wire.h
WRITE_NS = 1_000_000_000  # between writes
EVENTS_MAX = 200_000  # per worker; later ones aren't recorded
TAIL = "\n]}\n"

_here = threading.local()  # .recorder of this thread's worker


class _Recorder:
    """Events of one worker, and their file."""

    def __init__(self, path: str, worker: int) -> None:
        self.path, self.worker, self.count, self.depth = path, worker, 0, 0
        self.base_ns, self.start_ns = time.time_ns(), time.perf_counter_ns()
        self.written_ns = self.start_ns
        self.lines = [self.line({"ph": "M", "name": "process_name", "args": {"name": f"DataLoader worker {worker}"}})]
        with open(path, "w", encoding="utf-8") as f:
            f.write(f'{{"baseTimeNanoseconds": {self.base_ns},\n"traceEvents": [\n{self.lines.pop()}{TAIL}')

    def line(self, event: "dict[str, Any]") -> str:
        return json.dumps({"pid": os.getpid(), "tid": self.worker, **event})

    def add(self, name: str, category: str, start_ns: int) -> None:
        end_ns = time.perf_counter_ns()
        if self.count < EVENTS_MAX:
            ts = (start_ns - self.start_ns) / 1000
            dur = (end_ns - start_ns) / 1000
            self.lines.append(self.line({"ph": "X", "cat": category, "name": name, "ts": ts, "dur": dur}))
            self.count += 1
        if end_ns - self.written_ns > WRITE_NS:
            self.write()
            self.written_ns = end_ns

    def write(self) -> None:
        """Appends the new events and the end of the file."""
        if not self.lines:
            return
        with open(self.path, "r+b") as f:
            f.seek(-len(TAIL), os.SEEK_END)
            f.write((",\n" + ",\n".join(self.lines) + TAIL).encode())
        self.lines = []


def _timed(f: "Callable[..., Any]", name: str, category: str) -> "Callable[..., Any]":
    """f, recorded under this name in a worker; nested calls of the same kind aren't."""

    @functools.wraps(f)
    def timed(*args: Any, **kwargs: Any) -> Any:
        recorder = getattr(_here, "recorder", None)
        if recorder is None or (category == "python_function" and recorder.depth):
            return f(*args, **kwargs)
        start_ns = time.perf_counter_ns()
        recorder.depth += category == "python_function"
        try:
            return f(*args, **kwargs)
        finally:
            recorder.depth -= category == "python_function"
            recorder.add(name, category, start_ns)

    timed.is_timed = True  # type: ignore[attr-defined]
    return timed


def _timed_iter(f: "Callable[..., Any]", name: str) -> "Callable[..., Any]":
    """The generator or iterator that f returns, with each of its elements recorded."""

    @functools.wraps(f)
    def elements(*args: Any, **kwargs: Any) -> Any:
        advance = _timed(iter(f(*args, **kwargs)).__next__, name, "python_function")
        while True:
            try:
                element = advance()
            except StopIteration:
                return
            yield element

    elements.is_timed = True  # type: ignore[attr-defined]
    return elements


def _frame_name(cls: type, f: "Callable[..., Any]") -> str:
    """As in PyTorch's profiler: "data.py(31): __getitem__", with the file relative to its sys.path entry."""
    code = getattr(f, "__code__", None)
    if code is None:
        return f"{cls.__name__}.{getattr(f, '__name__', 'item')}"
    path = code.co_filename
    for folder in sorted((os.path.abspath(p) for p in sys.path), key=len, reverse=True):
        if path.startswith(folder + os.sep):
            path = path[len(folder) + 1 :]
            break
    return f"{path}({code.co_firstlineno}): {code.co_name}"


def _wrap_method(cls: type, method: str, wrap: "Callable[..., Any]") -> None:
    owner = next((c for c in cls.__mro__ if method in vars(c)), None)
    if owner is None or (owner.__module__ or "").split(".")[0] == "torch":
        return
    f = vars(owner)[method]
    if not getattr(f, "is_timed", False):
        setattr(owner, method, wrap(f, _frame_name(owner, f)))


def _wrap_dataset(dataset: Any) -> None:
    """Its own item access; for PyTorch's wrappers (Subset, ConcatDataset) that of the wrapped dataset."""
    cls = type(dataset)
    if cls.__module__.split(".")[0] == "torch":
        for inner in [getattr(dataset, "dataset", None), *(getattr(dataset, "datasets", None) or [])]:
            if inner is not None:
                _wrap_dataset(inner)
        return
    for method in ("__getitem__", "__getitems__"):
        _wrap_method(cls, method, lambda f, name: _timed(f, name, "python_function"))
    _wrap_method(cls, "__iter__", _timed_iter)


def _wrap_fetchers() -> None:
    from torch.utils.data._utils import fetch  # type: ignore[import-not-found]

    for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
        cls = getattr(fetch, name, None)
        if cls is None or getattr(cls.fetch, "is_timed", False):
            continue
        cls.fetch = _timed(_with_collate(cls.fetch), BATCH, "user_annotation")


def _with_collate(f: "Callable[..., Any]") -> "Callable[..., Any]":
    @functools.wraps(f)
    def fetch(self: Any, possibly_batched_index: Any) -> Any:
        if getattr(_here, "recorder", None) and not getattr(self.collate_fn, "is_timed", False):
            self.collate_fn = _timed(self.collate_fn, COLLATE, "user_annotation")
        return f(self, possibly_batched_index)

    return fetch


def trace_worker(worker_id: int, folder: "str | os.PathLike[str] | None" = None) -> None:
    """Record this DataLoader worker's time per item and batch.

    DataLoader(..., num_workers=4, worker_init_fn=stoker.trace_worker), then
    `stoker why trace.json.gz stoker_workers/`. Each worker writes one file (Chrome's trace format)
    into `folder` (default: STOKER_WORKERS, else "stoker_workers"). To choose another folder:
    functools.partial(stoker.trace_worker, folder="logs"). An event costs a few microseconds.
    """
    from torch.utils.data import get_worker_info  # type: ignore[import-not-found]

    info = get_worker_info()
    if info is None:
        raise RuntimeError("trace_worker runs in a DataLoader worker: pass it as worker_init_fn")
    folder = os.fspath(folder or os.environ.get("STOKER_WORKERS") or "stoker_workers")
    os.makedirs(folder, exist_ok=True)
    recorder = _Recorder(os.path.join(folder, f"dataloader-{os.getpid()}-{worker_id}.trace.json"), worker_id)
    _here.recorder = recorder
    _wrap_dataset(info.dataset)
    _wrap_fetchers()
    multiprocessing.util.Finalize(None, recorder.write, exitpriority=10)
