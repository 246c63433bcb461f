# SPDX-License-Identifier: Apache-2.0
"""What stats() reports for datasets that functions return, for runs too short to judge, and for longer ones."""

import os
import time

import checks as c
import stoker.data as sd


def work(i):
    return sd.reduce_sum(sd.sqrt(sd.cast(sd.cast(sd.range(3000), "int64") + i, "float32")))


def inner(i):
    return sd.Dataset.range(300).map(lambda j: work(i + j), num_parallel_calls=2).prefetch(2)


def test_nested_stages():
    """Stages inside of datasets that functions give are listed, with all that they counted."""
    r = sd.Dataset.range(6)
    for name, ds in {
        "flat_map": r.flat_map(inner),
        "interleave": r.interleave(inner, cycle_length=3),
        "threads": r.interleave(inner, cycle_length=3, num_parallel_calls=2),
        "group": r.group_by_window(lambda i: i % 2, lambda k, w: w.flat_map(inner), window_size=2),
        "epochs": r.take(2).interleave(inner, cycle_length=2).repeat(3),
    }.items():
        it = iter(ds)
        next(it)
        during = {s["kind"]: s for s in ds.stats()}
        c.true(during["map"]["threads"] >= 2, f"{name}: {during['map']}")
        n = 1 + sum(1 for _ in it)
        c.same(n, 1800)
        by_kind = {s["kind"]: s for s in ds.stats()}
        for kind in ("prefetch", "map"):
            c.same(by_kind[kind]["elements"], 1800, f"{name}: {kind}")
        c.true(by_kind["map"]["busy_ns"] > 1000000, f"{name}: {by_kind['map']}")
        c.true("map" in repr(ds.stats()), name)


def within(inner, calls):
    def total(i):
        return float(i) + sum(float(v) for v in inner)

    ds = sd.Dataset.range(30).map(total, calls).prefetch(1)
    cpu = time.process_time()
    c.same(sum(1 for _ in ds), 30)
    return ds.stats(), (time.process_time() - cpu) * 1e9


def test_pipeline_within():
    """What a Python map's function spends in a pipeline that it pulls itself, working or waiting, is
    as any other call of that map's: its input, which is available, was never waited for."""
    for calls in (None, 2):
        for threads in (None, 2):
            inner = sd.Dataset.range(40).map(lambda j: work(j + 1), threads)
            stats, cpu = within(inner.prefetch(2) if threads else inner, calls)
            own = next(s for s in stats if s["kind"] == "map")
            c.same(own["wait_ns"], 0, f"{calls}, {threads}: {stats}")
            c.true(cpu / 10 < own["busy_ns"] < 1.5 * cpu or threads, f"{calls}: {own} of {cpu:.0f} ns")


def test_cache_too_large():
    """A cache that the budget has no room for gives its elements, keeps nothing and says so."""
    options = sd.Options()
    for budget, is_told in ((4 << 20, True), (64 << 20, False)):
        options.autotune.ram_budget = budget
        rows = sd.Dataset.range(100).map(lambda i: sd.fill([10000], i))
        ds = rows.cache().with_options(options)
        for _ in range(2):
            c.same(sum(1 for _ in ds), 100)
            stats = ds.stats()
            c.same("cache [" in repr(stats) and "nothing is kept" in repr(stats), is_told)
            for s in stats:  # with any tuner result
                s["binding"] = 0 if is_told else 5
            c.same("nothing is kept" in repr(stats), is_told)


def rates():
    ds = sd.Dataset.range(10**9).map(work, sd.AUTOTUNE).batch(8).prefetch(sd.AUTOTUNE)
    it = iter(ds)
    next(it)
    first = ds.stats()[0]
    c.same((first["predicted_per_s"], first["achieved_per_s"]), (None, None))
    c.true("too short" in repr(ds.stats()), repr(ds.stats()))
    start, cpu, n = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - start < 1.5:
        next(it)
        n += 1
    rate, first = n / (time.perf_counter() - start), ds.stats()[0]
    able = n / (time.process_time() - cpu) * os.cpu_count()  # had it all of the processors
    c.true(rate / 4 < first["achieved_per_s"] < 4 * rate, f"{rate}/s, told {first}")
    c.true(rate / 4 < first["predicted_per_s"] < 10 * able, f"{rate}/s of {able}/s, told {first}")
    c.true("predicted" in repr(ds.stats()) and ds.stats().binding, repr(ds.stats()))


def test_rates():
    """Nothing is predicted of a short run; of a longer one what it achieves is what is counted."""
    c.in_some_try(rates)
    plain = sd.Dataset.range(3)
    list(plain)
    c.true("predict" not in repr(plain.stats()), "nothing is tuned")


c.main(globals())
