# SPDX-License-Identifier: Apache-2.0
"""from_torch: the same batches as the DataLoader's in the same order, or a rejection with the reason."""

import collections
import importlib.util
import os
import random
import subprocess
import sys
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

    class Streamed(td.IterableDataset):
        """Numbers, and what is drawn for each; each worker has a part."""

        def __init__(self, count=23):
            self.count = count

        def __iter__(self):
            info = td.get_worker_info()
            at, step = (0, 1) if info is None else (info.id, info.num_workers)
            for i in range(at, self.count, step):
                yield {"n": i, "drawn": torch.rand(2), "text": f"row {i}"}

    class Once(td.IterableDataset):
        """A stream that goes on where it was left."""

        def __init__(self, count=23):
            self.at, self.count = 0, count

        def __iter__(self):
            return self

        def __next__(self):
            if self.at >= self.count:
                raise StopIteration
            self.at += 1
            return self.at

    class Placed(Once):
        """The same with a place of its own, as torchdata asks for it."""

        def __iter__(self):
            self.at = 0 if self.at >= self.count else self.at
            return self

        def state_dict(self):
            return {"at": self.at}

        def load_state_dict(self, state):
            self.at = state["at"]

    class Doubled(td.DataLoader):
        """A loader with a way of its own."""

        def __iter__(self):
            for batch in super().__iter__():
                yield batch["n"] * 2


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
    if isinstance(v, str):
        return v.encode()
    v = v.tolist() if isinstance(v, np.ndarray) and v.dtype.kind == "O" else v
    return int(v) if isinstance(v, np.int64) else v


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
        got = [(int(i[0]), int(p[0])) for i, p in sd.from_torch(loader, processes=2)]
        c.true(all(p != os.getpid() for _, p in got), "in processes of their own")
        c.true(len(dict(got)) == len({p for _, p in got}), "a number for each worker")
        c.true(set(os.listdir(folder)) <= {"0-2", "1-2"} and "0-2" in os.listdir(folder), "began with init")
    made = [passes(sd.from_torch(td.DataLoader(Drawn(), 2), processes=n)) for n in (1, 3)]
    c.same(made[0], made[1], "drawn by a seed of the batch")
    values = np.concatenate([b[k] for b in made[0] for k in range(3)])
    c.same(len(set(values.tolist())), values.size, "no two alike")


@needs_torch
def test_faults():
    pool = sd.from_torch(td.DataLoader(Bad(), 2, num_workers=1), processes=1)
    for it in (iter(pool), *(iter(sd.from_torch(td.DataLoader(Bad(), 2, num_workers=n)).to_torch()) for n in (0, 1))):
        got = []
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

    refused(lambda: sd.from_torch([1]), "expected a torch.utils.data.DataLoader")
    refused(lambda: sd.from_torch(td.DataLoader(Streamed()), processes=1), "makes its batches itself")
    refused(lambda: sd.from_torch(Doubled(Rows()), threads=1), "makes its batches itself")
    refused(lambda: sd.from_torch(td.DataLoader(Streamed(0))), "gives nothing")
    refused(lambda: sd.from_torch(td.DataLoader(Epochs(), num_workers=1), processes=1), "set_epoch")
    sd.from_torch(td.DataLoader(Epochs(), num_workers=1), processes=0)
    refused(lambda: sd.from_torch(td.DataLoader(Rows()), processes=1, threads=1), "not both")
    refused(lambda: sd.from_torch(td.DataLoader([object()], collate_fn=list)), "holds object", TypeError)
    named = td.DataLoader(Rows(), sampler=["a", "b"])
    refused(lambda: next(iter(sd.from_torch(named))), "whole numbers")
    loader = sd.from_torch(td.DataLoader(Rows(), 4, True)).to_torch()
    refused(loader.state_dict, "RandomSampler draws another order", RuntimeError)
    loader = sd.from_torch(td.DataLoader(Streamed(), 4)).to_torch()
    refused(loader.state_dict, "StatefulDataLoader", RuntimeError)
    loader = sd.from_torch(td.DataLoader(Rows(), 4)).to_torch()
    refused(lambda: loader.load_state_dict({"batches": 1, "of": "DataLoader of Pairs"}), "a state of DataLoader of Pairs")


@needs_torch
def test_streams():
    """Loaders that make their batches themselves: order, numbers drawn and the workers' parts are theirs."""
    for workers in (0, 2):
        for batch in (4, None):
            what = f"{workers} workers, batches of {batch}"
            ds = alike(lambda: td.DataLoader(Streamed(), batch, num_workers=workers), what)
            c.true("makes its batches itself" in ds.explain(), "explain says so")
        alike(lambda: Doubled(Rows(), 4, num_workers=workers), f"a subclass, {workers} workers")
        there, ours = Once(), Once()
        make = lambda dataset: td.DataLoader(dataset, 4, num_workers=workers)
        c.same(passes(sd.from_torch(make(ours)), 1), passes(make(there), 1), f"a stream that is read once, {workers} workers")
    ds = sd.from_torch(td.DataLoader(Streamed(), 4)).map(lambda e: e["n"] + 1).prefetch(2)
    c.same(np.concatenate([v.numpy() for v in ds.to_torch()]).tolist(), list(range(1, 24)), "and a pipeline after it")
    loader = sd.from_torch(td.DataLoader(Streamed(), 4, num_workers=2, persistent_workers=True)).prefetch(2).to_torch()
    c.same(sorted(n for _ in range(2) for b in loader for n in b["n"].tolist()), sorted([*range(23)] * 2), "workers that stay")


