# SPDX-License-Identifier: Apache-2.0
"""Failures with Parquet and Arrow data: resuming at every row, kills, damage, files
that are cut or vanish, interrupts, forks, pickles, threads that end early. Nothing is lost or returned twice."""

import gc
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

import arrow_files as files
import checks as c
import stoker.data as sd
from arrow_files import pa

N = 120
os.environ["PYTHONPATH"] = os.path.abspath(os.path.join(os.path.dirname(sd.__file__), "..", ".."))


def made(folder, rows=16, n=N, t=None):
    """{name: (dataset, path)}."""
    parquet, file, stream = files.write(folder, "a", files.table(n) if t is None else t, rows)
    return {
        "parquet": (sd.ParquetDataset(parquet), parquet),
        "parquet shuffled": (sd.ParquetDataset(parquet, shuffle=True, seed=5), parquet),
        "parquet by position": (sd.ParquetDataset(parquet, random_access=True).shuffle(n, seed=2), parquet),
        "file": (sd.ArrowDataset(file), file),
        "stream": (sd.ArrowDataset(stream), stream),
        "stream shuffled": (sd.ArrowDataset(stream, shuffle=True, seed=5), stream),
        "function": (sd.ArrowDataset(Again(stream)), stream),
    }


class Again:
    def __init__(self, path):
        self.path = path

    def __call__(self):
        return pa.ipc.open_stream(pa.memory_map(self.path))


def test_resume_everywhere():
    if not files.have():
        return
    with tempfile.TemporaryDirectory() as d:
        for name, (ds, _) in made(d).items():
            ds = ds.map(lambda e: e["id"])
            for more in (ds, ds.batch(7), ds.prefetch(3), ds.shuffle(20, seed=1).repeat(2)):
                it = more.iterator()
                states, want = [it.state()], []
                for e in it:
                    want.append(np.asarray(e).tolist())
                    states.append(it.state())
                for k in range(0, len(states), 5):
                    got = [np.asarray(e).tolist() for e in more.iterator(states[k])]
                    c.same(got, want[k:], f"{name} from {k}")


def test_resume_with_failed_rows():
    """A null is an element that failed: resuming before and after it loses nothing."""
    if not files.have():
        return
    t = pa.table({"id": np.arange(60), "a": [None if i % 11 == 3 else i for i in range(60)]})
    want = [sd.errors.InvalidArgumentError if i % 11 == 3 else i for i in range(60)]
    with tempfile.TemporaryDirectory() as d:
        parquet, file, _ = files.write(d, "n", t, 13)
        for ds in (sd.ParquetDataset(parquet), sd.ArrowDataset(file)):
            it, states = ds.iterator(), []
            for k in range(60):
                states.append(it.state())
                try:
                    next(it)
                except sd.errors.InvalidArgumentError:
                    pass
            for k in range(0, 60, 3):
                c.same(files.ids_of(ds.iterator(states[k])), want[k:], f"from {k}")


KILLED = """
import pickle, sys
import stoker.data as sd
make, path, log = sys.argv[1:4]
ds = getattr(sd, make)(path, columns=["id"], shuffle=True, seed=9).batch(5)
try:
    state, done = pickle.load(open(log, "rb"))
except FileNotFoundError:
    state, done = None, []
it = ds.iterator(state)
for b in it:
    done += b["id"].tolist()
    with open(log + ".new", "wb") as f:
        pickle.dump((it.state(), done), f)
    import os
    os.replace(log + ".new", log)
print("end")
"""


def test_kill_and_resume():
    """SIGKILL at any moment, again and again: each row once, in the order of a run without kills."""
    if not files.have():
        return
    with tempfile.TemporaryDirectory() as d:
        parquet, file, stream = files.write(d, "a", pa.table({"id": np.arange(4000)}), 100)
        for make, path in (("ParquetDataset", parquet), ("ArrowDataset", stream)):
            log, kills = os.path.join(d, make), 0
            want = [int(e["id"]) for e in getattr(sd, make)(path, columns=["id"], shuffle=True, seed=9)]
            while kills < 40:
                p = subprocess.Popen([sys.executable, "-c", KILLED, make, path, log], stdout=subprocess.PIPE, text=True)
                try:
                    out, _ = p.communicate(timeout=0.4 + random.Random(kills).random() * 0.5 if kills < 6 else 60)
                    break
                except subprocess.TimeoutExpired:
                    p.kill()
                    p.communicate()
                    kills += 1
            c.same((out, pickle.load(open(log, "rb"))[1]), ("end\n", want), make)


