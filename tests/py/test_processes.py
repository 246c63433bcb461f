# SPDX-License-Identifier: Apache-2.0
"""map(processes=N): results, errors and deaths of worker processes."""

import gc
import os
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

import checks as c
import stoker.data as sd


def test_results():
    big = np.arange(300000, dtype=np.float32)

    def f(i):
        return {
            "sum": big[: int(i)].sum(),
            "part": big[: int(i)],
            "name": f"{i}",
            "pid": os.getpid(),
        }

    ds = sd.Dataset.range(0, 300000, 30000).map(f, processes=2)
    out = list(ds)
    c.same([len(e["part"]) for e in out], list(range(0, 300000, 30000)))
    c.same(out[3]["part"], big[:90000])
    c.same([e["name"] for e in out][:2], [b"0", b"30000"])
    pids = {int(e["pid"]) for e in out}
    c.true(os.getpid() not in pids, "other processes did it")
    c.same(list(ds)[2]["sum"], out[2]["sum"])
    c.true("processes" in ds.explain(), ds.explain())


def test_parallel():
    def f(i):
        time.sleep(0.15)  # long compared with the start of a worker under a sanitizer
        return i

    def seconds(processes):
        ds = sd.Dataset.range(16).map(f, processes=processes)
        start = time.monotonic()
        c.same([int(v) for v in ds], list(range(16)))
        return time.monotonic() - start

    alone, four = seconds(1), seconds(4)
    c.true(four < 0.8 * alone, f"four workers took {four:.2f} s, one {alone:.2f} s")


def test_errors():
    def f(i):
        if i == 2:
            raise KeyError("two")
        return i * 2

    it = iter(sd.Dataset.range(4).map(f, processes=2))
    c.same([int(next(it)), int(next(it))], [0, 2])
    e = c.raises(KeyError, lambda: next(it), "two")
    c.true('raise KeyError("two")' in str(e.__cause__.__cause__), "the worker's traceback")
    c.same(int(next(it)), 6)

    def g(i):
        if i == 1:
            os._exit(3)
        return i

    it = iter(sd.Dataset.range(4).map(g, processes=2))
    next(it)
    c.raises(sd.errors.UnknownError, lambda: next(it), "exit code 3", "map g", "element 1")
    c.same([int(v) for v in it], [2, 3])
    c.raises(ValueError, lambda: sd.Dataset.range(3).map(g, processes=-1))


def elements_of(ds, policy=None):
    """What each call of next() gave until the end: an int, or the error's text."""
    options = sd.Options()
    options.on_error = policy
    out, it = [], iter(ds.with_options(options))
    while True:
        try:
            out.append(int(next(it)))
        except StopIteration:
            return out, it
        except sd.errors.UnknownError as e:
            out.append(str(e))


def test_deaths():
    """A worker that dies costs its element, as the policy says, and is replaced."""

    def f(i):
        if i % 10 == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        if i == 7:
            signal.signal(signal.SIGSEGV, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGSEGV)
        return i

    for workers in (1, 3):
        ds = sd.Dataset.range(30).map(f, processes=workers)
        got, it = elements_of(ds)
        c.same([v for v in got if type(v) is int], [i for i in range(30) if i % 10 != 2 and i != 7])
        bad = [(i, v) for i, v in enumerate(got) if type(v) is str]
        c.same([i for i, v in bad], [2, 7, 12, 22], "in their places")
        c.same(["SIGKILL" in v and f"element {i}" in v for i, v in bad], [True, False, True, True])
        c.true("SIGSEGV" in bad[1][1] and "it was replaced" in bad[1][1], bad[1][1])
        got, it = elements_of(ds, "skip")
        c.same(got, [i for i in range(30) if i % 10 != 2 and i != 7])
        c.same(sum(s["skipped"] for s in it.stages()), 4)
        got, it = elements_of(ds, ("replace", -1))
        c.same(got, [-1 if i % 10 == 2 or i == 7 else i for i in range(30)])


def test_too_many_deaths():
    """Without an element finished in between, workers are replaced only so often."""
    from stoker.data.core import _pool

    def f(i):
        if i > 0:
            os._exit(1)
        return i

    ds = sd.Dataset.range(60).map(f, processes=2)
    got, _ = elements_of(ds)
    c.same((got[0], len(got)), (0, 60), "each element is reported")
    replaced = sum("it was replaced" in str(v) for v in got)  # a death before element 0 is done is forgotten
    c.true(_pool.DEATHS_MAX <= replaced <= _pool.DEATHS_MAX + 2, f"{replaced}")
    c.same(sum("no replacement is started" in str(v) for v in got), 2)
    c.true("all worker processes have died" in got[-1], got[-1])

    def dies(i):
        os._exit(4)

    c.raises(sd.errors.UnknownError, lambda: sd.Dataset.range(3).map(dies, processes=2), "exit code 4")


