#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random pipelines, built, run, resumed, canceled, interrupted and abandoned at random.

usage: test_soak.py [--seconds S | --minutes M] [--seed N] [--count K] [-v]

Elements are compared with a model in Python and with a run without threads, one by one; elements
that are delivered, skipped and filtered add up to what the source held; no thread, no file
descriptor and no memory is left behind; nothing hangs (stacks are printed after a minute). A
failure names its seed: `test_soak.py --seed N --count 1 -v` runs that pipeline alone.
"""

import argparse
import collections
import faulthandler
import gc
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import checks as c
import stoker.data as sd
from soak_pipelines import ANY, EXACT, NONE, Files, Pipeline, number

HANGS_S = 60
GROWS_BYTES = 96 << 20


class Interrupted(BaseException):
    pass


class Soak:
    def __init__(self, folder):
        self.folder, self.files = folder, Files(folder)
        self.kinds = collections.Counter()

    # One pipeline

    def pipeline(self, seed, loud):
        rng = random.Random(seed)
        p = Pipeline(seed, self.files)
        if loud:
            print(f"seed {seed}: {p}: {p.order}, {len(p.numbers)} numbers", flush=True)
        own = os.path.join(self.folder, f"run{seed}")
        os.mkdir(own)
        self.made = 0

        def make(threaded, more=None):
            """The dataset again, with caches in a folder of its own."""
            self.made += 1
            folder = os.path.join(own, f"{self.made}.{os.getpid()}")
            os.mkdir(folder)
            options = sd.Options()
            options.seed = seed
            if p.is_damaged:
                options.on_error = "skip"
            if threaded and rng.random() < 0.3:
                options.threading.private_threadpool_size = rng.randint(1, 4)
            for k, v in (more or {}).items():
                setattr(options, k, v)
            return p.build(threaded, folder).with_options(options)

        want = [number(r) for r in make(False)]
        if p.order == EXACT:
            c.same(want, p.numbers, f"seed {seed}: without threads, against the model")
        elif p.order == ANY:
            c.same(sorted(want), sorted(p.numbers), f"seed {seed}: without threads, as a set")
        runs = [n[4:] for n in dir(self) if n.startswith("run_")]
        for _ in range(rng.randint(1, 3)):
            name = rng.choice(runs)
            self.kinds[name] += 1
            if loud:
                print(f"  {name}", flush=True)
            getattr(self, "run_" + name)(seed, p, rng, make, want)
        shutil.rmtree(own)

    # What is done with it

    def run_whole(self, seed, p, rng, make, want):
        ds = make(True)
        c.same([number(r) for r in ds], want, f"seed {seed}: with threads")
        if rng.random() < 0.5:  # caches are full now
            again = [number(r) for r in ds.with_options(sd.Options())]
            c.same(again, want, f"seed {seed}: again, epoch 0")

    def run_resume(self, seed, p, rng, make, want):
        # A function in processes is another stage than one in this: a state tells them apart.
        threaded = lambda: p.has_processes or rng.random() < 0.7
        ds, got, state = make(threaded()), [], None
        for _ in range(rng.randint(1, 4)):
            it = ds.iterator(state=state) if state else iter(ds)
            for _ in range(rng.randint(0, max(len(want) - len(got), 1))):
                try:
                    got.append(number(next(it)))
                except StopIteration:
                    break
            state = it.state()
            c.true(len(state) < 1024, f"seed {seed}: a state of {len(state)} bytes")
            self.leave(it, rng)
            if rng.random() < 0.5:
                ds = make(threaded())
        got += [number(r) for r in ds.iterator(state=state)]
        c.same(got, want, f"seed {seed}: resumed")

    def leave(self, it, rng):
        how = rng.randint(0, 2)
        if how == 0:
            it.close()
        elif how == 1:
            it.cancel()

    def run_cancel(self, seed, p, rng, make, want):
        it, got = iter(make(True)), []
        timer = threading.Timer(rng.random() * 0.02, it.cancel)
        timer.start()
        try:
            for r in it:
                got.append(number(r))
        except sd.errors.CancelledError:
            pass
        timer.join()
        c.same(got, want[: len(got)], f"seed {seed}: before it was canceled")
        self.leave(it, rng)

    def run_keep(self, seed, p, rng, make, want):
        """Batches outlive their iterator."""
        size = rng.randint(1, 50)
        flat = lambda b: [number({k: b[k][j] for k in b}) for j in range(len(b["i"]))]
        it, kept = iter(make(True).batch(size).prefetch(rng.randint(1, 4))), []
        for b in it:
            kept.append(b)
            if rng.random() < 0.05:
                break
        it.close()
        del it
        gc.collect()
        got = [i for b in kept for i in flat(b)]
        c.same(got, want[: len(got)], f"seed {seed}: batches that were kept")

    def run_two(self, seed, p, rng, make, want):
        """Two iterators of one dataset in turn."""
        ds = make(True)
        pair = [iter(ds.with_options(sd.Options())) for _ in range(2)]
        got, live = [[], []], [0, 1]
        while live:
            k = rng.choice(live)
            for _ in range(rng.randint(1, 100)):
                r = next(pair[k], None)
                if r is None:
                    live.remove(k)
                    break
                got[k].append(number(r))
        c.same(got, [want, want], f"seed {seed}: two iterators")

    def run_threads(self, seed, p, rng, make, want):
        """One iterator, several threads."""
        it, got = iter(make(True)), []

        def work():
            for r in it:
                got.append(number(r))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        c.same(sorted(got), sorted(want), f"seed {seed}: threads share an iterator")

    def run_interrupt(self, seed, p, rng, make, want):
        """A signal's handler raises in the loop: it gets through, and nothing but the element that
        was on its way to a variable can be missing."""
        it, got, hits = iter(make(True)), [], 0

        def handler(*_):
            raise Interrupted

        before = signal.signal(signal.SIGALRM, handler)
        try:
            for _ in range(3):
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.0005 + rng.random() * 0.02)
                    for r in it:
                        got.append(number(r))
                    break
                except Interrupted:
                    hits += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
        except Interrupted:
            hits += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        got += [number(r) for r in it]
        rest = iter(want)
        is_part = all(any(w == g for w in rest) for g in got)
        c.true(is_part, f"seed {seed}: out of order after {hits} interruptions")
        c.true(len(want) - len(got) <= hits, f"seed {seed}: {len(want) - len(got)} lost, {hits} hits")

    def run_fork(self, seed, p, rng, make, want):
        """A child cannot go on with the iterator, says so, and can have one of its own."""
        if "libtsan" in os.environ.get("LD_PRELOAD", ""):
            return self.run_threads(seed, p, rng, make, want)  # it knows no threads behind a fork
        if p.has_python:
            return
        ds = make(True)
        it, got = iter(ds), []
        for _ in range(rng.randint(0, 20)):
            r = next(it, None)
            got += [] if r is None else [number(r)]
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            signal.alarm(HANGS_S // 2)  # ends the child that hangs
            code = 1
            try:
                next(it)
            except RuntimeError:
                own = [number(r) for r in make(True)]
                code = 0 if own == want else 2
            finally:
                os._exit(code)
        c.same(os.waitpid(pid, 0)[1], 0, f"seed {seed}: in a forked child")
        got += [number(r) for r in it]
        c.same(got, want, f"seed {seed}: in the parent of a fork")

    def run_small_memory(self, seed, p, rng, make, want):
        """A cap that the pipeline reaches is kept, or said."""
        options = sd.Options()
        options.autotune.ram_budget = rng.choice([200_000, 1_000_000, 8_000_000])
        ds = make(True).with_options(options)
        it, got = iter(ds), []
        try:
            for r in it:
                got.append(number(r))
            c.same(got, want, f"seed {seed}: with a small budget")
        except sd.errors.ResourceExhaustedError:
            c.same(got, want[: len(got)], f"seed {seed}: until memory ran out")
        m = it.memory()
        c.true(m["peak_bytes"] <= m["cap_bytes"], f"seed {seed}: {m}")

    def run_failures(self, seed, p, rng, make, want):
        """Some elements fail: skipped ones and given ones are what came in."""
        k = rng.randint(2, 9)

        def f(r):
            ok = sd.gather([0], sd.cast(r["i"] % k == 0, "int64"))  # position 1 is not there
            return dict(r, i=r["i"] + sd.cast(ok, "int64"))

        ds = make(True, {"on_error": "skip"})
        ds = ds.map(f, rng.choice([None, 2, sd.AUTOTUNE])).filter(lambda r: r["i"] % 3 != 0)
        it = iter(ds)
        got = [number(r) for r in it]
        c.same(got, [i for i in want if i % k and i % 3], f"seed {seed}: left out")
        stages = it.stages()
        c.same(stages[1]["skipped"], sum(i % k == 0 for i in want), f"seed {seed}: counted")
        given, passed = stages[0]["elements"], stages[1]["elements"]
        filtered = sum(i % k != 0 and i % 3 == 0 for i in want)
        c.same((given, passed - given), (len(got), filtered), f"seed {seed}: filtered")
        c.same(given + filtered + stages[1]["skipped"], len(want), f"seed {seed}: the sum")

    def run_sloppy(self, seed, p, rng, make, want):
        """Not in order, but all there."""
        if p.order == NONE or any(not_free(name) for name, _ in p.steps):
            return
        got = [number(r) for r in make(True, {"deterministic": False})]
        c.same(sorted(got), sorted(want), f"seed {seed}: not in order")

    def run_abandon(self, seed, p, rng, make, want):
        its = [iter(make(True).prefetch(2)) for _ in range(3)]
        for it in its:
            for _ in range(rng.randint(0, 5)):
                next(it, None)


def not_free(name):
    """Does what comes out depend on the order of what comes in?"""
    free = "map map_deep python_map process_map filter shuffle prefetch batch padded_batch repeat".split()
    free += "flat_map interleave ignore_errors cache".split()
    kind = name.split("(")[0]
    return not (kind in free or hasattr(Files, "make_" + kind) or hasattr(Pipeline, "source_" + kind))


# What is left behind


def resident_bytes():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def tasks():
    return len(os.listdir("/proc/self/task"))


def descriptors():
    return sorted(os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd") if is_open(n))


def is_open(n):
    return os.path.islink(f"/proc/self/fd/{n}") and not os.readlink(f"/proc/self/fd/{n}").startswith(
        "/proc/"
    )


def settles(value, limit, seconds=10):
    """The value once it is at most the limit, or after that time."""
    end = time.monotonic() + seconds
    while True:
        now = value()  # not looked up again: a thread that ends may be in a later list again
        if now <= limit or time.monotonic() > end:
            return now
        time.sleep(0.002)


def soak(options):
    folder = tempfile.mkdtemp(prefix="stoker_soak_")
    s = Soak(folder)
    start, seed, done, first_rss = time.monotonic(), options.seed, 0, None
    list(sd.Dataset.range(10).map(lambda x: x + 1, 2).prefetch(2))
    threads, files = None, None
    try:
        while done < options.count and time.monotonic() - start < options.seconds:
            faulthandler.dump_traceback_later(HANGS_S, exit=False)
            watch = threading.Timer(HANGS_S + 1, hangs, [seed])
            watch.daemon = True
            watch.start()
            failed = c.failures
            try:
                s.pipeline(seed, options.verbose)
            except Exception as e:
                import traceback

                traceback.print_exc(file=sys.stdout)
                c.fail(f"seed {seed}: {type(e).__name__}: {e}")
            gc.collect()
            watch.cancel()
            watch.join()
            faulthandler.cancel_dump_traceback_later()
            threads = tasks() if threads is None else threads
            left = settles(tasks, threads)
            if left > threads:
                native_stacks()
            c.true(left <= threads, f"seed {seed}: {left} threads left, {threads} before")
            threads = min(threads, left)  # the first count may hold one that was just ending
            now = descriptors()
            files = now if files is None else files
            c.same([f for f in now if f not in files], [], f"seed {seed}: files left open")
            if c.failures > failed:
                print(f"rerun: {sys.argv[0]} --seed {seed} --count 1 -v", flush=True)
            seed, done = seed + 1, done + 1
            if first_rss is None and time.monotonic() - start > options.seconds / 3:
                first_rss = resident_bytes()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if first_rss is not None:
        grown = resident_bytes() - first_rss
        c.true(grown < GROWS_BYTES, f"memory grew by {grown >> 20} MiB after the first third")
    print(
        f"py.soak: {done} pipelines from seed {options.seed} in {time.monotonic() - start:.0f} s, "
        f"{resident_bytes() >> 20} MiB; {dict(sorted(s.kinds.items()))}"
    )


def hangs(seed):
    """Says so, with the stacks, and ends the process."""
    print(f"seed {seed} hangs; stacks follow", flush=True)
    native_stacks()
    os._exit(1)


def native_stacks():
    """Stacks of all threads, where gdb is there."""
    if shutil.which("gdb"):
        out = subprocess.run(
            ["gdb", "-p", str(os.getpid()), "-batch", "-ex", "thread apply all bt 12"],
            capture_output=True,
            text=True,
            timeout=120,
        )
        print(out.stdout[-20000:], flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10**9)
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    if options.minutes:
        options.seconds = options.minutes * 60
    soak(options)
    c.done()


main()
