# SPDX-License-Identifier: Apache-2.0
"""Grain's side of the benchmark, in the settings listed in settings.py: reading threads, processes, indexing, batches
as elements."""

import grain
import numpy as np

import side


def iterated(ds, setting):
    """Iterates over a MapDataset."""
    if setting.get("by") == "indexing":
        return (ds[i] for i in range(len(ds)))
    threads = setting.get("threads", 0)
    buffer = setting.get("buffer", 4 if threads else 0)
    made = ds.to_iter_dataset(grain.ReadOptions(num_threads=threads, prefetch_buffer_size=buffer))
    if setting.get("processes"):
        made = made.mp_prefetch(grain.MultiprocessingOptions(num_workers=setting["processes"]))
    return iter(made)


def plus_one(x):
    return x + 1


def overhead(n, batch, maps, setting, of_batches=False):
    """of_batches: each map gets 1000 numbers at once."""
    ds = grain.MapDataset.range(n)
    if setting.get("by") == "IterDataset":
        ds = ds.to_iter_dataset(grain.ReadOptions(num_threads=0, prefetch_buffer_size=0))
    ds = ds.batch(batch) if of_batches else ds
    for _ in range(maps):
        ds = ds.map(plus_one)
    ds = ds if of_batches else ds.batch(batch)
    if setting.get("by") == "IterDataset":
        return lambda: side.timed(lambda: side.drain(iter(ds)), elements=n)
    return lambda: side.timed(lambda: side.drain(iterated(ds, setting)), elements=n)


class Blocks:
    """Numbers in blocks: as a user with such small elements would group them."""

    def __init__(self, n, batch):
        self.n, self.batch = n, batch

    def __len__(self):
        return self.n // self.batch

    def __getitem__(self, i):
        return np.arange(i * self.batch, (i + 1) * self.batch)


def overhead_of_blocks(n, batch, maps, setting):
    if setting.get("source") != "blocks":
        return overhead(n, batch, maps, setting, of_batches=True)
    ds = grain.MapDataset.source(Blocks(n, batch))
    for _ in range(maps):
        ds = ds.map(plus_one)
    return lambda: side.timed(lambda: side.drain(iterated(ds, setting)), elements=n)


def next_ready(rounds, ready, setting):
    ds = grain.MapDataset.source([np.zeros((32, 8), np.float32)]).repeat()
    it = iterated(ds, setting)
    return lambda: side.ready_next(it, rounds, ready)


def shuffle(n, buffer, batch, setting):
    """A full shuffle is an index permutation, Grain's way."""

    def dataset():
        if setting["by"] == "window_shuffle":
            return grain.MapDataset.range(n).pipe(windowed).batch(batch)
        if setting["by"] == "shuffle of all":
            return grain.MapDataset.range(n).shuffle(seed=1).batch(batch)
        order = np.random.permutation(n)
        if setting["by"].endswith("rows of a batch"):
            return grain.MapDataset.source(order[: n // batch * batch].reshape(-1, batch))
        return grain.MapDataset.source(order).batch(batch)

    def windowed(ds):
        if hasattr(ds, "window_shuffle"):
            return ds.window_shuffle(window_size=buffer, seed=1)
        return grain.experimental.WindowShuffleMapDataset(ds, window_size=buffer, seed=1)

    return lambda: side.timed(lambda: side.drain(iterated(dataset(), setting)), elements=n)


CASES = {
    "overhead": overhead,
    "overhead_of_blocks": overhead_of_blocks,
    "next": next_ready,
    "shuffle": shuffle,
}


def versions():
    import importlib.metadata

    return {"Grain": importlib.metadata.version("grain")}


if __name__ == "__main__":
    side.serve(CASES, versions)
