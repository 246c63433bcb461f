# SPDX-License-Identifier: Apache-2.0
"""from_torch: a DataLoader's batches, the same in the same order, or a refusal that says why."""

import collections
import importlib.util
import os
import random
import tempfile
import warnings

import numpy as np

import checks as c
import stoker.data as sd

HAS_TORCH = bool(importlib.util.find_spec("torch"))
if HAS_TORCH:
    import torch
    from torch.utils import data as td

    warnings.filterwarnings("ignore", ".*worker processes in total.*")

    Point = collections.namedtuple("Point", "x y")

    class Rows(td.Dataset):
        def __len__(self):
            return 23

        def __getitem__(self, i):
            if i < 0 or i >= 23:
                raise IndexError(i)
            return {"x": torch.full((3,), float(i)), "n": i, "half": i / 2, "text": f"row {i}"}

    class Pairs(Rows):
        def __getitem__(self, i):
            return np.full((2, 2), i, np.float32), i % 10

    class Drawn(Rows):
        def __getitem__(self, i):
            return random.random(), float(torch.rand(())), np.random.rand()

    class Worker(Rows):
        def __getitem__(self, i):
            info = td.get_worker_info()
            return -1 if info is None else info.id, os.getpid()

    class Bad(Rows):
        def __getitem__(self, i):
            if i == 5:
                raise KeyError("five")
            return i

    class Epochs(Rows):
        def set_epoch(self, epoch):
            self.epoch = epoch

    class Endless(td.IterableDataset):
        def __iter__(self):
            yield from range(3)


def needs_torch(test):
    def run():
        if HAS_TORCH:
            test()
        else:
            c.raises(ImportError, lambda: sd.from_torch(None), "needs the package torch")
            c.skip("torch is not installed")

    run.__name__ = test.__name__
    return run


def plain(v):
    """What torch and we give, in one form."""
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, torch.Tensor):
        return v.numpy()
    if isinstance(v, (list, tuple)):
        is_text = len(v) and isinstance(v[0], str)
        return [x.encode() for x in v] if is_text else [plain(x) for x in v]
    return v.tolist() if isinstance(v, np.ndarray) and v.dtype.kind == "O" else v


def passes(loader, n=2):
    torch.manual_seed(7)
    return [plain(b) for _ in range(n) for b in loader]


def alike(make, what, **how):
    """Two passes of a loader and of what it became, as a Dataset and through to_torch."""
    there = passes(make())
    ds = sd.from_torch(make(), **how)
    c.same(passes(ds), there, what)
    c.same(passes(sd.from_torch(make(), **how).to_torch()), there, f"{what}, to_torch")
    return ds


@needs_torch
def test_same_batches():
    for kind in (Rows, Pairs):
        for workers in (0, 2):
            for shuffle in (False, True):
                what = f"{kind.__name__}, {workers} workers, shuffle {shuffle}"
                alike(lambda: td.DataLoader(kind(), 4, shuffle, num_workers=workers), what)
    ds = alike(lambda: td.DataLoader(Rows(), 4, True, drop_last=True), "drop_last", processes=2)
    c.same(len(ds), 5)
    alike(lambda: td.DataLoader(Rows(), 4, True), "threads", threads=2)
    alike(lambda: td.DataLoader(Pairs(), None), "no batches")


def containers(v):
    """The types of tuples, lists and dicts within v."""
    if isinstance(v, dict):
        return {k: containers(x) for k, x in v.items()}
    return (type(v), [containers(x) for x in v]) if isinstance(v, (list, tuple)) else None


@needs_torch
def test_lists():
    """to_torch gives a list where the loader's default collate does: a loop may put something in it."""
    class Nested(Rows):
        def __getitem__(self, i):
            return (torch.zeros(2), {"a": (i, i + 1)}), Point(i, -i)

    tensors = td.TensorDataset(torch.arange(23.0), torch.arange(23))
    for dataset in (Pairs(), Nested(), tensors):
        for workers in (0, 2):
            make = lambda: td.DataLoader(dataset, 4, num_workers=workers)
            there = containers(next(iter(make())))
            ds = sd.from_torch(make())
            c.same(containers(next(iter(ds.to_torch()))), there)
            c.same(containers(next(iter(ds.prefetch(2).to_torch()))), there)
            c.true(isinstance(next(iter(ds)), tuple), "a pipeline's own are tuples")
    batch = next(iter(sd.from_torch(td.DataLoader(Pairs(), 4)).to_torch()))
    batch[0] = batch[0] + 1
    c.same(type(next(iter(sd.from_torch(td.DataLoader(Pairs(), None)).to_torch()))), list)
    own = td.DataLoader(Pairs(), 4, collate_fn=lambda items: (torch.zeros(3), torch.ones(3)))
    c.same(type(next(iter(sd.from_torch(own).to_torch()))), tuple)
    mapped = sd.from_torch(td.DataLoader(Pairs(), 4)).map(lambda x, y: (x + 1, y))
    c.same(type(next(iter(mapped.to_torch()))), tuple)


