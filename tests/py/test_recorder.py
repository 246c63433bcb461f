# SPDX-License-Identifier: Apache-2.0
"""What a pipeline records of itself (STOKER_DATA_RECORD), as `stoker why` reads it: pipelines made
slow in one stage, each named with its line and its remedy; several iterators in one file; short runs."""

import json
import os
import subprocess
import sys
import tempfile

import checks as c
import stoker.data as sd

PYTHON = os.path.abspath(os.path.join(os.path.dirname(sd.__file__), "..", ".."))
STOKER = os.path.join(PYTHON, "..", "stoker")

HEAD = """
import os, sys, threading, time
import numpy as np
import stoker.data as sd

def run(ds, own_s=0.001, batches=30):
    for k, b in enumerate(ds):
        time.sleep(own_s)
        if k + 1 == batches:
            break
"""

PIPELINES = {
    "python": """
def slow(v):
    time.sleep(0.001)
    return np.float32(v)

ds = sd.Dataset.range(10**6).map(lambda x: sd.numpy_function(slow, [x], sd.float32))
run(ds.batch(8))
""",
    "python, in threads": """
def slow(v):
    time.sleep(0.004)
    return np.float32(v)

ds = sd.Dataset.range(10**6).map(lambda x: sd.numpy_function(slow, [x], sd.float32), 2)
run(ds.batch(8).prefetch(2))
""",
    "generator": """
def numbers():
    for i in range(10**6):
        time.sleep(0.001)
        yield i

ds = sd.Dataset.from_generator(numbers, output_signature=sd.TensorSpec((), "int64"))
run(ds.batch(8).prefetch(2))
""",
    "map": """
def slow(x):
    f = sd.cast(sd.range(20000), "float32") * sd.cast(x, "float32")
    return sd.reduce_sum(sd.sort(sd.sin(f)))

run(sd.Dataset.range(10**6).map(slow).batch(8))
""",
    "map-parallel": """
def slow(x):
    f = sd.cast(sd.range(20000), "float32") * sd.cast(x, "float32")
    return sd.reduce_sum(sd.sort(sd.sin(f)))

run(sd.Dataset.range(10**6).map(slow, num_parallel_calls=2).batch(8).prefetch(2))
""",
    "decode": """
image = np.random.default_rng(1).integers(0, 256, (300, 400, 3), dtype=np.uint8)
files = np.array([sd.io.encode_jpeg(image)] * 8, object)

def load(f):
    return sd.image.resize(sd.image.decode_jpeg(f, channels=3), [64, 64])

run(sd.Dataset.from_tensor_slices(files).repeat().map(load).batch(8))
""",
    "unbuffered": """
def numbers():
    for i in range(10**6):
        time.sleep(0.001)
        yield i

ds = sd.Dataset.from_generator(numbers, output_signature=sd.TensorSpec((), "int64"))
run(ds.batch(8), 0.02)
""",
    "batch": """
big = np.zeros((64, 1 << 18), np.float32)
run(sd.Dataset.from_tensor_slices(big).repeat().batch(60), 0.0002)
""",
    "read": """
path = sys.argv[1] + "/fifo"
os.mkfifo(path)

def feed():
    with open(path, "wb", buffering=0) as f:
        for i in range(10**6):
            f.write((b"x" * 999 + b"\\n") * 64)
            time.sleep(0.005)

threading.Thread(target=feed, daemon=True).start()
run(sd.TextLineDataset(path).map(sd.strings.length).batch(64))
""",
    "read csv": """
import contextlib
path = sys.argv[1] + "/fifo"
os.mkfifo(path)

def feed():
    with contextlib.suppress(OSError), open(path, "wb", buffering=0) as f:
        while True:  # until nobody reads
            f.write((b"1.5," * 199 + b"2\\n") * 64)
            time.sleep(0.005)

threading.Thread(target=feed, daemon=True).start()
run(sd.CsvDataset(path, [sd.float32] * 200).batch(64))
""",
    "read tar": """
import contextlib, tarfile
path = sys.argv[1] + "/fifo"
os.mkfifo(path)

def feed():
    # blocks written by hand: a stream of tarfile that is collected behind the pipe's end complains on stderr
    with contextlib.suppress(OSError), open(path, "wb", buffering=0) as f:
        for i in range(10**6):
            info = tarfile.TarInfo(f"{i:06}.txt")
            info.size = 40 * tarfile.BLOCKSIZE
            f.write(info.tobuf())
            f.write(b"x" * info.size)
            time.sleep(0.001)

threading.Thread(target=feed, daemon=True).start()
run(sd.TarDataset(path, ["txt"]).batch(8))
""",
    "consumer": """
run(sd.Dataset.range(10**6).map(lambda x: x + 1).batch(8).prefetch(2), 0.01)
""",
    "two": """
train = sd.Dataset.range(10**6).map(lambda x: x + 1).batch(8)
test = sd.Dataset.range(80).map(lambda x: x * 2).batch(8)
for _ in range(2):
    run(train, 0.002)
    run(test, 0.002)
""",
    "counted": """
threads = int(sys.argv[2]) or None
ds = sd.Dataset.range(1000).map(lambda x: sd.cast(x, "float32") * 2.0, threads).batch(10)
run(ds.prefetch(2) if len(sys.argv) > 3 else ds, batches=None)
""",
    "nested": """
inner = lambda x: sd.Dataset.range(50).map(lambda y: x + y)
threads = int(sys.argv[2]) or None
ds = sd.Dataset.range(20).interleave(inner, cycle_length=4, num_parallel_calls=threads)
run(ds.batch(10), batches=None)
""",
    "forked": """
run(sd.Dataset.range(10**6).batch(8), 0.002)
pid = os.fork()
if pid == 0:
    run(sd.Dataset.range(10**6).batch(8), 0.002)
    os._exit(0)
os.waitpid(pid, 0)
""",
    "short": """
def slow(v):
    time.sleep(0.001)
    return np.float32(v)

ds = sd.Dataset.range(10**6).map(lambda x: sd.numpy_function(slow, [x], sd.float32))
run(ds.batch(8), batches=int(sys.argv[2]))
""",
}


