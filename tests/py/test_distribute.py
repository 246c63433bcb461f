#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pipelines on a Ray cluster of this machine: as a source of Ray Data, and over workers that are killed.

usage: test_distribute.py [NAME...]; STOKER_RAY_KILLS: kills of workers and trainers in test_kills (default 12)."""

import os
import random
import signal
import time


import checks as c
import ray_files
import stoker.data as sd
from stoker.data.interop import _maker

KILLS = int(os.environ.get("STOKER_RAY_KILLS", "12"))


def pipeline(n=400, rows=8):
    """Batches whose values tell which elements they hold, and with which random numbers."""
    def element(i):
        return {"i": i, "x": sd.random.uniform([16, 16], seed=4) + sd.cast(i, "float32"), "s": sd.strings.as_string(i)}

    return sd.Dataset.range(n).shuffle(n, seed=3).map(element).batch(rows)


def local(ds, epoch=0):
    """The elements of that epoch, made here."""
    return list(_maker.shard_of(ds, _maker.seed_of(ds), epoch, 1, 0)._plain())


def seeded(ds, seed=11):
    options = sd.Options()
    options.seed = seed
    return ds.with_options(options)


def bits(e):
    return e["i"].tobytes() + e["x"].tobytes() + b"".join(e["s"])


def all_bits(elements):
    return [bits(e) for e in elements]


def test_order():
    """Round robin is the pipeline's own order, first come has the same elements; views of the store; further epochs."""
    ds = seeded(pipeline())
    d = ds.distribute(sd.ray(workers=2, shards=4, num_cpus=1))
    c.same(len(d), 50)
    first = list(d)
    c.same(all_bits(first), all_bits(local(ds)), "epoch 0")
    c.same(all_bits(d), all_bits(local(ds, 1)), "epoch 1")
    d.set_epoch(7)
    c.same(all_bits(d), all_bits(local(ds, 7)), "epoch 7")
    d.close()
    d = ds.distribute(sd.ray(workers=2, order="first_come"))
    c.same(sorted(all_bits(d)), sorted(all_bits(local(ds))), "first come")
    d.close()
    large = seeded(sd.Dataset.range(4).map(lambda i: sd.fill([1 << 20], i)))
    d = large.distribute(sd.ray(workers=1))
    for k, e in enumerate(d):
        c.same((e.flags.writeable, e.flags.owndata, int(e[-1])), (False, False, k), "a view of the store")
    d.close()


def test_resume():
    """At any batch, on another number of workers, the rest is the same bits, and so is the next epoch."""
    ds = seeded(pipeline())
    for order in ("round_robin", "first_come"):
        for k in (0, 1, 17, 50):
            d = ds.distribute(sd.ray(workers=2, shards=3, order=order))
            it = d.iterator()
            before = [bits(next(it)) for _ in range(k)]
            state = it.state()
            c.true(len(state) < 1024, "a state is small")
            d.close()
            d = ds.distribute(sd.ray(workers=1, shards=3, order=order))
            after = all_bits(d.iterator(state))
            want = all_bits(local(ds))
            c.same(sorted(before + after), sorted(want), f"{order} at {k}")
            if order == "round_robin":
                c.same(before + after, want, f"at {k}")
                c.same(bits(next(iter(d))), bits(local(ds, 1)[0]), "the epoch after it")
            d.close()


def test_errors():
    """A bad element is one exception in its place; what can't work is refused before work starts."""
    def element(i):
        return sd.strings.to_number(sd.where(i == 5, "no", sd.strings.as_string(i)), "int64")

    ds = seeded(sd.Dataset.range(12).map(element))
    want = c.all_of(ds._plain())
    c.same([type(v) for v in want].count(type), 1, "one fails")
    d = ds.distribute(sd.ray(workers=2))
    it = d.iterator()
    c.same(c.all_of(it), want, "an error in its place")
    d.close()
    other = sd.Dataset.range(13).distribute(sd.ray(workers=2))
    c.raises(sd.errors.InvalidArgumentError, lambda: other.iterator(it.state()), "fingerprint")
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.ray(workers=0), "workers", "positive")
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.ray(workers=3, shards=2), "3 workers", "2 shards")
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.ray(workers=1, order="any"), "round_robin")
    c.raises(TypeError, lambda: ds.distribute("ray"), "sd.ray")
    c.raises(TypeError, lambda: sd.Dataset.range(4).window(2).distribute(sd.ray(workers=1)), "dataset")
    missing = sd.TextLineDataset("/nowhere/lines.txt").distribute(sd.ray(workers=1))
    c.raises(sd.errors.NotFoundError, lambda: list(missing), "/nowhere/lines.txt")
    missing.close()


