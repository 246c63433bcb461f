# SPDX-License-Identifier: Apache-2.0
"""The settings that are searched, by peer and work: each list is what a user who reads that peer's performance guide
would try, the plain form first. bench/PEERS.md shows the forms as code.

Names are for readers (they are printed); the sides (side_*.py) define what each does.
"""

from search import product

AUTO = "AUTOTUNE"


def tf_records():
    one = {"readers": 1, "buffer MB": 8, "order": "batch, parse_example", "map": AUTO}
    each = {**one, "readers": "2 files, each batching"}
    return product(
        one,
        {"buffer MB": None},
        {"buffer MB": 64},
        {"map": 2},
        {"map": None},
        {"in order": True},
        {"order": "batch, parse_example_dataset", "map": 2},
        {"order": "parse_single_example, batch"},
        {"readers": AUTO, "buffer MB": None},
        {"readers": AUTO, "buffer MB": None, "take": "records"},
        {"readers": AUTO, "buffer MB": None, "order": "parse_single_example, batch"},
    ) + product(
        each,
        {"readers": "4 files, each batching"},
        {"readers": "2 files, each batching and parsing"},
        {"readers": "4 files, each batching and parsing", "in order": True},
    )


def tf_overhead():
    return product(
        {"map": None},
        {"in order": True},
        {"prefetch": AUTO},
        {"autotune": False},
        {"one thread an op": True},
        {"pool": 1},
        {"pool": 1, "one thread an op": True, "autotune": False},
        {"map": AUTO, "prefetch": AUTO},
        {"map": 2, "prefetch": 2},
        {"map": 4, "prefetch": AUTO, "in order": True},
        {"fusion": True, "map": AUTO},
        {"fusion": True},
    )


def tf_overhead_of_batches():
    return tf_overhead() + [{"map": m, "source": "blocks"} for m in (None, 2, AUTO)]


def tf_next():
    return product(
        {"prefetch": 10},
        {"prefetch": 16},
        {"prefetch": AUTO},
        {"by": "as_numpy_iterator"},
        {"by": "as_numpy_iterator", "prefetch": 16},
        {"autotune": False},
        {"in order": True, "autotune": False},
        {"pool": 1},
        {"by": "as_numpy_iterator", "autotune": False, "pool": 1},
    )


def tf_jpeg():
    plain = {"normalise": "scalar", "box": "none", "map": AUTO}
    return product(
        plain,
        {"in order": True},
        {"map": 2},
        {"map": 4},
        {"one thread an op": True},
        {"one thread an op": True, "map": 2, "autotune": False},
        {"pool": 2},
        {"normalise": "scalar, of the batch"},
        {"normalise": "constants of the image's shape"},
        {"normalise": "constants of the image's shape", "one thread an op": True},
        {"normalise": "constants per channel"},
        {"normalise": "constants per channel", "box": "whole"},
        {"box": "own arithmetic"},
    )


def tf_raw(normalised):
    plain = {"box": "none", "map": AUTO, "by": "image"}
    batch = {"by": "batch, crop_and_resize", "map": AUTO}
    if normalised:
        plain, batch = {**plain, "normalise": "scalar"}, {**batch, "normalise": "scalar"}
    found = product(plain, {"in order": True}, {"map": 2}, {"one thread an op": True}, {"box": "whole"})
    found += product(
        batch,
        {"in order": True},
        {"map": 2},
        {"one thread an op": True},
        {"record": "batch"},
        {"record": "batch", "one thread an op": True, "map": 2},
    )
    if normalised:
        found += [
            {**plain, "normalise": "constants of the image's shape"},
            {**plain, "normalise": "constants per channel", "box": "whole"},
            {**batch, "normalise": "constants of the image's shape", "record": "batch"},
        ]
    return found


def tf_assemble():
    return product(
        {"by": "batch", "batch": AUTO, "prefetch": AUTO},
        {"batch": None},
        {"batch": None, "prefetch": None},
        {"prefetch": None},
        {"batch": 2, "prefetch": 2},
        {"in order": True},
        {"pool": 2},
        {"by": "gather", "batch": None},
        {"by": "gather", "batch": None, "map": 2},
        {"by": "gather", "batch": None, "map": AUTO, "in order": True},
    )


def tf_shuffle():
    return product(
        {"by": "shuffle"},
        {"in order": True},
        {"prefetch": AUTO},
        {"autotune": False},
        {"pool": 1},
        {"reshuffle": False},
        {"one thread an op": True, "autotune": False},
        {"by": "permutation of all, one number each"},
        {"by": "permutation of all, batches"},
        {"by": "permutation of all, batches", "prefetch": 2},
    )


def grain_overhead():
    return product(
        {"threads": 0},
        {"threads": 0, "by": "indexing"},
        {"threads": 1},
        {"threads": 2},
        {"threads": 4},
        {"threads": 16},
        {"threads": 2, "buffer": 64},
        {"threads": 0, "by": "IterDataset"},
        {"processes": 1, "threads": 0},
        {"processes": 2, "threads": 0},
    )