def test_probe():
    """Elements that the function fails for are the policy's, the first as well, and a time is kept."""

    def fails(kind):
        def f(i):
            if i in (0, 1, 5):
                if kind == "hangs":
                    time.sleep(1000)
                if kind == "dies":
                    os._exit(3)
                raise KeyError("bad")
            return i

        return f

    for kind in ("hangs", "dies", "raises"):
        start = time.monotonic()
        ds = sd.Dataset.range(7).map(fails(kind), processes=2, timeout=0.5)
        options = sd.Options()
        options.on_error = "skip"
        it = iter(ds.with_options(options))
        c.same([int(i) for i in it], [2, 3, 4, 6], kind)
        c.same(sum(s["skipped"] for s in it.stages()), 3, kind)
        c.true(time.monotonic() - start < 20, f"{kind}: {time.monotonic() - start:.1f} s")

    def never(i):
        time.sleep(1000)

    def raises(i):
        raise KeyError(f"element {i}")

    start = time.monotonic()
    c.raises(sd.errors.UnknownError, lambda: sd.Dataset.range(9).map(never, processes=2, timeout=0.2), "0.2 s", "element 0")
    c.true(time.monotonic() - start < 10, f"{time.monotonic() - start:.1f} s")
    c.raises(KeyError, lambda: sd.Dataset.range(9).map(raises, processes=2), "element 0")
    c.raises(KeyError, lambda: sd.Dataset.range(0).map(raises, processes=2), "element 0")


def test_odd_ends():
    """A worker that closes its connection; the nursery itself killed; a fork that uses the pool."""

    def f(i):
        if i == 1:
            os.closerange(3, 100)
            time.sleep(100)
        return i

    got, _ = elements_of(sd.Dataset.range(4).map(f, processes=2))
    c.same([v for v in got if type(v) is int], [0, 2, 3])
    c.true("closed its connection" in got[1], got[1])

    def g(i):
        if i == 2:
            os._exit(1)
        return i

    ds = sd.Dataset.range(6).map(g, processes=2)
    os.kill(ds._keep[0].function.pool.nursery.pid, signal.SIGKILL)
    got, _ = elements_of(ds)
    c.same([v for v in got if type(v) is int], [0, 1, 3, 4, 5], "the others go on")
    c.true("no replacement is started" in got[2] and "1 are left" in got[2], got[2])

    ds = sd.Dataset.range(6).map(lambda i: i, processes=2)
    c.same(len(list(ds)), 6)
    pid = os.fork()
    if pid == 0:
        try:
            list(ds)
        except sd.errors.UnknownError as e:
            os._exit(7 if "forked this one" in str(e) else 8)
        os._exit(9)
    c.same(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 7)
    c.same(len(list(ds)), 6)


def test_output():
    """What workers print comes out once, whole."""
    text = (
        "import stoker.data as sd\nprint('head')\n"
        "for v in sd.Dataset.range(3).map(lambda i: print('at', int(i)) or i, processes=1): pass\nprint('tail')"
    )
    r = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    c.same(sorted(r.stdout.split("\n")), ["", "at 0", "at 0", "at 1", "at 2", "head", "tail"], r.stderr)


def counted(f, path):
    """f, which says in a file what it was called with."""

    def g(i):
        with open(path, "ab", buffering=0) as out:
            out.write(b"%d\n" % i)
        return f(i)

    return g


def test_chunks_lose_nothing():
    """Elements go over many at once: one that dies, hangs or raises costs itself, and the function is
    called once for each."""

    def f(i):
        if i == 1500:
            os.kill(os.getpid(), signal.SIGKILL)
        if i == 2200:
            time.sleep(1000)
        if i in (900, 901, 2900):
            raise ValueError(f"no {i}")
        return i * 2

    bad = (900, 901, 1500, 2200, 2900)
    for workers in (1, 3):
        with tempfile.NamedTemporaryFile() as calls:
            ds = sd.Dataset.range(3000).map(counted(f, calls.name), processes=workers, timeout=2)
            probed = os.path.getsize(calls.name)
            options = sd.Options()
            options.on_error = ("replace", -1)
            got = [int(v) for v in ds.with_options(options)]
            c.same(got, [-1 if i in bad else 2 * i for i in range(3000)], f"{workers} processes")
            calls.seek(probed)
            c.same(sorted(int(line) for line in calls), list(range(3000)), "called once for each")