def worker_pids():
    """Processes of our actors."""
    out = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                line = f.read()
            with open(f"/proc/{pid}/status") as f:
                parents = f.read()
        except OSError:
            continue
        if line.startswith(b"ray::_Worker") and "PPid:" in parents and belongs(int(pid)):
            out.append(int(pid))
    return out


def belongs(pid):
    """Is the process below this one (its raylet is)?"""
    while pid > 1:
        if pid == os.getpid():
            return True
        try:
            with open(f"/proc/{pid}/stat") as f:
                pid = int(f.read().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return False


def test_kills():
    """Workers are killed at random; now and then the trainer loses everything but its last state. No element is lost or
    doubled, and the order is that of a run without trouble."""
    rng, ds = random.Random(5), seeded(pipeline(1200, 4))
    want = all_bits(local(ds))
    kills = trainers = epochs = 0
    while kills + trainers < KILLS:
        d = ds.distribute(sd.ray(workers=2, shards=4, in_flight=2))
        it, got, saved = d.iterator(), [], None
        while len(got) < len(want):
            alive = worker_pids() if rng.random() < 0.04 and kills + trainers < KILLS else []
            if alive:
                os.kill(rng.choice(alive), signal.SIGKILL)
                kills += 1
            if saved and rng.random() < 0.005:
                trainers += 1
                d.close()
                d = ds.distribute(sd.ray(workers=rng.choice((1, 2, 3)), shards=4, in_flight=2))
                it, got = d.iterator(saved[0]), got[: saved[1]]
            got.append(bits(next(it)))
            if rng.random() < 0.05:
                saved = it.state(), len(got)
        c.same(next(it, None), None, "the end")
        c.same(got, want, f"epoch {epochs}")
        c.true(len(set(got)) == len(got), "each once")
        epochs += 1
        d.close()
    print(f"{kills} workers and {trainers} trainers killed in {epochs} epochs of {len(want)} batches")
    c.true(kills > 0, "kills happened")


def workers_become(d, it, n):
    """How many workers there are, once they are n or a minute has passed."""
    end = time.monotonic() + 60
    while len(d._pool.ready) != n and time.monotonic() < end:
        it._look()
        time.sleep(0.05)
    return len(d._pool.ready)


def test_join_and_leave():
    ds = seeded(pipeline())
    d = ds.distribute(sd.ray(workers=1, shards=2))
    it, got = d.iterator(), []
    for k in range(50):
        got.append(bits(next(it)))
        if k == 10:
            d.resize(2)
            c.same(workers_become(d, it, 2), 2, "a worker joined")
        if k == 30:
            d.resize(1)
    c.same(got, all_bits(local(ds)))
    c.same(workers_become(d, it, 1), 1, "one left")
    c.raises(sd.errors.InvalidArgumentError, lambda: d.resize(3), "number of shards")
    d.close()


def test_stats():
    """Sums over all workers, and the trainer's own times."""
    ds = seeded(pipeline())
    d = ds.distribute(sd.ray(workers=2))
    workers_become(d, d.iterator(), 2)
    n = len(list(d))
    stats = d.stats()
    c.same((stats.given, stats.workers, stats.deaths), (n, 2, 0))
    c.same({s["kind"]: s["elements"] for s in stats}["map"], 400, "the workers' elements add up")
    c.true(0 < stats.production_wait_ns <= stats.elapsed_ns and 0 < stats.transfer_ns <= stats.elapsed_ns, "times")
    c.true("production wait" in repr(stats) and "more workers" in stats.advice(), repr(stats))
    d.close()
    advice(stats)


def advice(stats):
    """The sentence follows from how long the trainer waits, and whether the workers' cores are busy."""
    def said(wait, busy, given=50):
        stats.given, stats.elapsed_ns, stats.production_wait_ns, stats.transfer_ns = given, 10**9, int(wait * 1e9), 0
        stats.workers, stats.stages = 2, [{"busy_ns": int(busy * 2e9)}]
        return stats.advice()

    c.true("wouldn't help: production wait is 1%" in said(0.01, 0.9), "the trainer doesn't wait")
    c.true("may not help" in said(0.5, 0.2), "the workers wait themselves")
    c.true("about 4 workers" in said(0.5, 0.9), "twice as many halve the wait")
    c.true("little else" in said(0.97, 0.9), "nothing but waiting")
    c.true("too short" in said(0.5, 0.9, 3), "three elements")


def test_stalled():
    """A worker that doesn't answer in time is replaced."""
    ds = seeded(pipeline())
    d = ds.distribute(sd.ray(workers=2, in_flight=1, timeout=4))
    it = d.iterator()
    got = [bits(next(it)) for _ in range(10)]
    pid = worker_pids()[0]
    os.kill(pid, signal.SIGSTOP)
    got += all_bits(it)
    c.same(got, all_bits(local(ds)))
    c.true(d.stats().deaths >= 1, "it was replaced")
    d.close()


def test_no_room():
    """A cluster without room for a worker is named; it may grow, so waiting goes on."""
    import warnings

    from stoker.data.interop import _ray

    before, _ray._START_S = _ray._START_S, 0.2
    try:
        d = pipeline().distribute(sd.ray(workers=1, num_cpus=64))
        it = d.iterator()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for _ in range(3):
                time.sleep(0.3)
                it._look()
        c.same(["no worker started" in str(w.message) and "takes 64" in str(w.message) for w in said], [True], "one warning")
        d.close()
        c.raises(sd.errors.FailedPreconditionError, lambda: next(it), "closed")
    finally:
        _ray._START_S = before


def test_source():
    """Ray Data reads a pipeline: one block per batch, every element, the same bits when a task is repeated."""
    ds = seeded(pipeline())
    source = quietly(ds)
    c.true(isinstance(source, ray_files.ray.data.Datasource) and not source.should_create_reader, "not a legacy source")
    c.same(source.estimate_inmemory_data_size() > 400 * 16 * 16 * 4, True, "its size")
    rd = source.read(override_num_blocks=3)
    have = list(rd.iter_batches(batch_size=None, batch_format="numpy"))
    c.same([len(b["i"]) for b in have], [8] * 50, "a block is a batch")
    c.same(sorted(all_bits(have)), sorted(all_bits(local(ds))), "epoch 0")
    c.same(sorted(all_bits(rd.iter_batches(batch_size=None, batch_format="numpy"))), sorted(all_bits(local(ds, 1))), "epoch 1")
    tasks = source.get_read_tasks(3)
    c.same([[t.to_pydict()["i"] for t in task()] for task in tasks], [[t.to_pydict()["i"] for t in task()] for task in tasks])
    c.same(len(source.get_read_tasks(1000)), 50, "no more tasks than batches")
    limited = source.get_read_tasks(1, per_task_row_limit=20)
    c.same(sum(t.num_rows for t in limited[0]()), 20, "a limit of rows")
    names = quietly(sd.Dataset.range(8).map(lambda i: (i, {"b": i, "a": (i, i)})).batch(4)).read().schema().names
    c.same(names, ["0", "1.a.0", "1.a.1", "1.b"])
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.ray_source(sd.Dataset.range(4)), "batch(n) first")
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.ray_source(sd.Dataset.range(4).repeat().batch(2)), "infinite")


