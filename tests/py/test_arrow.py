# SPDX-License-Identifier: Apache-2.0
"""Parquet files, Arrow files and streams, tables: values of all layouts, selection, order, nulls, random
access, and errors that say what is wrong and what to do."""

import os
import pickle
import subprocess
import sys
import tempfile

import numpy as np

import arrow_files as files
import checks as c
import stoker.data as sd
from arrow_files import pa

N = 300


def sources(folder, t=None, rows=64):
    """{name: dataset} of one table in all forms."""
    t = files.table(N) if t is None else t
    parquet, file, stream = files.write(folder, "a", t, rows)
    return {
        "parquet": sd.ParquetDataset(parquet),
        "parquet by position": sd.ParquetDataset(parquet, random_access=True),
        "file": sd.ArrowDataset(file),
        "stream": sd.ArrowDataset(stream),
        "table": sd.ArrowDataset(t),
        "function": sd.ArrowDataset(lambda: t.to_reader(50)),
    }


def test_values():
    if not files.have():
        return
    with tempfile.TemporaryDirectory() as d:
        for name, ds in sources(d).items():
            for made in (ds, ds.prefetch(2), ds.skip(0)):
                rows = list(made)
                c.same(len(rows), N, name)
                c.same([files.wrong(e) for e in rows if files.wrong(e)], [], name)
                c.same([int(e["id"]) for e in rows], list(range(N)), name)
            c.same(ds.cardinality(), sd.UNKNOWN_CARDINALITY if name == "function" else N, name)
            spec = ds.element_spec
            shapes = [tuple(s.shape) for s in (spec["l"], spec["f"], spec["ls"]["q"])]
            c.same((shapes, spec["s"].dtype.name), ([(None,), (2,), (None,)], "bytes"))
            c.same((spec["ll"].ragged_rank, tuple(spec["ll"].shape)), (1, (None, None)))
            c.same((spec["h"].dtype, spec["u"].dtype), (np.dtype("float16"), np.dtype("uint8")))


def test_batches():
    """Batches across units of any size; ragged ones too."""
    if not files.have():
        return
    with tempfile.TemporaryDirectory() as d:
        for name, ds in sources(d, files.table(N).select(["x", "s", "ll", "l"]), rows=7).items():
            for size in (1, 7, 32, 500):
                got = [b for b in ds.map(lambda e: (e["x"], e["s"])).batch(size)]
                c.same(np.concatenate([x for x, _ in got]), np.arange(N, dtype=np.float32) / 2, f"{name} {size}")
                c.same([bytes(v) for _, b in got for v in b], [b"row %d" % i for i in range(N)], f"{name} {size}")
            batch = next(iter(ds.map(lambda e: e["ll"]).batch(4)))
            c.same(np.asarray(batch.flat_values).tolist(), [1, 1, 2, 2], name)
            b = next(iter(ds.map(lambda e: e["l"]).ragged_batch(4)))
            c.same(np.asarray(b.row_splits).tolist(), [0, 0, 1, 3, 6], name)


def test_columns_and_fixed_shapes():
    if not files.have():
        return
    with tempfile.TemporaryDirectory() as d:
        parquet, file, stream = files.write(d, "a", files.table(20), 8)
        for make in (lambda **k: sd.ParquetDataset(parquet, **k), lambda **k: sd.ArrowDataset([file, stream], **k)):
            c.same(sorted(next(iter(make(columns=["s", "id"])))), ["id", "s"])
            c.same(list(make(columns="id").element_spec), ["id"])
            c.raises(sd.errors.InvalidArgumentError, lambda: make(columns=["nope"]), "no column 'nope'", "'ts'", "a.")
            c.raises(sd.errors.InvalidArgumentError, lambda: make(columns=[]), "no columns")
        tensor = pa.ExtensionArray.from_storage(
            pa.fixed_shape_tensor(pa.float32(), (2, 3)),
            pa.array([list(range(k, k + 6)) for k in range(5)], pa.list_(pa.float32(), 6)),
        )
        ds = sd.ArrowDataset(pa.table({"t": tensor}))
        c.same(tuple(ds.element_spec["t"].shape), (2, 3))
        c.same([e["t"] for e in ds][4], np.arange(4, 10, dtype=np.float32).reshape(2, 3))


def test_shuffle_and_shards():
    if not files.have():
        return
    with tempfile.TemporaryDirectory() as d:
        parquet, file, stream = files.write(d, "a", files.table(N), 16)
        for make in (lambda **k: sd.ParquetDataset(parquet, **k), lambda **k: sd.ArrowDataset(stream, **k)):
            ds = make(shuffle=True, seed=3)
            first, second = files.ids(ds), files.ids(ds)
            c.same(first, files.ids(make(shuffle=True, seed=3)), "the same seed, the same order")
            c.true(first != second, "another order in the second pass")
            c.same(sorted(first), list(range(N)))
            c.true(first != list(range(N)) and first[0] % 16 == 0 and first[:16] == list(range(first[0], first[0] + 16)))
            parts = [files.ids(make(shard=(3, k))) for k in range(3)]
            c.same(sorted(sum(parts, [])), list(range(N)))
            c.same(parts[1][:3], [16, 17, 18])
            for bad in ((0, 0), (2, 2), (2, -1), 3, "ab"):
                c.raises(sd.errors.InvalidArgumentError, lambda: make(shard=bad), "shard")


