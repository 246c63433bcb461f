# SPDX-License-Identifier: Apache-2.0
"""A torch DataLoader, taken over: the same batches in the same order, made by the engine's workers.

Three parts of a loader go into three parts of a pipeline. Its sampler stays what it is and runs in
this process, one batch's numbers at a time, so that the order is the loader's own, down to the bits
that torch's generator gives. What fetches the items and puts them together runs as a map: of a
TensorDataset natively, on the engine's threads; of any other in processes, as many as the loader had
(or on threads, or on the thread that takes the batches). Where that would change what comes out, the
loader is refused with the reason.

Batches of the default collate are tuples in the pipeline, and lists, as torch gives them, in the loader
that to_torch makes of it.

Limits: workers know the dataset as it was when it was taken over, in all epochs, as a loader with
persistent_workers does. What items draw in workers comes from a seed for each batch, so that it is
the same for any number of them, but not what a DataLoader's workers draw.
"""

import os
import random as _random

import numpy as np

from ..core import _arguments, _dtypes, _function, _pool, _spec, _stages
from ..core._dataset import Dataset
from ..core._options import AUTOTUNE
from ..core._spec import TensorSpec
from ..errors import InvalidArgumentError
from ..files._experimental import NAMES
from ..ops._ops import do
from ._packages import need

_PROBES = 4  # items that are tried to learn what a batch is made of
_INDEX = "this loader's sampler gives {}, but items need whole numbers here"


def _refusal(loader, torch):
    """Why it cannot be taken over; None: it can."""
    data = torch.utils.data
    name = type(loader).__name__
    if not isinstance(loader, data.DataLoader):
        return f"expected a torch.utils.data.DataLoader, not {name}"
    if type(loader).__iter__ is not data.DataLoader.__iter__:
        return f"{name} makes its batches in its own way"
    if isinstance(loader.dataset, data.IterableDataset):
        return (
            "its dataset is an IterableDataset, whose elements come one after the other from Python "
            "whoever asks; sd.Dataset.from_generator(lambda: dataset, output_signature=...) reads one"
        )
    return None


def _changes(loader):
    """Why processes would not see what the program does to the dataset; None: they need not."""
    if hasattr(loader.dataset, "set_epoch") and not loader.persistent_workers:
        return (
            "its dataset has set_epoch(), and workers that stay would never see another epoch than now; "
            "processes=0 makes the items in this process"
        )
    return None


class _Order:
    """A generator of (seed, numbers of a batch's items) for a pass of the loader, in its order."""

    def __init__(self, loader):
        self.loader = loader

    def __call__(self):
        import torch

        loader = self.loader
        drawn = torch.empty((), dtype=torch.int64).random_(generator=loader.generator)
        base = int(drawn)  # as each pass of a loader begins: what follows then draws what it would there
        lists = loader.batch_sampler if loader.batch_sampler is not None else loader.sampler
        for n, numbers in enumerate(lists):
            yield np.int64((base + n) & (2**63 - 1)), _numbers(numbers)


def _numbers(numbers):
    a = np.asarray(numbers)
    if a.dtype.kind not in "iu" and a.size or a.ndim > 1:
        what = f"{numbers!r:.40}"
        raise InvalidArgumentError(_INDEX.format(what))
    return a.astype(np.int64).reshape(-1)


def orders(dataset):
    """The loaders whose order is part of a pipeline."""
    hosts = (k for ds in _stages.stages(dataset) for k in ds._keep if isinstance(k, _function.Host))
    made = (getattr(h.function, "generator", None) for h in hosts)
    return list({id(o.loader): o.loader for o in made if isinstance(o, _Order)}.values())


_AS_THEY_ARE = ("prefetch", "take", "skip", "shard", "repeat", "cache", "assert_cardinality")


def gives_lists(dataset):
    """Are its elements batches of a loader that collates by default, as they are?"""
    while not dataset._gives_lists and dataset._kind in _AS_THEY_ARE and dataset._inputs:
        dataset = dataset._inputs[0]
    return dataset._gives_lists


def as_lists(e):
    """The element with lists for its tuples, as torch's default collate makes them."""
    if isinstance(e, dict):
        return {k: as_lists(v) for k, v in e.items()}
    if isinstance(e, tuple) and hasattr(e, "_fields"):
        return type(e)(*map(as_lists, e))
    return [as_lists(v) for v in e] if isinstance(e, tuple) else e


