# SPDX-License-Identifier: Apache-2.0
"""Ranks: sharding by the launchers' environment; an epoch that starts with some ranks and continues with others, with
nothing lost or returned twice."""

import os
import random
import tempfile
import time

import numpy as np

import checks as c
import stoker.data as sd


def sources(folder):
    sd.Dataset.range(997).save(os.path.join(folder, "saved"))
    with open(os.path.join(folder, "lines"), "w") as f:
        f.writelines(f"{i}\n" for i in range(997))
    lines = sd.TextLineDataset(os.path.join(folder, "lines"))
    yield sd.Dataset.range(997)
    yield sd.Dataset.from_tensor_slices(np.arange(997)).shuffle(997, seed=3)
    yield sd.Dataset.load(os.path.join(folder, "saved")).shuffle(-1, seed=5)
    yield sd.Dataset.range(997).shuffle(50, seed=7)
    yield lines.map(lambda s: sd.strings.to_number(s, "int64")).shuffle(100, seed=1)


def numbers(batch):
    return [int(v) for v in np.ravel(batch)]


def epoch(ds, rng, ranks, batch_size, first_epoch=0):
    """All elements of an epoch in which the number of ranks changes."""
    past, seen = [], []
    for n in ranks:
        states = []
        for i in range(n):
            part = ds.elastic_shard(past, n, i, batch_size)
            part = part.batch(batch_size) if batch_size > 1 else part
            part = part.prefetch(2) if rng.random() < 0.5 else part
            if not past:
                options = sd.Options()
                options.seed = 11
                part = part.with_options(options)
                for _ in range(first_epoch):
                    next(iter(part))
            it = iter(part)
            last = n is ranks[-1] and len(past) == len(ranks) - 1
            steps = 10**9 if last else rng.randint(0, 900 // n // batch_size // len(ranks))
            for _ in range(steps):
                b = next(it, None)
                if b is None:
                    break
                seen += numbers(b)
            states.append(it.state())
            c.true(len(states[-1]) < 1024, "a state is small")
        past.append(states)
    return seen


def test_elastic():
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        for ds in sources(folder):
            for ranks in ([4, 3], [1, 4], [3, 3], [4, 2, 5], [2, 1, 1, 3]):
                for batch_size in (1, 8):
                    seen = epoch(ds, rng, ranks, batch_size)
                    c.same(sorted(seen), list(range(997)), f"{ranks}, batches of {batch_size}")
            seen = epoch(ds, rng, [2, 3], 4, first_epoch=2)
            c.same(sorted(seen), list(range(997)), "of the third epoch")


def test_refused():
    ds = sd.Dataset.range(10)
    state = iter(ds.elastic_shard([], 2, 0)).state()
    c.raises(sd.errors.InvalidArgumentError, lambda: ds.elastic_shard([[b"no"]], 2, 0), "state")
    c.raises(sd.errors.InvalidArgumentError, lambda: ds.elastic_shard([[]], 2, 0), "all ranks")
    other = sd.Options()
    other.seed = 99
    foreign = iter(ds.elastic_shard([], 2, 1).with_options(other)).state()
    c.raises(
        sd.errors.InvalidArgumentError, lambda: ds.elastic_shard([[state, foreign]], 2, 0), "seed"
    )
    c.raises(sd.errors.InvalidArgumentError, lambda: ds.elastic_shard([], 2, 2))


def test_environment():
    before = dict(os.environ)
    try:
        for size, rank in (
            ("WORLD_SIZE", "RANK"),
            ("SLURM_NTASKS", "SLURM_PROCID"),
            ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
        ):
            for name in list(os.environ):
                if name in ("WORLD_SIZE", "RANK") or name.startswith(("SLURM_", "OMPI_")):
                    del os.environ[name]
            os.environ.update({size: "3", rank: "1"})
            c.same(numbers(list(sd.Dataset.range(8).shard())), [1, 4, 7], size)
            c.same(numbers(list(sd.Dataset.range(8).elastic_shard())), [1, 4, 7], size)
    finally:
        os.environ.clear()
        os.environ.update(before)


def slow_at_times(x):
    """Some elements take long, and others overtake them."""
    time.sleep(0.004 if x % 7 == 0 else 0)
    return x + 1


def test_not_in_order():
    """A run that does not keep the order (deterministic=False) resumes with as many elements repeated
    as lost, and no more of them than were in flight where the state was taken."""
    for f, n, stop in ((lambda x: x + 1, 3000, 100), (slow_at_times, 300, 10)):
        options = sd.Options()
        options.deterministic = False
        ds = sd.Dataset.range(n).map(f, 4).batch(10).with_options(options)
        it = iter(ds)
        got = [v for _ in range(stop) for v in numbers(next(it))]
        state = it.state()
        taken = next(s["elements"] for s in it.stages() if s["kind"] == "range")
        rest = [v for b in ds.iterator(state=state) for v in numbers(b)]
        lost = set(range(1, n + 1)) - set(got + rest)
        twice = len(got) + len(rest) - len(set(got + rest))
        c.same(len(got) + len(rest), n, "as many as there are")
        c.true(len(set(got)) == len(got) and len(set(rest)) == len(rest), "none twice in a run")
        c.true(len(lost) == twice, f"{len(lost)} lost, {twice} twice")
        in_flight = taken - len(got)
        c.true(twice <= in_flight, f"{twice} twice, {in_flight} in flight")


c.main(globals())
