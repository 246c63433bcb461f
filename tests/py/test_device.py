# SPDX-License-Identifier: Apache-2.0
"""to_device against a fake CUDA driver (tests/fake): values, DLPack, keeping, failures; and without
a driver, where the same code gives host batches."""

import ctypes
import gc
import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np

import checks as c
import stoker.data as sd

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FAKE = os.environ.get("STOKER_FAKE_CUDA", ROOT / "build/release/tests/fake/libcuda.so.1")
ROWS = np.arange(40000, dtype=np.float32).reshape(400, 100)


def dataset(batch=50):
    """Batches that are pinned by the pipeline (x) and that are not (y), and strings."""
    ds = sd.Dataset.from_tensor_slices(
        {"x": ROWS, "y": np.arange(400), "s": [b"%d" % i for i in range(400)]}
    )
    return ds.map(lambda e: {**e, "x": e["x"] + 1}, sd.AUTOTUNE).batch(batch)


class Fake:
    """The driver, loaded before stoker.data looks for one; None where it was not built."""

    def __init__(self):
        self.lib = ctypes.CDLL(os.fspath(FAKE))
        self.lib.fake_cuda_misuse.restype = ctypes.c_char_p

    def reset(self, delay_us=0, limit=None, devices=2):
        self.lib.fake_cuda_reset()
        self.lib.fake_cuda_delay(ctypes.c_int64(delay_us))
        self.lib.fake_cuda_devices(devices)
        if limit is not None:
            self.lib.fake_cuda_limit(ctypes.c_uint64(limit))

    def check(self, what):
        gc.collect()
        out = (ctypes.c_uint64 * 16)()
        self.lib.fake_cuda_counts(out)
        c.same((self.lib.fake_cuda_misuse(), list(out[3:7])), (b"", [0, 0, 0, 0]), what)


def fake():
    if not os.path.exists(FAKE):
        c.skip(f"no fake driver {os.path.basename(FAKE)}")
        return None
    return Fake()


FAKE_CUDA = fake()


