# SPDX-License-Identifier: Apache-2.0
"""Grain's side of the benchmark: MapDataset, in process and with its reading threads."""

import grain
import numpy as np

import side


def overhead(n, batch, maps, threads=0):
    ds = grain.MapDataset.range(n)
    for _ in range(maps):
        ds = ds.map(lambda x: x + 1)
    ds = ds.batch(batch)
    options = grain.ReadOptions(num_threads=threads, prefetch_buffer_size=4 if threads else 0)
    return lambda: side.timed(lambda: side.drain(iter(ds.to_iter_dataset(options))), elements=n)


def next_ready(rounds, ready):
    ds = grain.MapDataset.source([np.zeros((32, 8), np.float32)]).repeat()
    it = iter(ds.to_iter_dataset(grain.ReadOptions(num_threads=2, prefetch_buffer_size=ready + 2)))
    return lambda: side.ready_next(it, rounds, ready)


def shuffle(n, buffer, batch):
    """Over the whole dataset: an index permutation, Grain's way."""
    ds = grain.MapDataset.range(n).shuffle(seed=1).batch(batch)
    options = grain.ReadOptions(num_threads=0, prefetch_buffer_size=0)
    return lambda: side.timed(lambda: side.drain(iter(ds.to_iter_dataset(options))), elements=n)


CASES = {"overhead": overhead, "next": next_ready, "shuffle": shuffle}


def versions():
    import importlib.metadata

    return {"Grain": importlib.metadata.version("grain")}


if __name__ == "__main__":
    side.serve(CASES, versions)