def grain_overhead_of_batches():
    return grain_overhead() + [{"threads": 0, "source": "blocks"}, {"threads": 2, "source": "blocks"}]


def grain_next():
    return product(
        {"threads": 2, "buffer": 10},
        {"threads": 1},
        {"threads": 4},
        {"threads": 2, "buffer": 32},
        {"threads": 1, "buffer": 32},
        {"threads": 0, "buffer": 0},
        {"threads": 16, "buffer": 500},
    )


def grain_shuffle():
    return product(
        {"by": "shuffle of all", "threads": 0},
        {"threads": 1},
        {"threads": 2},
        {"threads": 4},
        {"threads": 2, "buffer": 64},
        {"by": "window_shuffle"},
        {"by": "permutation as source"},
        {"by": "permutation as source, rows of a batch"},
        {"by": "permutation as source, rows of a batch", "threads": 2},
    )


def torch_workers(**base):
    """Processes and prefetch depths, for any map-style dataset."""
    return [
        {"workers": 0, **base},
        {"workers": 1, "prefetch": 4, **base},
        {"workers": 2, "prefetch": 4, **base},
        {"workers": 2, "prefetch": 2, **base},
        {"workers": 2, "prefetch": 16, **base},
        {"workers": 2, "prefetch": 4, "in order": False, **base},
        {"workers": 4, "prefetch": 4, **base},
    ]


def torch_overhead():
    return torch_workers() + [
        {"workers": 0, "collate": "torch.tensor"},
        {"workers": 2, "prefetch": 16, "collate": "torch.tensor"},
        {"workers": 0, "collate": "none"},
    ]


def torch_overhead_of_batches():
    return (
        [{"workers": 0, "by": "__getitems__"}, {"workers": 0, "by": "batch sampler"}]
        + [{"workers": 0, "by": "batch sampler", "numbers": "torch"}]
        + [{"workers": 0, "by": "iterable of blocks"}]
        + [{"workers": 0, "by": "iterable of blocks", "numbers": "torch"}]
        + [{"workers": w, "prefetch": 16, "by": "iterable of blocks"} for w in (1, 2)]
        + [{"workers": 2, "prefetch": 4, "by": "batch sampler"}]
    )


def torch_next():
    return [
        {"workers": 0},
        {"workers": 0, "by": "map-style dataset"},
        {"workers": 1, "prefetch": 10},
        {"workers": 1, "prefetch": 32},
        {"workers": 2, "prefetch": 10},
        {"workers": 2, "prefetch": 32},
        {"workers": 2, "prefetch": 10, "in order": False},
        {"workers": 2, "prefetch": 10, "by": "map-style dataset"},
    ]


def torch_jpeg():
    v2 = {"transforms": "v2"}
    last = {"normalise": "of the batch"}
    return torch_workers(transforms="v1") + [
        {"workers": 3, "prefetch": 4, "transforms": "v1"},
        {"workers": 2, "prefetch": 4, **v2},
        {"workers": 2, "prefetch": 4, "transforms": "v1", **last},
        {"workers": 3, "prefetch": 4, "transforms": "v1", **last},
        {"workers": 2, "prefetch": 4, **v2, **last},
        {"workers": 0, "transforms": "v1", **last},
    ]


def torch_raw(normalised):
    found = torch_workers() + [
        {"workers": 3, "prefetch": 4},
        {"workers": 2, "prefetch": 4, "by": "torch.from_numpy of the map"},
        {"workers": 2, "prefetch": 4, "by": "Pillow"},
        {"workers": 3, "prefetch": 4, "by": "Pillow"},
    ]
    if normalised:
        found += [
            {"workers": w, "prefetch": 4, "normalise": "of the batch", "by": by}
            for w, by in ((2, "array"), (3, "array"), (2, "Pillow"))
        ]
    return found


def torch_assemble():
    return torch_workers() + [
        {"workers": 0, "by": "__getitems__"},
        {"workers": 0, "by": "__getitems__", "threads": 2},
        {"workers": 0, "by": "batch sampler"},
        {"workers": 0, "by": "batch sampler", "threads": 2},
        {"workers": 2, "prefetch": 4, "by": "batch sampler"},
    ]


def torch_shuffle():
    return torch_workers() + [
        {"workers": 0, "collate": "torch.tensor"},
        {"workers": 0, "by": "__getitems__"},
        {"workers": 0, "by": "batch sampler"},
        {"workers": 0, "by": "permutation, a block each"},
        {"workers": 2, "prefetch": 16, "by": "batch sampler"},
    ]


