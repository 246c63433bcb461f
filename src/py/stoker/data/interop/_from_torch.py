# SPDX-License-Identifier: Apache-2.0
"""Imports a torch DataLoader: the same batches in the same order.

Items of a TensorDataset and of image folders (_torch_images.py) are made natively, on the engine's threads. The
loader's sampler is unchanged and runs in this process, one batch's indices at a time, so the order is exactly the
loader's, down to the bits from torch's generator. Any other loader makes its own batches, with its workers
(_torch_own.py). On request, a map over the indices makes them in processes or threads of the pipeline. If that would
change the output, the loader is rejected with the reason.

Batches of the default collate are tuples in the pipeline, and lists, as in torch, in the loader that to_torch makes
from it.

Limits: the pipeline's processes know the dataset as it was when imported, in all epochs, like a loader with
persistent_workers. Items' random numbers in them come from a seed per batch, so they don't depend on the number of
processes, but differ from those of a DataLoader's workers.
"""

import os
import random as _random

import numpy as np

from ..core import _arguments, _function, _pool, _spec, _stages
from ..core._dataset import Dataset
from ..core._options import AUTOTUNE
from ..core._spec import TensorSpec
from ..errors import InvalidArgumentError
from ..files._experimental import NAMES
from ..ops._ops import do
from . import _torch_arrays, _torch_images, _torch_own, _torch_recorded, _torch_values
from ._packages import need

_INDEX = "this loader's sampler gives {}, but items need whole numbers here"


def _refusal(loader, torch, is_placed):
    """Why it can't be imported; None: it can. is_placed: where the items are made was specified."""
    data = torch.utils.data
    is_known = isinstance(loader, (data.DataLoader, data.IterableDataset))
    if not is_known and not (hasattr(loader, "dataset") and hasattr(type(loader), "__iter__")):
        return f"expected a torch.utils.data.DataLoader, not {type(loader).__name__}"
    if is_placed and _torch_own.is_streamed(loader, torch):
        name = _torch_own.name_of(loader)
        return f"{name} makes its batches itself, with num_workers of its own; processes= and threads= don't apply"
    return None


def _changes(loader):
    """Why processes wouldn't see the program's changes to the dataset; None: they need not."""
    if hasattr(loader.dataset, "set_epoch") and not loader.persistent_workers:
        return (
            "its dataset has set_epoch(), and workers that stay would never see another epoch than now; "
            "processes=0 makes the items in this process"
        )
    return None


class _Order:
    """A generator of (seed, indices of a batch's items) for a pass of the loader, in its order."""

    def __init__(self, loader):
        self.loader = loader

    def __call__(self):
        import torch

        loader = self.loader
        drawn = torch.empty((), dtype=torch.int64).random_(generator=loader.generator)
        base = int(drawn)  # like the start of each pass of a loader: later draws then match
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
    return list({id(o.loader): o.loader for o in made if isinstance(o, _ORDERS)}.values())


_ORDERS = (_Order, _torch_images.Items, _torch_arrays.Items, _torch_own.Batches, _torch_recorded.Batches)
_AS_THEY_ARE = ("prefetch", "take", "skip", "shard", "repeat", "cache", "assert_cardinality")


def gives_lists(dataset):
    """Are its elements the unchanged batches of a loader with the default collate?"""
    while not dataset._gives_lists and dataset._kind in _AS_THEY_ARE and dataset._inputs:
        dataset = dataset._inputs[0]
    return dataset._gives_lists


def as_lists(e):
    """The element with lists instead of tuples, like torch's default collate."""
    if isinstance(e, dict):
        return {k: as_lists(v) for k, v in e.items()}
    if isinstance(e, tuple) and hasattr(e, "_fields"):
        return type(e)(*map(as_lists, e))
    return [as_lists(v) for v in e] if isinstance(e, tuple) else e


def why_no_state(dataset):
    """Why a position in one pass can't be used in another pass over these loaders; None: it can."""
    import torch

    data = torch.utils.data
    known = (data.SequentialSampler, data.distributed.DistributedSampler)
    for loader in orders(dataset):
        if _torch_own.is_streamed(loader, torch):
            return (
                f"{_torch_own.name_of(loader)} has no position that a new pass could begin at; torchdata's "
                "StatefulDataLoader has one, and from_torch takes it over"
            )
        is_plain = type(loader.batch_sampler) in (data.BatchSampler, type(None))
        if not is_plain or not isinstance(loader.sampler, known):
            name = type(loader.sampler if is_plain else loader.batch_sampler).__name__
            return (
                f"{name} draws another order in each pass, but a state only has the position in a pass; save it "
                "between epochs, or use a pipeline's shuffle() instead of the sampler"
            )
    return None


