#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Datasets pickled: random pipelines give the same elements afterwards, here and in a process that
was spawned; an error names the stage that can't be pickled."""

import copy
import multiprocessing
import os
import pickle
import sys
import tempfile
import threading

import checks as c
import numpy as np
import stoker.data as sd
from soak_pipelines import Files, Pipeline

D = sd.Dataset
FOLDER = tempfile.TemporaryDirectory(prefix="pickle-")


def path(name):
    return os.path.join(FOLDER.name, name)


def again(v):
    return pickle.loads(pickle.dumps(v))


def has_cloudpickle():
    try:
        import cloudpickle  # noqa: F401
    except ImportError:
        c.skip("no cloudpickle")
        return False
    return True


def plus_one(x):
    return np.int64(int(x) + 1)


def count_to(n):
    return iter(range(int(n)))


class Scaled:
    """A callable with a state."""

    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return np.int64(int(x) * self.by)


def listed(ds, n=50):
    """Elements; those that are datasets as lists."""
    return [list(e) if isinstance(e, D) else e for e in ds.take(n)]


def pipelines():
    """Those of every kind that functions by name allow."""
    words = np.array([b"a", b"bc", b""], object)
    return {
        "range": D.range(5),
        "arrays": D.from_tensor_slices({"x": np.arange(6).reshape(3, 2), "s": words}),
        "none": D.from_tensors((1, None, {"b": 2.5, "a": b"x"})),
        "traced": D.range(5).map(lambda x: (x * 2, sd.one_hot(x, 5))).batch(2),
        "python": D.range(5).map(plus_one, 2),
        "object": D.range(5).map(Scaled(3)),
        "generator": D.from_generator(count_to, args=(4,), output_signature=sd.TensorSpec((), "int64")),
        "py_function": D.range(4).map(lambda x: sd.py_function(plus_one, [x], sd.int64) + x),
        "processes": D.range(4).map(Scaled(5), processes=2),
        "cond": D.range(4).map(lambda x: sd.cond(x > 1, lambda: x * 2, lambda: x + 7)),
        "captured": D.range(4).flat_map(lambda x: D.range(3).map(lambda y: y * x)),
        "outer": D.range(4).flat_map(lambda x, o=D.range(9).map(plus_one): o.take(x)),
        "windows": D.range(7).window(3),
        "of windows": D.range(7).window(3).flat_map(lambda w: w.batch(3)),
        "groups": D.range(9).group_by_window(lambda x: x % 2, lambda k, w: w.batch(4), window_size=4),
        "ragged": D.range(5).map(lambda x: sd.range(x)).ragged_batch(2).map(lambda r: r.to_tensor()),
        "packed": D.range(1, 9).map(lambda x: {"ids": sd.range(x)}).pack(9, "best_fit", 2),
        "scan": D.range(5).scan(np.int64(0), lambda s, x: (s + x, s * x)),
        "unique": D.range(10).map(lambda x: x % 3).unique(),
        "order": D.range(30).shuffle(30, reshuffle_each_iteration=False),
        "sampled": D.sample_from_datasets([D.range(9), D.range(9)], [0.3, 0.7], seed=4),
        "twice": (lambda ds: D.zip((ds, ds.concatenate(ds))))(D.range(4)),
    }


def test_every_kind():
    for name, ds in pipelines().items():
        copied = again(ds)
        c.same(listed(copied), listed(ds), name)
        c.same(copied.fingerprint(), ds.fingerprint(), f"{name}: fingerprint")
        c.true(copied.element_spec == ds.element_spec, f"{name}: {copied.element_spec}")
        c.same(copied.explain(), ds.explain(), f"{name}: plan")
        c.same(copied.cardinality(), ds.cardinality(), f"{name}: cardinality")
    c.same(listed(again(again(pipelines()["captured"]))), listed(pipelines()["captured"]), "twice")


def test_random_pipelines():
    """The copy of a random pipeline, and its copy resumed from the original's state."""
    files, made, cloud = Files(FOLDER.name), 0, has_cloudpickle()
    for seed in range(60):
        p = Pipeline(seed, files)
        if p.has_python and not cloud or "generator" in repr(p) and not cloud:
            continue
        folder = path(f"run{seed}")
        os.mkdir(folder)
        options = sd.Options()
        options.seed = seed
        if p.is_damaged:
            options.on_error = "skip"
        ds = p.build(True, folder).with_options(options)
        copied = again(ds)
        c.same(copied.fingerprint(), ds.fingerprint(), f"seed {seed}: {p}")
        c.true(copied.element_spec == ds.element_spec, f"seed {seed}: {p}: spec")
        it, want = iter(ds), []
        for _ in range(17):
            want.extend([next(it)] if len(want) < len(p.numbers) else [])
        state = it.state()
        want.extend(it)
        have = list(copied)
        c.true(len(want) == len(have) and c.equal(have, want), f"seed {seed}: {p}: elements")
        rest = list(copied.iterator(state=state))
        c.true(c.equal(rest, want[len(want) - len(rest) :]), f"seed {seed}: {p}: resumed")
        made += 1
    c.true(made > 25, f"{made} pipelines")


def test_deep_and_wide():
    ds = D.range(3)
    for i in range(3000):
        ds = ds.map(lambda v: v + 1) if i % 2 else ds.take(3)
    c.same(list(again(ds)), list(ds), "deeper than Python's stack")
    ds = D.range(1)
    for _ in range(12):
        ds = ds.concatenate(ds)  # 13 stages, 4096 ways to the first
    c.same(len(list(again(ds))), 4096)
    c.true(len(pickle.dumps(ds)) < 10000, "each once")