@needs_torch
def test_samplers():
    weights = torch.arange(23.0)
    alike(lambda: td.DataLoader(Rows(), 4, sampler=td.WeightedRandomSampler(weights, 30)), "weighted")
    lists = [[3, 1], [2], [22, 0, 7]]
    alike(lambda: td.DataLoader(Rows(), batch_sampler=lists, num_workers=2), "a list of batches")
    alike(lambda: td.DataLoader(Rows(), 5, True, generator=torch.Generator().manual_seed(2)), "a generator")
    parts = [td.DataLoader(Rows(), 4, sampler=td.DistributedSampler(Rows(), 2, rank)) for rank in range(2)]
    for epoch in range(2):
        seen = []
        for loader in parts:
            ours = sd.from_torch(loader).to_torch()
            ours.set_epoch(epoch)
            here = [plain(b) for b in ours]
            loader.sampler.set_epoch(epoch)
            c.same(here, [plain(b) for b in loader], "a rank's part")
            seen += [n for b in here for n in b["n"].tolist()]
        c.same(sorted(set(seen)), list(range(23)))


@needs_torch
def test_tensors_are_native():
    x, y = torch.randn(50, 5), torch.arange(50)
    ds = alike(lambda: td.DataLoader(td.TensorDataset(x, y), 7, True), "tensors")
    c.true("rows: native" in ds.explain(), "rows are picked natively")

    def part():
        halves = td.random_split(td.TensorDataset(x, y), [30, 20], torch.Generator().manual_seed(1))
        return td.DataLoader(halves[1], 7, True)

    alike(part, "a part of tensors")


@needs_torch
def test_workers():
    """Their numbers, their function, and what is drawn in them: the same for any number of them."""
    with tempfile.TemporaryDirectory() as folder:

        def init(number):
            open(f"{folder}/{number}-{td.get_worker_info().num_workers}", "w").close()

        loader = td.DataLoader(Worker(), 1, num_workers=2, worker_init_fn=init)
        got = [(int(i[0]), int(p[0])) for i, p in sd.from_torch(loader)]
        c.true(all(p != os.getpid() for _, p in got), "in processes of their own")
        c.true(len(dict(got)) == len({p for _, p in got}), "a number for each worker")
        c.true(set(os.listdir(folder)) <= {"0-2", "1-2"} and "0-2" in os.listdir(folder), "began with init")
    made = [passes(sd.from_torch(td.DataLoader(Drawn(), 2, num_workers=n))) for n in (1, 3)]
    c.same(made[0], made[1], "drawn by a seed of the batch")
    values = np.concatenate([b[k] for b in made[0] for k in range(3)])
    c.same(len(set(values.tolist())), values.size, "no two alike")


@needs_torch
def test_faults():
    loader = td.DataLoader(Bad(), 2, num_workers=1)
    it, got = iter(sd.from_torch(loader)), []
    for _ in range(12):
        try:
            got += next(it).tolist()
        except KeyError as e:
            c.true("five" in str(e), "the item's own exception")
    c.same(got, [i for i in range(23) if i not in (4, 5)], "the batches around it")


@needs_torch
def test_refused():
    def refused(make, words, kind=sd.errors.InvalidArgumentError):
        c.raises(kind, make, words)

    class Own(td.DataLoader):
        def __iter__(self):
            return iter([1])

    refused(lambda: sd.from_torch([1]), "expected a torch.utils.data.DataLoader")
    refused(lambda: sd.from_torch(td.DataLoader(Endless())), "IterableDataset")
    refused(lambda: sd.from_torch(Own(Rows())), "its own way")
    refused(lambda: sd.from_torch(td.DataLoader(Epochs(), num_workers=1)), "set_epoch")
    sd.from_torch(td.DataLoader(Epochs(), num_workers=1), processes=0)
    refused(lambda: sd.from_torch(td.DataLoader(Rows()), processes=1, threads=1), "not both")
    refused(lambda: sd.from_torch(td.DataLoader([object()], collate_fn=list)), "holds object", TypeError)
    named = td.DataLoader(Rows(), sampler=["a", "b"])
    refused(lambda: next(iter(sd.from_torch(named))), "whole numbers")
    loader = sd.from_torch(td.DataLoader(Rows(), 4, True)).to_torch()
    refused(loader.state_dict, "RandomSampler draws another order", RuntimeError)


@needs_torch
def test_resumed():
    def make():
        return sd.from_torch(td.DataLoader(Rows(), 4)).to_torch()

    loader, all_n = make(), [b["n"].tolist() for b in make()]
    it = iter(loader)
    next(it)
    state = loader.state_dict()
    other = make()
    other.load_state_dict(state)
    c.same([b["n"].tolist() for b in other], all_n[1:])


c.main(globals())