def test_damage():
    """Bytes changed at any place: errors of the class for damage or of values, rows that are whole otherwise,
    never a crash, never more rows than there are."""
    if not files.have():
        return
    with tempfile.TemporaryDirectory() as d:
        for name, (_, path) in made(d, t=files.table(N).drop_columns(["h"])).items():
            if name not in ("parquet", "file", "stream"):
                continue
            whole = open(path, "rb").read()
            make = sd.ParquetDataset if name == "parquet" else sd.ArrowDataset
            draw, bad, told = random.Random(1), os.path.join(d, "bad"), 0
            for _ in range(100):
                data = bytearray(whole)
                for _ in range(draw.choice((1, 1, 4))):
                    data[draw.randrange(len(data))] = draw.randrange(256)
                with open(bad, "wb") as f:
                    f.write(data)
                try:
                    got = c.all_of(iter(make(bad)))
                except (sd.errors.OpError, MemoryError, TypeError) as e:
                    told += 1
                    c.true(not isinstance(e, sd.errors.InternalError), str(e))
                    continue
                rows = [e for e in got if not isinstance(e, type)]
                told += len(rows) < len(got)
                c.true(len(rows) <= N, f"{name}: {len(rows)} rows")
            c.true(told > 5, f"{name}: {told} of 100 gave an error")