def test_positions():
    """Rows by position: pick, a full shuffle, and its batches."""
    if not files.have():
        return
    with tempfile.TemporaryDirectory() as d:
        for name, ds in sources(d, rows=32).items():
            if name in ("parquet", "function"):
                c.raises(sd.errors.InvalidArgumentError, lambda: ds.pick([0]), "pick")
                continue
            order = [5, 4, 299, 0, 0, 6, 7, 8, 64, 31, 32]
            picked = list(ds.pick(order))
            c.same([int(e["id"]) for e in picked], order, name)
            c.same([files.wrong(e) for e in picked if files.wrong(e)], [], name)
            c.same(files.ids(ds.pick([1, N, 2])), [1, sd.errors.InvalidArgumentError, 2], name)
            got = list(ds.shuffle(N, seed=1))
            c.same(sorted(int(e["id"]) for e in got), list(range(N)), name)
            c.same([files.wrong(e) for e in got if files.wrong(e)], [], name)
            c.same(files.ids(ds.shuffle(N, seed=1).skip(100)), [int(e["id"]) for e in got[100:]], name)


def test_nulls():
    if not files.have():
        return
    t = pa.table(
        {
            "id": list(range(10)),
            "a": [None if i in (3, 7) else i for i in range(10)],
            "s": [None if i == 5 else str(i) for i in range(10)],
            "l": [None if i == 5 else [i, None if i == 8 else 1] for i in range(10)],
            "st": [None if i == 2 else {"p": i, "q": None if i == 9 else 1.5} for i in range(10)],
            "d": pa.array([None if i == 1 else "x" for i in range(10)]).dictionary_encode(),
        }
    )
    bad = sd.errors.InvalidArgumentError
    with tempfile.TemporaryDirectory() as d:
        parquet, file, stream = files.write(d, "n", t, 4)
        for make in (
            lambda **k: sd.ParquetDataset(parquet, **k),
            lambda **k: sd.ArrowDataset(file, **k),
            lambda **k: sd.ArrowDataset(t, **k),
            lambda **k: sd.ArrowDataset(lambda: t.to_reader(3), **k),
        ):
            got = files.ids(make())
            c.same(got, [0, bad, bad, bad, 4, bad, 6, bad, bad, bad], "a row with a null is an error")
            c.same(files.ids(make(columns=["id", "a"])), [0, 1, 2, bad, 4, 5, 6, bad, 8, 9])
            c.same(files.ids(make(columns=["id", "a"]).ignore_errors()), [0, 1, 2, 4, 5, 6, 8, 9])
            rows = list(make(nulls="zero"))
            c.same([int(e["a"]) for e in rows], [0, 1, 2, 0, 4, 5, 6, 0, 8, 9])
            c.same([bytes(e["s"]) for e in rows][4:6], [b"4", b""])
            c.same([e["l"].tolist() for e in rows][4:9], [[4, 1], [], [6, 1], [7, 1], [8, 0]])
            c.same([(int(e["st"]["p"]), float(e["st"]["q"])) for e in rows][2:10:7], [(0, 0.0), (9, 0.0)])
            c.same([bytes(e["d"]) for e in rows][:2], [b"x", b""])
            e = list(make(nulls={"a": -1, "s": "none", "st": 7, "st.q": 2.5, "l": 6, "d": b"y"}))
            c.same((int(e[3]["a"]), bytes(e[5]["s"]), int(e[2]["st"]["p"])), (-1, b"none", 7))
            c.same((float(e[9]["st"]["q"]), e[8]["l"].tolist(), bytes(e[1]["d"])), (2.5, [8, 6], b"y"))
            for n, words in (({"zz": 1}, "'zz'"), ({"a": "x"}, "'x'"), ({"a": [1]}, "single"), (5, "nulls")):
                c.raises((bad, TypeError), lambda: make(nulls=n), words)
        it = iter(sd.ParquetDataset(parquet, columns=["id", "a"]))
        [next(it) for _ in range(3)]
        c.raises(bad, lambda: next(it), "column 'a' is null in row 3", "nulls=", "n.parquet, row group 0")


def test_types_without_counterpart():
    if not files.have():
        return
    import decimal

    t = pa.table({"id": [1], "price": [decimal.Decimal("1.5")], "no": pa.nulls(1)})
    for name in ("price", "no"):
        c.raises(sd.errors.UnimplementedError, lambda: sd.ArrowDataset(t, columns=["id", name]), name, "columns=")
    c.same(files.ids(sd.ArrowDataset(t, columns=["id"])), [1])