def record(name, folder, *args):
    """(file, number of the line that has `.map(` or the like) of a recorded run."""
    script, out = os.path.join(folder, "train.py"), os.path.join(folder, "run.stk")
    with open(script, "w") as f:
        f.write(HEAD + PIPELINES[name])
    env = dict(os.environ, PYTHONPATH=PYTHON, STOKER_DATA_RECORD=out)
    r = subprocess.run(
        [sys.executable, script, folder, *args], capture_output=True, text=True, timeout=120, env=env
    )
    c.same((r.returncode, r.stderr), (0, ""), name)
    return out


def why(path, *options):
    r = subprocess.run([STOKER, "why", "--json", *options, path], capture_output=True, text=True)
    c.same(r.stderr, "")
    return json.loads(r.stdout)


def finding(report, rule):
    found = [f for f in report["findings"] if f["id"] == rule]
    return json.dumps(found[0]) if found else ""


def stages(path):
    """Rows of the stages by own work: {stage: {column: value}}, most work first."""
    r = subprocess.run([STOKER, "stats", "input", "--json", path], capture_output=True, text=True)
    c.same((r.returncode, r.stderr), (0, ""))
    table = next(t for t in json.loads(r.stdout)["tables"] if t["id"] == "stages")
    names = [column["id"] for column in table["columns"]]
    rows = [row if isinstance(row, dict) else dict(zip(names, row)) for row in table["rows"]]
    return {row["stage"]: row for row in rows}


def test_elements():
    """Stages show the elements that they gave, for any blocks and threads; the consumer's fetch waits for them, which
    isn't work."""
    with tempfile.TemporaryDirectory() as folder:
        for args in (["0"], ["2"], ["0", "prefetch"], ["2", "prefetch"]):
            rows = stages(record("counted", folder, *args))
            given = {name.rpartition("::")[2]: row["elements"] for name, row in rows.items()}
            wanted = {"Range": 1000, "Map": 1000, "Batch": 100, "stoker.data next": 100}
            wanted.update({"Prefetch": 100} if len(args) > 1 else {})
            c.same(sorted(given.items()), sorted(wanted.items()), args)
            fetch = rows["stoker.data next"]
            c.same((fetch["self_ns"], fetch["wait_ns"] > 0), (0, True), args)
        for threads in ("0", "2"):
            rows = stages(record("nested", folder, threads))
            given = {name.partition("::")[2]: row["elements"] for name, row in rows.items()}
            c.same(given["Batch"], 100, threads)
            c.same(given["Batch::Interleave"], 1000, threads)
            c.same(given["Batch::Interleave::Map"], 1000, threads)