def test_cut():
    """Files cut anywhere. Of a stream the rows before the cut come, then an error that names file and place."""
    if not files.have():
        return
    with tempfile.TemporaryDirectory() as d:
        parquet, file, stream = files.write(d, "a", files.table(N), 16)
        for path, make in ((parquet, sd.ParquetDataset), (file, sd.ArrowDataset)):
            data = open(path, "rb").read()
            for end in (0, 3, 100, len(data) // 2, len(data) - 1):
                cut = os.path.join(d, "cut")
                with open(cut, "wb") as f:
                    f.write(data[:end])
                c.raises(sd.errors.DataLossError, lambda: list(make(cut)), cut)
        data = open(stream, "rb").read()
        for end in range(0, len(data) - 8, len(data) // 23):
            cut = os.path.join(d, "cut.arrows")
            with open(cut, "wb") as f:
                f.write(data[:end])
            try:
                ds = sd.ArrowDataset(cut)
            except sd.errors.DataLossError as e:
                c.true("cut.arrows" in str(e), str(e))
                continue
            got = c.all_of(iter(ds))
            rows = [int(e["id"]) for e in got if not isinstance(e, type)]
            c.same(rows, list(range(len(rows))), f"cut at {end}")
            c.true(len(rows) % 16 == 0, f"cut at {end}: {len(rows)} rows")
            c.same([e for e in got if isinstance(e, type)], [sd.errors.DataLossError], f"cut at {end}")
            c.same(ds.cardinality(), len(rows))
            both = files.ids(sd.ArrowDataset([cut, stream]))
            c.same(both, rows + [sd.errors.DataLossError] + list(range(N)), "the next file follows")
            c.raises(sd.errors.DataLossError, lambda: list(ds), "cut.arrows", "record batch")


def test_damaged_row_group():
    """A row group that can't be decoded is one error with its place; the others come."""
    if not files.have():
        return
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "a.parquet")
        t = pa.table({"id": np.arange(400)})
        pq.write_table(t, path, row_group_size=100, compression="snappy", use_dictionary=False)
        column = pq.ParquetFile(path).metadata.row_group(2).column(0)
        with open(path, "r+b") as f:
            f.seek(column.data_page_offset)
            f.write(b"\xff" * 60)
        for more in ({}, {"random_access": True}):
            got = files.ids(sd.ParquetDataset(path, **more))
            want = list(range(200)) + [sd.errors.DataLossError] + list(range(300, 400))
            c.same(got, want)
            it = iter(sd.ParquetDataset(path).batch(100))
            next(it), next(it)
            c.raises(sd.errors.DataLossError, lambda: next(it), "a.parquet", "row group 2")


CUT = """
import gc, os, sys
import numpy as np
import stoker.data as sd
path = sys.argv[1]
def made():
    return sd.ArrowDataset(path){stages}
def cut():
    os.truncate(path, 400)
try:
    {moment}
except sd.errors.OpError as e:
    print("told:", e)
"""


def test_cut_while_it_is_mapped():
    """No SIGBUS at any moment: an error, or zeros in what was returned before."""
    if not files.have():
        return
    moments = (
        "ds = made(); cut(); print(len(list(ds)))",
        "it = iter(made()); next(it); cut(); print(len(list(it)))",
        "kept = list(made()); cut(); print(str(kept)[:50])",
        "kept = list(made()); gc.collect(); cut(); print(sum(float(np.sum(k['x'])) for k in kept))",
    )
    t = pa.table({"x": np.ones(50000), "s": ["abc"] * 50000})
    with tempfile.TemporaryDirectory() as d:
        for kind in (1, 2):
            for stages in ("", ".shuffle(50000).batch(100)"):
                for moment in moments:
                    path = files.write(d, "a", t, 500)[kind]
                    text = CUT.format(stages=stages, moment=moment)
                    r = subprocess.run([sys.executable, "-c", text, path], capture_output=True, text=True, timeout=120)
                    c.same((r.returncode, r.stderr[-300:]), (0, ""), f"{moment} {stages}")
                    if moment.startswith("ds ="):
                        c.true("cut short" in r.stdout and path in r.stdout, f"{stages}: {r.stdout[:200]}")


def test_files_that_change():
    """A file that vanishes, or is another one than when the dataset was made."""
    if not files.have():
        return
    with tempfile.TemporaryDirectory() as d:
        parquet = files.write(d, "a", pa.table({"id": np.arange(100)}), 10)[0]
        ds = pickle.loads(pickle.dumps(sd.ParquetDataset(parquet)))
        files.write(d, "a", pa.table({"id": np.arange(100)}), 20)
        got = files.ids(ds)
        c.true(sd.errors.DataLossError in got, f"{got[:15]}")
        c.raises(sd.errors.DataLossError, lambda: list(ds), "as when the dataset was made")
        other = pickle.loads(pickle.dumps(sd.ParquetDataset(parquet)))
        files.write(d, "a", pa.table({"id": [f"{i}" for i in range(100)]}), 20)
        c.raises(sd.errors.InvalidArgumentError, lambda: list(other), "column 'id'", "of another type")
        os.unlink(parquet)
        again = pickle.loads(pickle.dumps(other))
        c.raises(sd.errors.NotFoundError, lambda: list(again), parquet)
        for make in (sd.ParquetDataset, sd.ArrowDataset):
            c.raises(sd.errors.NotFoundError, lambda: make(parquet), parquet)
            c.raises((sd.errors.OpError, OSError), lambda: make(d))
            c.raises(sd.errors.InvalidArgumentError, lambda: make([]))
        stream = files.write(d, "b", pa.table({"id": [1.5]}), 20)
        c.raises(
            sd.errors.InvalidArgumentError,
            lambda: sd.ParquetDataset([files.write(d, "c", pa.table({"id": [1]}), 9)[0], stream[0]]),
            "column 'id' is double", "int64", "c.parquet",
        )  # fmt: skip


def test_interrupt():
    """Ctrl-C while a source is slow comes at once, and nothing is lost."""
    if not files.have():
        return
    schema = pa.schema([("id", pa.int64())])

    def slow():
        def batches():
            for k in range(6):
                time.sleep(0.4)
                yield pa.record_batch({"id": np.arange(10 * k, 10 * k + 10)}, schema)

        return pa.RecordBatchReader.from_batches(schema, batches())

    it = iter(sd.ArrowDataset(slow))
    threading.Timer(0.9, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    got, start = [], time.monotonic()
    try:
        while True:
            got.append(int(next(it)["id"]))
    except KeyboardInterrupt:
        c.quick(start, 3, "interrupted")
    except StopIteration:
        c.fail("it was not interrupted")
    got += [int(e["id"]) for e in it]
    c.same(got, list(range(60)))
    it = iter(sd.ArrowDataset(slow))
    next(it)
    start = time.monotonic()
    it.cancel()
    del it
    gc.collect()
    c.quick(start, 3, "canceled")


def test_a_stream_that_fails():
    """An exception in a stream is an error with its text, and where it was."""
    if not files.have():
        return
    schema = pa.schema([("id", pa.int64())])

    def breaks():
        def batches():
            yield pa.record_batch({"id": [1, 2]}, schema)
            raise OSError("the network is gone")

        return pa.RecordBatchReader.from_batches(schema, batches())

    it = iter(sd.ArrowDataset(breaks))
    c.same([int(next(it)["id"]) for _ in range(2)], [1, 2])
    c.raises(sd.errors.DataLossError, lambda: next(it), "the network is gone", "an Arrow stream")
    c.same(list(it), [])

    def fails():
        if fails.calls:
            raise KeyError("no such table")
        fails.calls += 1
        return pa.RecordBatchReader.from_batches(schema, [])

    fails.calls = 0
    ds = sd.ArrowDataset(fails)
    c.same(list(ds), [])
    c.raises(sd.errors.OpError, lambda: list(ds), "no such table")


def test_pickle_and_spawn():
    if not files.have():
        return
    with tempfile.TemporaryDirectory() as d:
        for name, (ds, _) in made(d).items():
            next(iter(ds))
            data = pickle.dumps(ds)
            want = [int(e["id"]) for e in ds.take(30)]
            c.same([int(e["id"]) for e in pickle.loads(pickle.dumps(ds)).take(30)][:0], [])
            if "shuffled" not in name:
                c.same([int(e["id"]) for e in pickle.loads(data).take(30)], want, name)
            if name != "function":
                text = "import pickle, sys; print(sum(int(e['id']) for e in pickle.load(sys.stdin.buffer)))"
                r = subprocess.run([sys.executable, "-c", text], input=data, capture_output=True)
                c.same((r.stdout, r.stderr[-200:]), (b"%d\n" % sum(range(N)), b""), name)


def test_fork():
    """A child process reads what the parent made, before and after the parent read it."""
    if not files.have():
        return
    with tempfile.TemporaryDirectory() as d:
        for name, (ds, _) in made(d).items():
            for reads_first in (False, True):
                it = iter(ds)
                if reads_first:
                    next(it)
                pid = os.fork()
                if pid == 0:
                    try:
                        ok = sorted(int(e["id"]) for e in ds) == list(range(N))
                    except BaseException as e:
                        print(e, file=sys.stderr)
                        ok = False
                    os._exit(0 if ok else 9)
                done, status = 0, 0
                for _ in range(200):
                    done, status = os.waitpid(pid, os.WNOHANG)
                    if done:
                        break
                    time.sleep(0.05)
                if not done:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                c.same((bool(done), status), (True, 0), f"{name}, reads first: {reads_first}")
                c.same(len(list(it)), N - reads_first, name)


def test_threads_and_early_ends():
    """Many iterators at once, and iterators that are dropped in the middle: no memory stays."""
    if not files.have():
        return
    with tempfile.TemporaryDirectory() as d:
        for name, (ds, _) in made(d).items():
            results = []

            def read():
                results.append(sorted(int(e["id"]) for e in ds))

            threads = [threading.Thread(target=read) for _ in range(4)]
            [t.start() for t in threads]
            [t.join() for t in threads]
            c.same(results, [list(range(N))] * 4, name)
            for _ in range(20):
                it = iter(ds)
                next(it)
                del it
        gc.collect()
        before = pa.total_allocated_bytes()
        for _ in range(30):
            for ds, _ in made(d).values():
                next(iter(ds))
        ds = None
        gc.collect()
        c.true(pa.total_allocated_bytes() - before < 1 << 20, f"{pa.total_allocated_bytes() - before} bytes stay")


c.main(globals())