@needs_torch
def test_batches_are_handed_on():
    """With nothing after it but prefetch, a loop gets what the loader gives: texts, lists and numbers drawn."""
    for workers in (0, 2):
        make = lambda: td.DataLoader(Drawn(), 4, True, num_workers=workers)
        torch.manual_seed(3), random.seed(3), np.random.seed(3)
        there = [plain(b) for b in make()]
        ours = sd.from_torch(make()).prefetch(4).to_torch()
        torch.manual_seed(3), random.seed(3), np.random.seed(3)
        here = [plain(b) for b in ours]
        c.same([[v.tolist() for v in b] for b in here], [[v.tolist() for v in b] for b in there], f"drawn, {workers} workers")
        texts = next(iter(sd.from_torch(td.DataLoader(Rows(), 2, num_workers=workers)).to_torch()))["text"]
        c.same(texts, ["row 0", "row 1"])
        c.same(len(sd.from_torch(td.DataLoader(Rows(), 4, num_workers=workers)).to_torch()), 6)
    seen = []

    class Told(Rows):
        def set_epoch(self, epoch):
            seen.append(epoch)

    sd.from_torch(td.DataLoader(Told(), num_workers=1)).to_torch().set_epoch(3)
    c.same(seen, [3], "the data set gets the epoch")


@needs_torch
def test_states_of_torchdata():
    """A StatefulDataLoader's states, saved in one and loaded into the other."""
    if not importlib.util.find_spec("torchdata"):
        c.skip("torchdata is not installed")
        return
    from torchdata.stateful_dataloader import StatefulDataLoader

    for dataset in (Rows, Placed, Streamed):
        for workers in (0, 2):
            shuffle = dataset is Rows
            make = lambda: StatefulDataLoader(dataset(), 4, shuffle=shuffle, num_workers=workers)
            ours = lambda: sd.from_torch(make()).prefetch(2).to_torch()
            for begin, go_on in ((ours, ours), (ours, make), (make, ours)):
                torch.manual_seed(5)
                first, got = begin(), []
                it = iter(first)
                for _ in range(2):
                    next(it)
                state = first.state_dict()
                rest = [plain(b) for b in it]
                second = go_on()
                second.load_state_dict(state)
                got = [plain(b) for b in second]
                keep = lambda b: b["n"].tolist() if isinstance(b, dict) else b.tolist()
                c.same([keep(b) for b in got], [keep(b) for b in rest], f"{dataset.__name__}, {workers} workers")


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
    c.same(other.state_dict(), state, "loaded, not gone on with")
    c.same([b["n"].tolist() for b in other], all_n[1:])
    c.same([b["n"].tolist() for b in other], all_n, "and the next pass is whole")
    workers = sd.from_torch(td.DataLoader(Rows(), 4, num_workers=2)).prefetch(2).to_torch()
    workers.load_state_dict(state)
    c.same([b["n"].tolist() for b in workers], all_n[1:], "in workers")
    mapped = lambda: sd.from_torch(td.DataLoader(Rows(), 4)).map(lambda e: e["n"]).to_torch()
    first = mapped()
    it = iter(first)
    next(it)
    second = mapped()
    second.load_state_dict(first.state_dict())
    c.same([b.tolist() for b in second], all_n[1:], "with a stage after it")


LEFT_OPEN = """
import torch.utils.data as td
import stoker.data as sd

class Rows(td.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        return i

loader = sd.from_torch(td.DataLoader(Rows(), 4, num_workers=2, persistent_workers=True)).map(lambda e: e).to_torch()
for epoch in range(2):
    for k, batch in enumerate(loader):
        if epoch == 1 and k == 3:
            break
print("done", flush=True)
"""


@needs_torch
def test_workers_end_with_the_interpreter():
    """Workers that stay between epochs take SIGTERM, though a thread that blocks signals asked for them."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/job.py", "w") as f:
            f.write(LEFT_OPEN)
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        try:
            p = subprocess.run([sys.executable, f"{folder}/job.py"], env=env, capture_output=True, text=True, timeout=120)
            c.same((p.returncode, p.stdout), (0, "done\n"), p.stderr)
        except subprocess.TimeoutExpired as e:
            c.true(False, f"it did not end: {e.stdout} {e.stderr}")


c.main(globals())