def draws_order(dataset):
    """Is there a loader's order that another pass would not repeat? The sampler's name, or None."""
    import torch

    data = torch.utils.data
    known = (data.SequentialSampler, data.distributed.DistributedSampler)
    for loader in orders(dataset):
        is_plain = type(loader.batch_sampler) in (data.BatchSampler, type(None))
        if not is_plain or not isinstance(loader.sampler, known):
            return type(loader.sampler if is_plain else loader.batch_sampler).__name__
    return None


def _plain(v, torch, place="the batch"):
    """What a loader gives as NumPy arrays, bytes, tuples and dicts."""
    if isinstance(v, torch.Tensor):
        return _array(v, torch, place)
    if isinstance(v, (str, bytes)):
        return v.encode() if isinstance(v, str) else v
    if isinstance(v, (bool, np.ndarray, np.generic)):
        return v
    if isinstance(v, (int, float)):  # as wide as torch has them in batches
        return np.int64(v) if isinstance(v, int) else np.float64(v)
    if hasattr(v, "keys") and hasattr(v, "__getitem__"):
        return {k: _plain(v[k], torch, f"{place}[{k!r}]") for k in v.keys()}
    if isinstance(v, tuple) and hasattr(v, "_fields"):
        return type(v)(*[_plain(x, torch, f"{place}.{k}") for k, x in zip(v._fields, v)])
    if isinstance(v, (list, tuple)):
        if v and all(isinstance(x, (str, bytes)) for x in v):
            return np.array([_plain(x, torch) for x in v] + [None], object)[:-1]
        return tuple(_plain(x, torch, f"{place}[{i}]") for i, x in enumerate(v))
    raise TypeError(f"{place} holds {type(v).__name__}, and a pipeline tensors, numbers and texts")


def _array(v, torch, place):
    if v.layout != torch.strided or v.is_nested:
        raise TypeError(f"{place} is a sparse or nested tensor; dense ones can be taken over")
    if v.device.type != "cpu":
        raise TypeError(f"{place} is on {v.device}; workers make batches in memory, to_torch(device=) copies")
    v = v.detach()
    if v.dtype == torch.bfloat16:
        if _dtypes.bfloat16 is None:
            raise TypeError(f"{place} is bfloat16, which needs the package ml_dtypes")
        return v.view(torch.int16).numpy().view(_dtypes.bfloat16)
    return v.numpy()


class _Fetch:
    """A batch of its items' numbers, as the loader's own workers make it."""

    def __init__(self, loader, workers):
        self.loader, self.dataset, self.collate = loader, loader.dataset, loader.collate_fn
        self.is_batch, self.workers, self.home = loader.batch_sampler is not None, workers, os.getpid()
        self.__name__ = f"items of {type(loader.dataset).__name__}"
        self.ids = self.info = None
        if workers:
            # Bytes that workers take their numbers from; the first is the probe's.
            self.ids, end = os.pipe()
            os.write(end, bytes([0]) + bytes(i % 256 for i in range(workers)) * 16)
            os.close(end)

    def __call__(self, seed, numbers):
        import torch

        info = None
        if self.ids is not None:  # in a process of its own
            info = self.info or self.begin(torch)
            _random.seed(int(seed))
            torch.manual_seed(int(seed))
            np.random.seed(int(seed) & 0xFFFFFFFF)
        worker = torch.utils.data._utils.worker
        worker._worker_info = info
        try:
            items = self.items(numbers.tolist())
        finally:
            worker._worker_info = None  # else collating would make shared memory of torch's own
        return _plain(self.collate(items), torch)

    def begin(self, torch):
        """A worker's first batch."""
        torch.set_num_threads(1)
        number = (os.read(self.ids, 1) or b"\0")[0]
        worker = torch.utils.data._utils.worker
        self.info = worker.WorkerInfo(id=number, num_workers=self.workers, seed=torch.initial_seed(), dataset=self.dataset)
        if self.loader.worker_init_fn is not None:
            worker._worker_info = self.info
            try:
                self.loader.worker_init_fn(number)
            finally:
                worker._worker_info = None
        return self.info

    def items(self, numbers):
        if not self.is_batch:
            return self.dataset[numbers[0]]
        together = getattr(self.dataset, "__getitems__", None)
        return together(numbers) if together else [self.dataset[i] for i in numbers]

    def __reduce__(self):
        return _Fetch, (self.loader, self.workers)

    def __del__(self):
        if self.ids is not None and os.getpid() == self.home:
            os.close(self.ids)