class _Fetch:
    """A batch from its items' indices, as the loader's own workers make it."""

    def __init__(self, loader, workers):
        self.loader, self.dataset, self.collate = loader, loader.dataset, loader.collate_fn
        self.is_batch, self.workers, self.home = loader.batch_sampler is not None, workers, os.getpid()
        self.__name__ = f"items of {type(loader.dataset).__name__}"
        self.ids = self.info = None
        if workers:
            # Bytes from which workers take their numbers; the first is the probe's.
            self.ids, end = os.pipe()
            os.write(end, bytes([0]) + bytes(i % 256 for i in range(workers)) * 16)
            os.close(end)

    def __call__(self, seed, numbers):
        import torch

        info = None
        if self.ids is not None:  # in a separate process
            info = self.info or self.begin(torch)
            _random.seed(int(seed))
            torch.manual_seed(int(seed))
            np.random.seed(int(seed) & 0xFFFFFFFF)
        worker = torch.utils.data._utils.worker
        worker._worker_info = info
        try:
            items = self.items(numbers.tolist())
        finally:
            worker._worker_info = None  # otherwise collating would create torch's shared memory
        return _torch_values.plain(self.collate(items), torch)

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


def _learnt(fetch, torch, count):
    """The spec of batches made in this process, without changing its random generators."""
    first = None
    with _torch_own.Kept(torch, fetch.loader):
        for k in range(min(_torch_own.PROBES, count)):
            try:
                return _torch_values.spec_of(fetch(0, np.array([k])))
            except Exception as e:
                first = first or e
    raise first


def _native(loader, torch):
    """(arrays, indices) of a TensorDataset, or a part of one: batches are rows of arrays. None: another dataset."""
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
    return tuple(_torch_values.plain(t, torch) for t in dataset.tensors), places


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


def from_torch(loader, processes=None, threads=None, native=True):
    """The batches of a torch DataLoader, in its order, as a Dataset.

    native: items of a TensorDataset, and of torchvision's ImageFolder, MNIST and CIFAR with supported transforms, are
    made by the engine's threads, with the random numbers that the loader would draw. Any other loader makes its own
    batches, with its workers; to_torch() then returns them unchanged, and a note in explain() says why. With
    native="recorded", those workers record the calls of Pillow and torchvision, and the engine makes the pixels. For a
    map-style dataset, `processes` workers or `threads` of the pipeline make the items instead, if one of them is given
    (processes=0: the thread that takes the batches). Loaders with an IterableDataset, torchdata's StatefulDataLoader
    and webdataset's WebLoader are also supported. Raises InvalidArgumentError with the reason if the loader can't be
    imported.
    """
    torch = need("torch")
    is_placed = processes is not None or threads is not None
    why = _refusal(loader, torch, is_placed)
    if why is None and processes is not None and threads is not None:
        why = "processes or threads make the items, not both"
    if why:
        raise InvalidArgumentError(f"from_torch: {why}")
    if _torch_own.is_streamed(loader, torch):
        return _noted(_own(loader, torch), f"from_torch: {_torch_own.name_of(loader)} makes its batches itself", loader, torch)
    rows = _native(loader, torch) if native else None
    images, note = _images(loader, torch) if native and rows is None else (None, None)
    if native == "recorded" and rows is None and images is None and not is_placed:
        images = _torch_recorded.dataset(loader, torch)
    if rows is not None:
        ds = _rows(_order(loader), *rows)
    elif images is not None:
        ds = images
    elif is_placed:
        ds = _placed(loader, torch, processes, threads)
    elif loader.num_workers:
        ds = _own(loader, torch)
    else:
        ds = _on_threads(_order(loader), _Fetch(loader, 0), torch, len(loader.dataset), 0)
        ds._loader = loader
    return _counted(_noted(ds, note, loader, torch), loader)


def _order(loader):
    signature = (TensorSpec((), "int64"), TensorSpec((None,), "int64"))
    return Dataset.from_generator(_Order(loader), output_signature=signature)


def _own(loader, torch):
    ds = _torch_own.dataset(loader, torch)
    ds._loader = loader
    return ds


def _placed(loader, torch, processes, threads):
    """Items made in processes or threads of the pipeline."""
    threads = 0 if threads is None else _arguments.count(threads, "threads", 0)
    processes = 0 if processes is None else _arguments.count(processes, "processes", 0)
    if not processes:
        return _on_threads(_order(loader), _Fetch(loader, 0), torch, len(loader.dataset), threads)
    why = _changes(loader)
    if why:
        raise InvalidArgumentError(f"from_torch: {why}")
    return _in_processes(_order(loader), loader, processes)


def _noted(ds, note, loader, torch):
    data = torch.utils.data
    ds._notes += [note] if note else []
    ds._gives_lists = getattr(loader, "collate_fn", None) in (data.default_collate, data.default_convert)
    return ds


def _images(loader, torch):
    """(the batches of a loader of images that is native, None), or (None, a note that says why it isn't)."""
    why = None
    for kind in (_torch_arrays, _torch_images):
        try:
            return kind.images(loader, kind.recognized(loader, torch)), None
        except _torch_images.Unrecognized as e:
            # A reason about transforms is more useful than "another data set".
            why = why if why is not None and "data set" not in why else str(e)
    return None, f"from_torch: items of {type(loader.dataset).__name__} run as Python: {why}"


def _in_processes(order, loader, processes):
    def sample(at):
        return ((np.int64(0), np.array([at])),) if at < len(loader.dataset) else None

    ordered = getattr(loader, "in_order", True) is not False
    return _pool.mapped(order, _Fetch(loader, processes), processes, ordered, loader.timeout or None, sample)


def _counted(ds, loader):
    """The dataset with the loader's length, if it has one."""
    try:
        n = len(loader)
    except TypeError:
        return ds
    return NAMES["assert_cardinality"](n)(ds)