def test_large_units_come_in_parts():
    """A row group that the budget has no room for comes in parts, in the same order."""
    if not files.have():
        return
    with tempfile.TemporaryDirectory() as d:
        t = pa.table({"id": np.arange(40000), "s": [b"x" * 500] * 40000})
        parquet = files.write(d, "big", t, 20000)[0]
        options = sd.Options()
        options.autotune.ram_budget = 48 << 20
        ds = sd.ParquetDataset(parquet).with_options(options)
        c.same(files.ids(ds), list(range(40000)))
        c.same(files.ids(ds.skip(29990))[:3], [29990, 29991, 29992])
        it = iter(ds)
        [next(it) for _ in range(25000)]
        c.same(int(next(ds.iterator(it.state()))["id"]), 25000)
        it.cancel()


def test_objects_and_streams():
    """Open files, record batches, readers, tables of slices, empty ones, and what gives Arrow streams."""
    if not files.have():
        return
    import io

    import pyarrow.parquet as pq

    t = files.table(50)
    f = io.BytesIO()
    pq.write_table(t, f, row_group_size=20)
    c.same(files.ids(sd.ParquetDataset(f)), list(range(50)))
    c.same(files.ids(sd.ArrowDataset(t.slice(7, 20))), list(range(7, 27)))
    c.same([files.wrong(e) for e in sd.ArrowDataset(t.slice(7, 20)) if files.wrong(e)], [])
    c.same(files.ids(sd.ArrowDataset(t.to_batches()[0])), list(range(50)))
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.ArrowDataset(t.to_reader()), "function")
    empty = t.slice(0, 0)
    c.same(files.ids(sd.ArrowDataset(empty)), [])
    c.same(files.ids(sd.ArrowDataset(lambda: empty.to_reader())), [])
    with tempfile.TemporaryDirectory() as d:
        for path, make in zip(files.write(d, "e", empty, 10), (sd.ParquetDataset, sd.ArrowDataset, sd.ArrowDataset)):
            c.same(files.ids(make(path)), [], path)

    class Exporter:
        def __arrow_c_stream__(self, requested_schema=None):
            return t.to_reader(9).__arrow_c_stream__()

    ds = sd.ArrowDataset(Exporter())
    c.same((files.ids(ds), files.ids(ds)), (list(range(50)), list(range(50))))
    one = t.to_reader()
    once = sd.ArrowDataset(lambda: one)
    c.same(files.ids(once), list(range(50)))
    c.raises(sd.errors.OpError, lambda: list(once))


def test_pipelines_and_text():
    if not files.have():
        return
    with tempfile.TemporaryDirectory() as d:
        parquet = files.write(d, "a", files.table(N), 64)[0]
        ds = sd.ParquetDataset(parquet)
        made = ds.filter(lambda e: e["id"] % 2 == 0).map(lambda e: (e["x"] * 2, e["s"])).batch(10)
        c.same(np.concatenate([x for x, _ in made]), np.arange(0, N, 2).astype(np.float32))
        it = iter(ds)
        c.true(len(list(it)) == N and "arrow" in str(ds.stats()) and "row group" in ds.explain())
        c.same(ds.fingerprint(), sd.ParquetDataset(parquet).fingerprint())
        c.true(ds.fingerprint() != sd.ParquetDataset(parquet, columns=["id"]).fingerprint())
        c.raises(TypeError, lambda: sd.ParquetDataset(parquet, column=["id"]), "did you mean 'columns'")
        c.raises(sd.errors.UnimplementedError, lambda: sd.ParquetDataset("s3x://b/a.parquet"))


def test_missing_packages():
    """Without pyarrow: what needs it says so, and how to get it. Runs wherever the tests run."""
    text = """if True:
        import sys
        sys.modules["pyarrow"] = sys.modules["lance"] = None
        import stoker.data as sd
        for make in (sd.ParquetDataset, sd.ArrowDataset, sd.LanceDataset, sd.from_huggingface):
            try:
                make(sys.argv[1])
            except ImportError as e:
                print(e)
    """
    with tempfile.TemporaryDirectory() as d:
        open(os.path.join(d, "state.json"), "w").write('{"_data_files": [{"filename": "a.arrow"}]}')
        open(os.path.join(d, "a.arrow"), "w").close()
        r = subprocess.run([sys.executable, "-c", text, d], capture_output=True, text=True)
    c.same((r.returncode, r.stderr), (0, ""))
    lines = r.stdout.splitlines()
    c.same(len(lines), 4, r.stdout)
    c.true(all("pip install" in line for line in lines), r.stdout)
    c.true(lines and "pip install lance" not in r.stdout and "pip install pylance" in r.stdout, r.stdout)
    c.same(pickle.loads(pickle.dumps(sd.Dataset.range(2))).cardinality(), 2)


c.main(globals())
