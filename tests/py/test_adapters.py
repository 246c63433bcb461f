# SPDX-License-Identifier: Apache-2.0
"""to_torch, to_tf, to_jax, to_device, with the packages that are there; others say what they need."""

import importlib.util
import warnings

import numpy as np

import checks as c
import stoker.data as sd

X = np.arange(24, dtype=np.float32).reshape(6, 4)


def dataset():
    return sd.Dataset.from_tensor_slices({"x": X, "y": np.arange(6)}).batch(2)


def has(name):
    if importlib.util.find_spec(name):
        return True
    print(f"without {name}")
    return False


def test_torch():
    if not has("torch"):
        c.raises(ImportError, lambda: dataset().to_torch(), "torch")
        return
    import torch

    out = list(dataset().to_torch())
    c.true(
        len(out) == 3
        and isinstance(out[0]["x"], torch.Tensor)
        and out[0]["y"].dtype == torch.int64,
        "tensors",
    )
    c.same(out[1]["x"].numpy(), X[2:4])
    loader = torch.utils.data.DataLoader(dataset().to_torch(), batch_size=None)
    c.same([b["y"].tolist() for b in loader], [[0, 1], [2, 3], [4, 5]])
    loader = torch.utils.data.DataLoader(dataset().to_torch(), batch_size=None, num_workers=2)
    c.same(sorted(b["y"].tolist() for b in loader), [[0, 1], [2, 3], [4, 5]])
    c.same(len(dataset().to_torch()), 3)
    t = torch.from_numpy(next(iter(dataset()))["x"])
    t += 1
    c.same(next(iter(sd.Dataset.from_tensors(torch.arange(3)))), np.arange(3))


def test_tf():
    if not has("tensorflow"):
        c.raises(ImportError, lambda: dataset().to_tf(), "tensorflow")
        return
    import tensorflow as tf

    ds = dataset().to_tf()
    c.true(isinstance(ds, tf.data.Dataset) and int(ds.cardinality()) == 3, "a tf.data.Dataset")
    c.same([e["y"].numpy().tolist() for e in ds], [[0, 1], [2, 3], [4, 5]])
    c.same(ds.element_spec["x"].shape.as_list(), [2, 4])
    c.same(next(iter(sd.Dataset.from_tensors(tf.constant([1.5])))), np.array([1.5], np.float32))
    c.same(sd.TensorSpec([None], tf.string), sd.TensorSpec([None], "bytes"))


def test_jax():
    if not has("jax"):
        c.raises(ImportError, lambda: dataset().to_jax(), "jax")
        return
    import jax

    out = list(dataset().to_jax())
    c.true(isinstance(out[0]["x"], jax.Array), "jax arrays")
    c.same(np.asarray(out[2]["x"]), X[4:])


def test_device():
    c.same([e["y"].tolist() for e in dataset().to_device("cpu")], [[0, 1], [2, 3], [4, 5]])
    if has("torch"):
        import torch

        if torch.cuda.is_available():
            out = list(dataset().to_device("cuda:0"))
            c.true(
                out[1]["x"].is_cuda and out[1]["x"].cpu().numpy().tolist() == X[2:4].tolist(),
                "on the GPU",
            )
            return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        out = list(dataset().to_device("cuda:0"))
    c.same([e["y"].tolist() for e in out], [[0, 1], [2, 3], [4, 5]])
    c.true(any("no GPU" in str(w.message) for w in caught), "says so")


def test_exchange():
    a = next(iter(sd.Dataset.range(10).batch(10)))
    c.same(np.from_dlpack(a), np.arange(10))
    c.same(memoryview(a).nbytes, 80)


c.main(globals())