def web_jpeg():
    return [
        {"workers": 0, "shards": 1, "batched by": "pipeline"},
        {"workers": 1, "prefetch": 4, "shards": 1, "batched by": "pipeline"},
        {"workers": 2, "prefetch": 4, "shards": 1, "batched by": "pipeline"},
        {"workers": 2, "prefetch": 2, "shards": 4, "batched by": "pipeline"},
        {"workers": 2, "prefetch": 4, "shards": 4, "batched by": "pipeline"},
        {"workers": 2, "prefetch": 8, "shards": 4, "batched by": "pipeline"},
        {"workers": 3, "prefetch": 4, "shards": 4, "batched by": "pipeline"},
        {"workers": 4, "prefetch": 4, "shards": 4, "batched by": "pipeline"},
        {"workers": 2, "prefetch": 4, "shards": 4, "batched by": "loader"},
        {"workers": 2, "prefetch": 4, "shards": 4, "batched by": "pipeline", "decode": "own"},
        {"workers": 2, "prefetch": 4, "shards": 4, "batched by": "pipeline", "transforms": "v2"},
        {
            "workers": 2,
            "prefetch": 4,
            "shards": 4,
            "batched by": "pipeline",
            "normalise": "of the batch",
        },
    ]


def web_shuffle():
    return product(
        {"initial": "buffer"},
        {"initial": 1000},
        {"initial": 100},
        {"initial": 1},
        {"initial": "buffer", "deterministic": True},
        {"initial": 1000, "collate": "np.array"},
        {"initial": "buffer", "workers": 1},
    )


def dali_jpeg():
    return product(
        {"threads": 2, "queue": 2, "fast idct": True, "interpolation": "triangular"},
        {"threads": 1},
        {"threads": 3},
        {"threads": 4},
        {"queue": 1},
        {"queue": 4},
        {"fast idct": False},
        {"interpolation": "linear"},
        {"interpolation": "linear", "threads": 3},
        {"interpolation": "linear", "dynamic": True},
        {"reader": "random order"},
        {"reader": "copies", "interpolation": "linear"},
    )


def dali_raw():
    return product(
        {"threads": 2, "queue": 2, "interpolation": "triangular"},
        {"threads": 1},
        {"threads": 3},
        {"threads": 4},
        {"queue": 4},
        {"interpolation": "linear"},
        {"interpolation": "linear", "threads": 3},
        {"interpolation": "linear", "threads": 1},
        {"interpolation": "linear", "queue": 1},
        {"interpolation": "linear", "dynamic": True},
        {"interpolation": "linear", "reader": "numpy"},
    )


def ffcv(normalised=True):
    """It accepts no more workers than there are cores."""
    found = product(
        {"workers": 2, "ahead": 3, "order": "sequential"},
        {"workers": 1},
        {"ahead": 1},
        {"ahead": 2},
        {"ahead": 6},
        {"order": "random"},
        {"order": "quasi-random", "os cache": False},
        {"os cache": False},
        {"ahead": 1, "workers": 1},
    )
    if normalised:
        found += [{**found[0], "normalise": "torch, of the batch"}]
        found += [{**found[0], "normalise": "torch, of the batch", "workers": 1}]
    return found


def spdl_jpeg():
    return product(
        {"decoder": "spdl.io", "threads": 2, "convert": "batch"},
        {"convert": "each"},
        {"threads": 1},
        {"threads": 3},
        {"threads": 4},
        {"threads": 4, "convert": "each"},
        {"ahead": 8},
        {"stages": "demux, decode"},
        {"stages": "demux, decode", "threads": 3},
        {"order": "completion"},
        {"decoder": "Pillow", "convert": "each"},
        {"decoder": "Pillow", "convert": "each", "threads": 3},
        {"decoder": "Pillow", "convert": "each", "by": "processes"},
    )


def pooled_jpeg(workers, prefetches, *others):
    """For a pool of workers that make images; starts with two workers and four batches ahead."""
    return product(
        {"workers": 2, "prefetch": 4, "normalise": "of the batch"},
        *({"workers": n} for n in workers),
        *({"prefetch": n} for n in prefetches),
        {"normalise": "each"},
        *others,
    )


def codec_jpeg():
    return pooled_jpeg((0, 1, 3, 4), (2, 16), {"in order": False}, {"antialias": False})


def lit_jpeg():
    return pooled_jpeg((0, 1, 3), (16,), {"decoder": "Pillow"}, {"antialias": False})


def loader_rs_jpeg():
    both = {"items in parallel": 2}
    return pooled_jpeg((0, 1, 3, 4), (2, 16), {**both, "workers": 1}, both)


def loader_rs_numbers():
    return product(
        {"workers": 0},
        {"workers": 1, "prefetch": 4},
        {"workers": 2, "prefetch": 4},
        {"workers": 2, "prefetch": 16},
        {"workers": 4, "prefetch": 4},
        {"workers": 1, "prefetch": 16},
    )


def loader_rs_blocks():
    return [{**setting, "by": "__getitems__"} for setting in loader_rs_numbers()]