def test_chunks_of_all_kinds():
    """What comes back is what the function gives without processes: strings, dicts, shapes that vary."""

    def f(i, name, row):
        return {
            "text": name + b"!" if i % 7 else name,
            "rows": np.full((int(i) % 5, 2), i, "float32"),
            "wide": np.arange(300, dtype="int16") + np.int16(i),
            "sum": float(row.sum()),
            "flag": bool(i % 2),
        }

    n = 2500
    names = [b"n%d" % i for i in range(n)]
    rows = np.random.default_rng(0).random((n, 3))
    ds = sd.Dataset.from_tensor_slices((np.arange(n), names, rows))
    want = list(ds.map(f))
    for workers in (1, 2):
        c.same(list(ds.map(f, processes=workers)), want, f"{workers} processes")
    varied = sd.Dataset.from_generator(
        lambda: (np.arange(k % 9, dtype="int64") for k in range(n)), output_signature=sd.TensorSpec((None,), "int64")
    )
    c.same(list(varied.map(lambda v: v * 2 if len(v) else v, processes=2)), [np.arange(k % 9) * 2 for k in range(n)])

    def late(i):
        return "text" if i == 1700 else i

    got, _ = elements_of(sd.Dataset.range(2000).map(late, processes=2), "skip")
    c.same(got, [i for i in range(2000) if i != 1700], "a value of another type is its element's error")


def test_chunks_resume():
    ds = sd.Dataset.range(4000).map(lambda i: int(i) * 3, processes=2).shuffle(50, seed=1).batch(7)
    it = iter(ds)
    for _ in range(200):
        next(it)
    state = it.state()
    c.same([list(b) for b in ds.iterator(state=state)], [list(b) for b in it])


def test_small_rows_cost_less():
    """An element of a small function is cheaper with a process than without any."""

    def seconds(**how):
        it = iter(sd.Dataset.range(30000).map(lambda i: int(i) + 1, **how))
        for _ in range(3000):
            next(it)
        start = time.perf_counter()
        c.same(sum(1 for _ in it), 27000)
        return time.perf_counter() - start

    def measure():
        alone, one, two = seconds(), seconds(processes=1), seconds(processes=2)
        c.true(one < alone, f"one process {one:.3f} s, none {alone:.3f} s")
        c.true(two < alone, f"two processes {two:.3f} s, none {alone:.3f} s")

    c.in_some_try(measure)


def is_running(pid):
    """Whether `pid` still has a command line: it may end between the opening and the reading."""
    try:
        with open(f"/proc/{pid}/cmdline") as f:
            return f.read() != ""
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_end():
    ds = sd.Dataset.range(4).map(lambda i: np.int64(os.getpid()), processes=2)
    pids = {int(p) for p in ds}
    del ds
    gc.collect()
    deadline = time.monotonic() + 60
    while any(is_running(p) for p in pids):
        if time.monotonic() > deadline:
            break
        time.sleep(0.01)
    c.true(time.monotonic() < deadline, "workers end with the dataset")
    text = "import stoker.data as sd\nfor v in sd.Dataset.range(9).map(lambda i: i, processes=2): pass\nprint(v)"
    r = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    c.same((r.stdout, r.stderr, r.returncode), ("8\n", "", 0))


def test_worker_that_writes_to_its_connection():
    """What comes from a worker is looked at before it is believed."""

    def scribble(x):
        for fd in range(3, 1024):
            try:
                os.write(fd, b"\xff" * 64)
            except OSError:
                pass
        return x

    def late(x):
        return scribble(x) if int(x) == 7 else x

    c.raises(sd.errors.OpError, lambda: list(sd.Dataset.range(20).map(scribble, processes=2)), "didn't open")
    it = iter(sd.Dataset.range(20).map(late, processes=2))
    got, errors = [], []
    while True:
        try:
            got.append(int(next(it)))
        except StopIteration:
            break
        except sd.errors.OpError as e:
            errors.append(str(e))
    c.true(errors and "didn't open" in errors[0], f"{errors[:1]}")
    c.true(len(got) < 20 and set(got) <= set(range(20)), f"no element is made up: {got}")


c.main(globals())