def test_without_a_driver():
    """In a process of its own: this one has the fake."""
    text = (
        "import warnings, numpy as np, stoker.data as sd\n"
        "ds = sd.Dataset.range(6).batch(2)\n"
        "with warnings.catch_warnings(record=True) as w:\n"
        "    warnings.simplefilter('always')\n"
        "    d = ds.to_device('cuda:0')\n"
        "print(d.device, len(d), [e.tolist() for e in d], [e.tolist() for e in d], d.stats())\n"
        "print(len(w), w[0].category.__name__, w[0].filename == '<string>', str(w[0].message)[:50])\n"
        "k = ds.to_device('cpu', keep=True)\n"
        "a, b = list(k), list(k)\n"
        "print(all(x is y for x, y in zip(a, b)), k.device)\n"
        "try: sd._engine.devices()\n"
        "except sd.errors.NotFoundError as e: print('libcuda' in str(e))\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    lines = done.stdout.splitlines()
    if lines and lines[0].startswith("cuda"):
        c.skip("there is a driver: what is done without one")
        return
    c.same(
        lines,
        [
            "cpu 3 [[0, 1], [2, 3], [4, 5]] [[0, 1], [2, 3], [4, 5]] {}",
            "1 RuntimeWarning True to_device('cuda:0'): no GPU is usable, so elements",
            "True cpu",
            "True",
        ],
        done.stderr[-500:],
    )


def test_methods_after_to_device():
    """What is called on a dataset on a device is applied on the host, before the copy."""
    ds = sd.Dataset.range(6).batch(2).to_device("cpu").unbatch()
    c.same([int(v) for v in ds], list(range(6)))
    ds = sd.Dataset.range(6).batch(2).apply(sd.experimental.prefetch_to_device("cpu")).unbatch().batch(3)
    c.same([np.asarray(v).tolist() for v in ds], [[0, 1, 2], [3, 4, 5]])
    c.true(type(ds).__name__ == "OnDevice" and "unbatch" in ds.explain(), ds.explain())
    c.raises(AttributeError, lambda: ds.no_such_method, "no_such_method")


def test_values():
    if not FAKE_CUDA:
        return
    FAKE_CUDA.reset(delay_us=300)
    for depth in (1, 2, 5):
        d = dataset().to_device("cuda:1", depth=depth)
        c.same((d.device, len(d), d.cardinality()), ("cuda:1", 8, 8))
        c.same(d.element_spec, dataset().element_spec)
        for epoch in range(2):
            seen = 0
            for e in d:
                c.same(e["x"].numpy(), ROWS[seen : seen + 50] + 1)
                c.same(e["y"].numpy(), np.arange(seen, seen + 50))
                c.same(e["s"][3], b"%d" % (seen + 3))
                seen += 50
            c.same(seen, 400)
        s = d.stats()
        c.same(s["elements"], 8)
        c.true(s["copied_bytes"] >= 400 * 408 and s["device_bytes"] > 0, "counts")
    del d, e
    FAKE_CUDA.check("values")


def test_array():
    if not FAKE_CUDA:
        return
    FAKE_CUDA.reset()
    e = next(iter(dataset().to_device("cuda", 1)))
    x = e["x"]
    c.true(isinstance(x, sd.DeviceArray), "its class")
    c.same((x.shape, x.dtype, x.ndim, x.size, x.nbytes), ((50, 100), np.dtype("f4"), 2, 5000, 20000))
    c.same((x.device, len(x), x.__dlpack_device__()), ("cuda:0", 50, (2, 0)))
    c.same(np.asarray(x, "f8"), (ROWS[:50] + 1).astype("f8"))
    c.same(repr(x), "<DeviceArray cuda:0 shape=(50, 100) dtype=float32>")
    i = x.__cuda_array_interface__
    c.same((i["shape"], i["typestr"], i["version"], i["stream"]), ((50, 100), "<f4", 3, None))
    for stream in (None, 1, 2, -1):
        c.true("dltensor" in repr(x.__dlpack__(stream=stream)), "a capsule")
    c.true(x.__dlpack__(stream=1, max_version=(1, 0), dl_device=(2, 0), copy=False), "as NumPy asks")
    c.raises(ValueError, lambda: x.__dlpack__(stream=0), "stream")
    c.raises(TypeError, lambda: x.__dlpack__(stream="a"))
    c.raises(BufferError, lambda: x.__dlpack__(dl_device=(1, 0)), "cuda:0")
    c.raises(BufferError, lambda: x.__dlpack__(copy=True))
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        c.raises(ValueError, lambda: np.array(x, copy=False))
    scalar = next(iter(sd.Dataset.range(3).to_device("cuda:0")))
    c.same(scalar.numpy(), np.asarray(0))
    c.raises(TypeError, lambda: len(scalar))
    empty = next(iter(sd.Dataset.from_tensors(np.zeros((0, 3), "u1")).to_device("cuda:0")))
    c.same((empty.shape, empty.numpy().shape), ((0, 3), (0, 3)))
    del e, x, i, scalar, empty
    FAKE_CUDA.check("arrays")


def test_consumer_on_a_stream():
    """A capsule's holder computes on its stream and lets go: memory is used again after that."""
    if not FAKE_CUDA:
        return
    FAKE_CUDA.reset(delay_us=200)
    lib, sums = FAKE_CUDA.lib, (ctypes.c_uint64 * 8)()
    lib.fake_cuda_stream.restype = ctypes.c_void_p
    stream = lib.fake_cuda_stream(0)
    want = []
    for i, e in enumerate(dataset().to_device("cuda:0", depth=1)):
        capsule = e["x"].__dlpack__(stream=stream)
        at = e["x"].__cuda_array_interface__["data"][0] if i % 3 == 0 else None
        if at is not None:
            lib.fake_cuda_kernel(
                ctypes.c_void_p(stream),
                ctypes.c_uint64(at),
                ctypes.c_size_t(e["x"].nbytes),
                ctypes.c_int64(2000),
                ctypes.byref(sums, 8 * i),
            )
        want.append(int(e["x"].numpy().view("u1").sum(dtype=np.uint64)))
        del e, capsule
    lib.fake_cuda_stream_wait(ctypes.c_void_p(stream))
    c.same([sums[i] for i in (0, 3, 6)], [want[i] for i in (0, 3, 6)])
    FAKE_CUDA.check("streams")


def test_keep():
    if not FAKE_CUDA:
        return
    FAKE_CUDA.reset()
    calls = []

    def count(x):
        calls.append(1)
        return x

    ds = sd.Dataset.from_tensor_slices(ROWS).map(
        lambda x: sd.ensure_shape(sd.numpy_function(count, [x], "float32"), [100])
    )
    k = ds.batch(100).to_device("cuda:0", keep=True)
    for i, e in enumerate(k):  # left early: nothing is kept yet
        if i == 1:
            break
    first, made = list(k), len(calls)
    second, third = list(k), list(k)
    c.same(len(calls), made, "made once")
    c.true(all(a is b is d for a, b, d in zip(first, second, third)), "the same arrays")
    c.same(np.concatenate([a.numpy() for a in third]), ROWS)
    del k, e, first, second, third
    FAKE_CUDA.check("kept")
    FAKE_CUDA.reset(limit=120_000)  # 160 kB are wanted
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        k = ds.batch(50).to_device("cuda:0", keep=True)
        for _ in range(2):
            out = [float(a.numpy()[0, 0]) for a in k]
            c.same(out, [float(ROWS[i, 0]) for i in range(0, 400, 50)])
    c.same(["doesn't fit" in str(w.message) for w in caught], [True])
    del k
    FAKE_CUDA.check("not kept")
    c.raises(
        sd.errors.InvalidArgumentError,
        lambda: list(ds.batch(9).repeat().to_device("cuda:0", keep=True)),
        "finite",
    )


def test_errors():
    if not FAKE_CUDA:
        return
    FAKE_CUDA.reset()
    e = sd.errors
    c.raises(e.InvalidArgumentError, lambda: dataset().to_device("cuda:7"), "no device", "2")
    c.raises(e.InvalidArgumentError, lambda: dataset().to_device("tpu:0"), "tpu:0")
    c.raises(e.InvalidArgumentError, lambda: dataset().to_device("cuda:0", depth=0), "depth")
    c.raises(TypeError, lambda: dataset().to_device("cuda:0", depth=1.5))
    bad = sd.Dataset.range(6).map(lambda x: sd.ensure_shape(sd.range(sd.cast(x, "int32")), [3]))
    it, seen = iter(bad.to_device("cuda:0")), []
    while True:
        try:
            seen.append(next(it).numpy().tolist())
        except e.InvalidArgumentError:
            seen.append("bad")
        except StopIteration:
            break
    c.same(seen, ["bad"] * 3 + [[0, 1, 2]] + ["bad"] * 2, "an error stands for one element")

    def raises_at_3(x):
        if x == 3:
            raise KeyError("three")
        return x

    python = sd.Dataset.range(5).map(lambda x: sd.numpy_function(raises_at_3, [x], "int64"))
    it = iter(python.to_device("cuda:0"))
    c.same([int(next(it).numpy()) for _ in range(3)], [0, 1, 2])
    c.raises(KeyError, lambda: next(it), "three")
    c.same(int(next(it).numpy()), 4)
    FAKE_CUDA.reset(limit=60_000)  # two batches fit
    kept, it = [], iter(dataset().to_device("cuda:0", 1))
    while True:
        try:
            kept.append(next(it)["x"])
        except e.ResourceExhaustedError as x:
            c.true("cuda:0" in str(x) and "keep fewer" in str(x), str(x))
            break
    n = len(kept)
    kept.clear()
    rest = [float(b["x"].numpy()[0, 0]) for b in it]
    c.same(rest, [float(ROWS[i, 0] + 1) for i in range(50 * n, 400, 50)], "nothing is lost")
    del it, kept
    FAKE_CUDA.check("errors")


def test_ends():
    """The interpreter ends with everything alive; a child of fork says what is wrong."""
    if not FAKE_CUDA:
        return
    text = (
        f"import ctypes; ctypes.CDLL({os.fspath(FAKE)!r})\n"
        "import os, sys, stoker.data as sd\n"
        "ds = sd.Dataset.range(100000).map(lambda x: sd.py_function(lambda v: v, [x], 'int64'))\n"
        "it = iter(ds.batch(1000).to_device('cuda:0'))\n"
        "e = next(it)\n"
        "if sys.argv[1] == 'fork':\n"
        "    if os.fork() == 0:\n"
        "        try: next(it)\n"
        "        except sd.errors.InvalidArgumentError as x: print('fork' in str(x), flush=True)\n"
        "        os._exit(0)\n"
        "    os.wait()\n"
        "print('end', flush=True)\n"
    )
    for word, want in (("plain", "end\n"), ("fork", "True\nend\n")):
        done = subprocess.run(
            [sys.executable, "-c", text, word], capture_output=True, text=True, timeout=60
        )
        c.same((done.stdout, done.returncode), (want, 0), done.stderr[-300:])


c.main(globals())
