# SPDX-License-Identifier: Apache-2.0
"""`stoker data convert` from and to Parquet, Arrow and Hugging Face's folders, and `bench` of such sources."""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

import arrow_files as files
import checks as c
import stoker.data as sd
from arrow_files import pa

BUILD = os.path.abspath(os.path.join(os.path.dirname(sd.__file__), "..", "..", ".."))
PROGRAM = os.path.join(BUILD, "stoker")
N = 100


def stoker(*words, folder=None):
    """The program, whose python3 is the one that runs this test."""
    os.makedirs(os.path.join(folder, "bin"), exist_ok=True)
    link = os.path.join(folder, "bin", "python3")
    if not os.path.exists(link):
        with open(link, "w") as f:
            f.write(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        os.chmod(link, 0o755)
    env = dict(os.environ, PATH=os.path.dirname(link) + ":" + os.environ["PATH"], PYTHONPATH=os.path.join(BUILD, "python"))
    r = subprocess.run([PROGRAM, "data", *words], capture_output=True, text=True, env=env, timeout=120)
    return r.returncode, r.stdout + r.stderr


def there():
    if not os.path.exists(PROGRAM):
        c.skip("the program is not built next to the module")
        return False
    return files.have()


def test_between_tables():
    if not there():
        return
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as d:
        t = files.table(N)
        forms = dict(zip(("parquet", "file", "stream"), files.write(d, "a", t, 30)))
        forms["folder"] = os.path.join(d, "saved")
        c.same(stoker("convert", forms["parquet"], "-o", forms["folder"] + "/", folder=d), (0, "100 rows\n"))
        state = json.load(open(os.path.join(forms["folder"], "state.json")))
        c.same([f["filename"] for f in state["_data_files"]], ["data-00000-of-00001.arrow"])
        for name, path in forms.items():
            for end in (".parquet", ".arrow", ".arrows"):
                out = os.path.join(d, f"{name}-out{end}")
                c.same(stoker("convert", path, "-o", out, "-q", folder=d), (0, ""), f"{name} to {end}")
                make = sd.ParquetDataset if end == ".parquet" else sd.ArrowDataset
                rows = list(make(out))
                c.same([int(e["id"]) for e in rows], list(range(N)))
                c.same([files.wrong(e) for e in rows if files.wrong(e)], [], f"{name} to {end}")
        many = os.path.join(d, "two.parquet")
        c.same(stoker("convert", forms["file"], forms["stream"], "-o", many, folder=d)[0], 0)
        c.same(pq.read_table(many).num_rows, 2 * N)
        c.same([n for n in os.listdir(d) if n.endswith(".part")], [], "no partial file is left")


def test_indexed_and_back():
    if not there():
        return
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as d:
        parquet = files.write(d, "a", files.table(N).select(["id", "s", "l", "f"]), 30)[0]
        indexed, back = os.path.join(d, "a.stkidx"), os.path.join(d, "back.parquet")
        c.same(stoker("convert", parquet, "-o", indexed, folder=d), (0, "100 rows\n"))
        f, i, l, s = next(iter(sd.IndexedDataset(indexed).skip(7)))  # columns by name
        c.same((f.tolist(), int(i), l.tolist(), bytes(s)), ([7, 8], 7, [0, 1, 2], b"row 7"))
        c.same(stoker("convert", indexed, "-o", back, folder=d)[0], 0)
        t = pq.read_table(back)
        c.same((t.num_rows, t.column(0)[7].as_py(), t.column(2)[7].as_py()), (N, [7, 8], [0, 1, 2]))
        records, table = os.path.join(d, "a.tfrecord"), os.path.join(d, "r.arrow")
        with sd.TFRecordWriter(records) as w:
            for k in range(5):
                w.write(b"%d" % k)
        c.same(stoker("convert", records, "-o", table, folder=d), (0, "5 rows\n"))
        c.same([bytes(e["record"]) for e in sd.ArrowDataset(table)], [b"%d" % k for k in range(5)])
        saved = os.path.join(d, "elements")
        sd.Dataset.range(4).map(lambda i: {"x": sd.cast(i, sd.float32), "y": i}).save(saved)
        c.same(stoker("convert", saved, "-o", back, folder=d)[0], 0)
        c.same(pq.read_table(back).to_pydict(), {"x": [0.0, 1.0, 2.0, 3.0], "y": [0, 1, 2, 3]})


def test_failures_leave_nothing():
    """Exit codes by the contract; a file that was there before stays."""
    if not there():
        return
    with tempfile.TemporaryDirectory() as d:
        parquet, file, _ = files.write(d, "a", files.table(N), 30)
        bad, out = os.path.join(d, "bad.parquet"), os.path.join(d, "out.parquet")
        with open(bad, "wb") as f:
            f.write(open(parquet, "rb").read()[:500])
        with open(out, "w") as f:
            f.write("before")
        code, text = stoker("convert", bad, "-o", out, folder=d)
        c.same((code, "bad.parquet" in text, open(out).read()), (3, True, "before"), text)
        code, text = stoker("convert", parquet, file, "-o", out, folder=d)
        c.same((code, "several kinds" in text, open(out).read()), (3, True, "before"), text)
        c.same(stoker("convert", parquet, "-o", d + "/no/such.parquet", folder=d)[0], 5)
        c.same(stoker("convert", d + "/none.parquet", "-o", out, folder=d)[0], 3)
        full = os.path.join(d, "full")
        os.makedirs(full)
        open(os.path.join(full, "x"), "w").close()
        code, text = stoker("convert", parquet, "-o", full, folder=d)
        c.same((code, "isn't empty" in text, os.listdir(full)), (5, True, ["x"]), text)
        c.same([n for n in os.listdir(d) if n.endswith(".part")], [])


def test_bench_names_the_stage():
    if not there():
        return
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as d:
        path, script = os.path.join(d, "a.parquet"), os.path.join(d, "pipeline.py")
        pq.write_table(pa.table({"x": np.random.default_rng(0).random(400_000)}), path, row_group_size=50_000)
        with open(script, "w") as f:
            f.write(f"import stoker.data as sd\ndataset = sd.ParquetDataset({path!r}).batch(1024)\n")
        code, text = stoker("bench", script, folder=d)
        c.true(code == 0 and "elements/s" in text and "limiting stage: arrow" in text, text)
        with open(script, "w") as f:
            f.write(
                "import time\nimport stoker.data as sd\n"
                "def slow(b):\n    time.sleep(0.005)\n    return b['x'].sum()\n"
                f"dataset = sd.ParquetDataset({path!r}).batch(1024).map(\n"
                "    lambda b: sd.numpy_function(lambda x: (time.sleep(0.005), x.sum())[1], [b['x']], sd.float64))\n"
            )
        code, text = stoker("bench", script, folder=d)
        c.true(code == 0 and "limiting stage: map" in text, text)


c.main(globals())
