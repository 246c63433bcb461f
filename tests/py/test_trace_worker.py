# SPDX-License-Identifier: Apache-2.0
"""stoker.trace_worker: what a loader's workers record, with a stand-in for PyTorch and with PyTorch.

The stand-in has what the function asks PyTorch for: get_worker_info, and the fetchers. PyTorch itself
is tried by the interpreter that STOKER_TORCH_PYTHON names; skipped without it.
"""

import glob
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
import types

import checks as c
import stoker
import stoker._worker as worker


class MapFetcher:
    def __init__(self, dataset, collate_fn):
        self.dataset, self.collate_fn = dataset, collate_fn

    def fetch(self, index):
        return self.collate_fn([self.dataset[i] for i in index])


def stand_in(info):
    """Put a torch of three functions among the modules; returns its fetcher."""
    fetch = types.ModuleType("torch.utils.data._utils.fetch")
    fetch._MapDatasetFetcher = type("_MapDatasetFetcher", (MapFetcher,), {"fetch": MapFetcher.fetch})
    data, utils = types.ModuleType("torch.utils.data"), types.ModuleType("torch.utils.data._utils")
    data.get_worker_info, utils.fetch = lambda: info, fetch
    for module in (types.ModuleType("torch"), types.ModuleType("torch.utils"), data, utils, fetch):
        sys.modules[module.__name__] = module
    return fetch._MapDatasetFetcher


class Items:
    def __getitem__(self, i):
        time.sleep(0.002)
        return i


def events(folder):
    out = []
    for path in sorted(glob.glob(f"{folder}/*.json")):
        with open(path, encoding="utf-8") as f:
            out.append([e for e in json.load(f)["traceEvents"] if e["ph"] == "X"])
    return out


def test_outside_a_worker():
    stand_in(None)
    c.raises(RuntimeError, lambda: stoker.trace_worker(0), "worker_init_fn")


def test_stand_in():
    dataset = Items()
    fetcher = stand_in(types.SimpleNamespace(id=0, dataset=dataset))
    with tempfile.TemporaryDirectory() as folder:
        stoker.trace_worker(3, folder=folder)
        made = fetcher(dataset, sum)
        c.true(made.fetch([1, 2]) == 3 and made.fetch([4]) == 4)
        c.true(len(events(folder)) == 1, "the file is whole before anything was written to it")
        worker._here.recorder.write()
        (seen,) = events(folder)
        names = [e["name"] for e in seen]
        c.true(names.count(worker.BATCH) == 2 and names.count(worker.COLLATE) == 2)
        items = [e for e in seen if e["cat"] == "python_function"]
        c.true(len(items) == 3 and all(e["name"].endswith("): __getitem__") for e in items))
        c.true("test_trace_worker.py(" in items[0]["name"], items[0]["name"])
        c.true(all(e["dur"] >= 2000 for e in items))
        batch = next(e for e in seen if e["name"] == worker.BATCH)
        c.true(batch["dur"] >= sum(e["dur"] for e in items[:2]))
        worker._here.recorder.write()
        c.true(len(events(folder)[0]) == len(seen), "writing again adds nothing")
    worker._here.recorder = None


def test_generator():
    class Stream:
        def __iter__(self):
            yield from range(3)

    worker._wrap_dataset(Stream())
    with tempfile.TemporaryDirectory() as folder:
        worker._here.recorder = worker._Recorder(f"{folder}/w.json", 0)
        c.true(list(Stream()) == [0, 1, 2])
        worker._here.recorder.write()
        c.true(len(events(folder)[0]) == 4, "three elements and the end")
    worker._here.recorder = None
    c.true(list(Stream()) == [0, 1, 2], "without a recorder it is as before")


JOB = """
    import time, stoker, torch
    from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset

    class Slow(Dataset):
        def __len__(self): return 16
        def __getitem__(self, i):
            time.sleep(0.005)
            return torch.tensor(float(i))

    class Stream(IterableDataset):
        def __iter__(self):
            info = torch.utils.data.get_worker_info()
            yield from range(info.id, 8, info.num_workers)

    loader = DataLoader(Subset(Slow(), range(12)), batch_size=4, num_workers=2, worker_init_fn=stoker.trace_worker)
    assert sorted(x for b in loader for x in b.tolist()) == list(range(12))
    loader = DataLoader(Stream(), batch_size=2, num_workers=2, worker_init_fn=stoker.trace_worker)
    assert sorted(x for b in loader for x in b.tolist()) == list(range(8))
"""


def test_pytorch():
    python = os.environ.get("STOKER_TORCH_PYTHON")
    if not python:
        c.skip("STOKER_TORCH_PYTHON names no Python with PyTorch")
        return
    package = os.path.dirname(os.path.dirname(stoker.__file__))
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, PYTHONPATH=package)
        path = f"{folder}/job.py"
        with open(path, "w", encoding="utf-8") as f:
            f.write(textwrap.dedent(JOB))
        out = subprocess.run([python, path], cwd=folder, env=env, capture_output=True, text=True)
        c.true(out.returncode == 0, out.stderr[-800:])
        seen = events(f"{folder}/stoker_workers")
        c.true(len(seen) == 4, f"two loaders of two workers: {len(seen)} files")
        items = [e for es in seen for e in es if e["name"].endswith("__getitem__")]
        c.true(len(items) == 12 and all(e["name"].startswith("job.py(") for e in items))
        c.true(any(e["name"].endswith("__iter__") for es in seen for e in es))


c.main(globals())