def test_seeds_and_epochs():
    ds = D.range(50).shuffle(50, seed=3)
    first, second = list(ds), list(again(ds))
    c.true(first != second and second == list(ds), "the copy's next pass is what this one's would be")
    sd.random.set_seed(11)
    ds = D.range(50).shuffle(50).map(lambda x: sd.random.uniform(()))
    copied = pickle.dumps(ds)
    want = list(ds)
    sd.random.set_seed(None)
    c.same(list(pickle.loads(copied)), want, "the seed goes along")
    mixed = D.range(20).shuffle(20, reshuffle_each_iteration=False)
    parts = again((mixed.take(8), mixed.skip(8)))
    c.same(sorted(list(parts[0]) + list(parts[1])), list(range(20)), "parts of one order")
    options = sd.Options()
    options.on_error, options.seed = ("replace", np.int64(-1)), 5
    c.true(again(ds.with_options(options)).options() == ds.with_options(options).options(), "options")


def test_arrays():
    """Arrays are the pickler's: once each, and out of band where it has that."""
    a = np.arange(100000)
    ds = D.from_tensor_slices((a, a)).concatenate(D.from_tensor_slices((a, a)))
    c.true(len(pickle.dumps(ds)) < a.nbytes + 5000, "once")
    buffers = []
    data = pickle.dumps(ds, protocol=5, buffer_callback=buffers.append)
    c.true(len(data) < 5000 and len(buffers) == 1, "out of band")
    c.same(list(pickle.loads(data, buffers=buffers).skip(199999)), [(a[-1], a[-1])])
    np.save(path("big.npy"), a.reshape(-1, 4))
    for ds in (
        sd.NpyDataset(path("big.npy")),
        D.from_tensor_slices(np.load(path("big.npy"), mmap_mode="r")[1:]),
    ):
        c.true(len(pickle.dumps(ds)) < 5000, "a mapped file by its name")
        c.same(list(again(ds)), list(ds))
    changed = np.load(path("big.npy"), mmap_mode="c")
    changed[0] = 7
    c.same(next(iter(again(D.from_tensor_slices(changed)))), np.full(4, 7), "not what is changed")


def test_refused():
    e = c.raises(TypeError, lambda: pickle.dumps(iter(D.range(3))), "state()")
    c.true("iterator" in str(e), str(e))
    window = next(iter(D.range(3).window(2)))
    c.raises(pickle.PicklingError, lambda: pickle.dumps(window), "window")
    lock = threading.Lock()

    def locked(x):
        with lock:
            return np.int64(int(x))

    ds = D.range(3).map(locked).batch(2)
    c.raises(pickle.PicklingError, lambda: pickle.dumps(ds), "map [test_pickle.py:", "locked", "lock")

    def f(x):
        c.raises(pickle.PicklingError, lambda: pickle.dumps(D.range(x)), "depends on a function's")
        return D.range(x)

    list(D.range(2).flat_map(f))
    ds = D.from_generator(lambda: iter([1]), output_signature=sd.TensorSpec((), "int32"))
    hidden, sys.modules["cloudpickle"] = sys.modules.get("cloudpickle"), None
    try:
        c.raises(pickle.PicklingError, lambda: pickle.dumps(ds), "generator [", "lambda at", "cloudpickle")
    finally:
        del sys.modules["cloudpickle"]
        if hidden is not None:
            sys.modules["cloudpickle"] = hidden
    if has_cloudpickle():
        c.same(list(again(ds)), [np.int32(1)])
    from stoker.data.core import _pickled

    form, data, arrays = _pickled.reduced(D.range(2))[1]
    c.raises(sd.errors.InvalidArgumentError, lambda: _pickled.restored(form + 1, data, arrays), "form")


def test_copies():
    """copy and deepcopy give datasets of the same stages, with any functions."""
    lock = threading.Lock()
    ds = D.range(3).map(lambda x: np.int64(int(x) + lock.locked()))
    for copied in (copy.copy(ds), copy.deepcopy({"train": [ds]})["train"][0]):
        c.same(list(copied), list(ds))
    on = again(D.range(4).batch(2).to_device("cpu", depth=3))
    c.same((list(on), on.depth), (list(D.range(4).batch(2)), 3))


def collect(ds, queue):
    queue.put([listed(d) for d in ds])


def test_spawned():
    """A process that starts from nothing has the same elements."""
    context = multiprocessing.get_context("spawn")
    some = pipelines()
    some = [some[k] for k in sorted(some) if k != "windows"]
    queue = context.Queue()
    process = context.Process(target=collect, args=(some, queue))
    process.start()
    have = queue.get(timeout=120)
    process.join()
    for ds, elements in zip(some, have):
        c.same(elements, listed(ds), repr(ds))


def test_torch_workers():
    try:
        import torch
    except ImportError:
        c.skip("no torch")
        return
    ds = D.range(40).shuffle(40, reshuffle_each_iteration=False).map(plus_one)
    for method in ("spawn", "fork"):
        rows = []
        for part in (ds.take(20), ds.skip(20)):
            loader = torch.utils.data.DataLoader(
                part.batch(5).to_torch(), batch_size=None, num_workers=2, multiprocessing_context=method
            )
            rows.append([i for b in loader for i in b.tolist()])
            c.same(len(loader), 4)
        c.same(sorted(rows[0] + rows[1]), list(range(1, 41)), f"{method}: each once, in one part")
    loader = again(D.range(10).batch(2).to_torch())
    loader.set_epoch(3)
    c.same([b.tolist() for b in again(loader)], [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]])
    c.same(loader.batch_size, 2)


if __name__ == "__main__":
    c.main(globals())