def limited(name, words):
    with tempfile.TemporaryDirectory() as folder:
        report = why(record(name, folder))
    if name != "unbuffered":  # whose step takes as long as its input
        c.same(report["verdict"]["kind"], "input-bound", name)
    text = finding(report, "input-wait")
    for w in words:
        c.true(w in text, f"{name}: '{w}' in {text[:1500]}")


def test_limits():
    wanted = {
        "python": ("Map", "a Python function", "train.py:16", "processes="),
        "python, in threads": ("Map", "a Python function", "train.py:16", "processes="),
        "generator": ("Generator", "a Python generator", "train.py:17", "ds.save"),
        "map": ("Map", "a native map on one thread", "train.py:16", "num_parallel_calls"),
        "map-parallel": ("Map", "on several threads already", "train.py:16", "cache()"),
        "decode": ("Map", "decoding images on one thread", "train.py:", "num_parallel_calls"),
        "unbuffered": ("Generator", "no prefetch", "train.py:17", "ds.prefetch(sd.AUTOTUNE)"),
        "batch": ("Batch", "copying elements into batches", "train.py:13", "num_parallel_calls"),
        "read": ("TextLines", "reading files", "train.py:", "num_parallel_reads"),
        "read csv": ("Csv", "reading files", "train.py:", "num_parallel_reads"),
        "read tar": ("Tar", "reading files", "train.py:", "num_parallel_reads"),
    }
    for name, words in wanted.items():
        c.in_some_try(lambda: limited(name, words))


def consumer():
    with tempfile.TemporaryDirectory() as folder:
        report = why(record("consumer", folder))
        c.same(report["verdict"]["kind"], "host-bound")
        c.same(finding(report, "input-wait"), "")
        own = finding(report, "host-bound")
        for w in ("own time", '"severity": "info"', "between two batches"):
            c.true(w in own, f"'{w}' in {own}")
        r = subprocess.run(
            [STOKER, "why", "--fail-on", "low", os.path.join(folder, "run.stk")], capture_output=True
        )
        c.same(r.returncode, 0, "input that keeps up is no fault")


def test_consumer():
    c.in_some_try(consumer)


def test_several_iterators():
    with tempfile.TemporaryDirectory() as folder:
        path = record("two", folder)
        report = why(path)
        # 30 + 10, twice; the last step of a loop that breaks off ends where the next begins.
        c.same(report["steps"]["count"], 80, "steps of all iterators")
        issues = json.dumps(report)
        c.true("truncated" not in issues, "the file is whole")


def forked():
    with tempfile.TemporaryDirectory() as folder:
        record("forked", folder)
        files = sorted(f for f in os.listdir(folder) if f.endswith(".stk"))
        c.same(len(files), 2, f"{files}")
        for f in files:
            c.same(why(os.path.join(folder, f))["verdict"]["kind"], "host-bound", f)


def test_forked():
    c.in_some_try(forked)


def short():
    with tempfile.TemporaryDirectory() as folder:
        report = why(record("short", folder, "2"))
        text = finding(report, "cannot-tell")
        for w in ("too few batches", "a Python function", "train.py:", "ten batches"):
            c.true(w in text, f"'{w}' in {text[:1500]}")
        report = why(record("short", folder, "5"))
        c.same(report["verdict"]["kind"], "input-bound", "four steps are enough")


def test_short():
    c.in_some_try(short)


def redacted():
    with tempfile.TemporaryDirectory() as folder:
        report = why(record("python", folder), "--redact")
        c.true("train.py:" not in json.dumps(report), "no file of the user is named")
        c.true("a Python function" in finding(report, "input-wait"), f"{report['findings']}")


def test_redacted():
    c.in_some_try(redacted)


if os.path.exists(STOKER):
    c.main(globals())
c.skip("the program stoker was not built beside the module")
c.done()