def _spec_of(result):
    """The spec of a batch: dtypes and ranks."""

    def leaf(v):
        a = _dtypes.array(v)
        return TensorSpec((None,) * a.ndim, a.dtype)

    return _spec.map_structure(leaf, result)


def _learnt(fetch, torch, count):
    """The spec of batches that are made in this process, whose generators are left as they were."""
    states = torch.get_rng_state(), _random.getstate(), np.random.get_state()
    first = None
    try:
        for k in range(min(_PROBES, count)):
            try:
                return _spec_of(fetch(0, np.array([k])))
            except Exception as e:
                first = first or e
    finally:
        torch.set_rng_state(states[0])
        _random.setstate(states[1])
        np.random.set_state(states[2])
    raise first


def _native(loader, torch):
    """(arrays, places) of a TensorDataset, perhaps a part of one: batches are rows of arrays. None:
    it is another dataset."""
    data, dataset, places = torch.utils.data, loader.dataset, None
    while type(dataset) in (data.Subset,):
        inner = np.asarray(dataset.indices, np.int64)
        places = inner if places is None else inner[places]
        dataset = dataset.dataset
    default = loader.collate_fn is data.default_collate and loader.batch_sampler is not None
    if type(dataset) is not data.TensorDataset or not default:
        return None
    if not all(t.device.type == "cpu" and t.layout == torch.strided for t in dataset.tensors):
        return None
    return tuple(_plain(t, torch) for t in dataset.tensors), places


def _rows(order, arrays, places):
    def rows(seed, numbers):
        at = numbers if places is None else do.gather(places, numbers)
        return tuple(do.gather(a, at) for a in arrays)

    return order.map(rows, AUTOTUNE)


def _on_threads(order, fetch, torch, count, threads):
    spec = _learnt(fetch, torch, count)
    flat = [TensorSpec(s.shape, s.dtype) for s in _spec.flatten(spec)]

    def parts(seed, numbers):
        return _spec.flatten(fetch(seed, numbers))

    parts.__name__ = fetch.__name__

    def batch(seed, numbers):
        leaves = iter(_function.numpy_function(parts, [seed, numbers], flat))
        return _spec.map_structure(lambda _: next(leaves), spec)

    return order.map(batch, threads or None)


def from_torch(loader, processes=None, threads=None):
    """The batches of a torch DataLoader with a map-style dataset, in its order, as a Dataset.

    The loader's own sampler is used, so the same torch.manual_seed gives the same batches. `processes`
    workers make the items, by default as many as the loader has (0: this process), or `threads` of this
    process. Items of a TensorDataset are native. Raises InvalidArgumentError with the reason if the
    loader can't be taken over.
    """
    torch = need("torch")
    why = _refusal(loader, torch)
    if why is None and processes is not None and threads is not None:
        why = "processes or threads make the items, not both"
    if why:
        raise InvalidArgumentError(f"from_torch: {why}")
    signature = (TensorSpec((), "int64"), TensorSpec((None,), "int64"))
    order = Dataset.from_generator(_Order(loader), output_signature=signature)
    native = _native(loader, torch)
    threads = 0 if threads is None else _arguments.count(threads, "threads", 0)
    in_thread = threads or getattr(loader, "worker_method", "process") == "thread"
    processes = loader.num_workers if processes is None else _arguments.count(processes, "processes", 0)
    if native is not None:
        ds = _rows(order, *native)
    elif processes and not in_thread:
        why = _changes(loader)
        if why:
            raise InvalidArgumentError(f"from_torch: {why}")
        ds = _in_processes(order, loader, processes)
    else:
        threads = threads or (loader.num_workers if in_thread else 0)
        ds = _on_threads(order, _Fetch(loader, 0), torch, len(loader.dataset), threads)
    data = torch.utils.data
    ds._gives_lists = loader.collate_fn in (data.default_collate, data.default_convert)
    return _counted(ds, loader)


def _in_processes(order, loader, processes):
    def sample(at):
        return ((np.int64(0), np.array([at])),) if at < len(loader.dataset) else None

    ordered = getattr(loader, "in_order", True) is not False
    return _pool.mapped(order, _Fetch(loader, processes), processes, ordered, loader.timeout or None, sample)


def _counted(ds, loader):
    """The dataset with the loader's length, where it has one."""
    try:
        n = len(loader)
    except TypeError:
        return ds
    return NAMES["assert_cardinality"](n)(ds)