def quietly(ds):
    """Its source, without the warning that blocks are small."""
    import warnings

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        out = sd.ray_source(ds)
    c.same(["1 to 128 MiB" in str(w.message) for w in said], [True], "small blocks")
    return out


def test_train():
    """The shards of streaming_split, which Ray Train's workers read, hold every batch once."""
    ds = seeded(sd.Dataset.range(64).map(lambda i: {"i": i, "x": sd.zeros([1 << 16])}).batch(8))
    rd = sd.ray_source(ds).read(override_num_blocks=2)
    remote = ray_files.ray.remote(num_cpus=0)(lambda it: [b["i"].tolist() for b in it.iter_batches(batch_size=None)])
    parts = ray_files.ray.get([remote.remote(it) for it in rd.streaming_split(2)])
    c.same(sorted(n for part in parts for batch in part for n in batch), list(range(64)))


def test_zz_no_cluster():
    ray_files.ray.shutdown()
    c.raises(sd.errors.FailedPreconditionError, lambda: pipeline().distribute(sd.ray(workers=1)), "ray.init")


def main():
    if not ray_files.have():
        c.raises(ImportError, lambda: sd.ray_source(pipeline()), "ray")
        c.raises(ImportError, lambda: pipeline().distribute(sd.ray(workers=1)), "ray")
        c.done()
    with ray_files.cluster(4):
        c.main(globals())


if __name__ == "__main__":
    main()
