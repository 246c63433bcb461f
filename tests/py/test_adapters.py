# SPDX-License-Identifier: Apache-2.0
"""to_torch, to_tf, to_keras, to_jax, with the installed packages; for others, an error says what to install.
to_device: test_device.py."""

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
    c.raises(TypeError, lambda: len(dataset().repeat().to_torch()), "infinite")


def test_torch_memory():
    """Batches are the receiver's own memory: not copied, writable, alive without their iterator."""
    if not has("torch"):
        return
    import torch

    ds = sd.Dataset.from_tensor_slices(X).map(lambda x: x * 2).batch(2)
    batches = list(ds.to_torch())
    for b in batches:
        b += 1
    c.same(torch.cat(batches).numpy(), X * 2 + 1)
    a = next(iter(ds))
    c.true(torch.from_numpy(a).data_ptr() == a.__array_interface__["data"][0], "no copy")
    c.true(torch.from_dlpack(a).data_ptr() == a.__array_interface__["data"][0], "nor by DLPack")
    view = next(iter(sd.Dataset.from_tensor_slices(X).to_torch()))
    view += 1  # of the user's memory: a copy
    c.same(X[0, 0], np.float32(0))
    kinds = {
        "b": np.array([True]), "u1": np.array([1], "u1"), "i8": np.array([2]),
        "f2": np.array([1.5], "f2"), "s": np.array([b"a"], object),
    }
    e = next(iter(sd.Dataset.from_tensors(kinds).to_torch()))
    c.same(
        {k: str(getattr(v, "dtype", v)) for k, v in e.items()},
        {"b": "torch.bool", "u1": "torch.uint8", "i8": "torch.int64", "f2": "torch.float16",
         "s": "object"},
    )
    scalars = list(sd.Dataset.range(3).to_torch())
    c.true(all(s.dim() == 0 for s in scalars) and int(sum(scalars)) == 3, "scalars")


def test_torch_labels():
    """Whole numbers of Python lists are int64 for torch, wherever a pipeline hands them on; what has a
    dtype of its own keeps it."""
    if not has("torch"):
        return
    import torch

    def types(ds):
        e = next(iter(ds.to_torch()))
        return [str(v.dtype)[6:] for v in (e if isinstance(e, tuple) else (e,))]

    x = np.zeros((6, 2), np.float32)
    ds = sd.Dataset.from_tensor_slices((x, [0, 1, 2, 0, 1, 2]))
    c.same(types(ds), ["float32", "int64"])
    c.same(types(ds.shuffle(6).map(lambda a, y: (a * 2, y)).batch(2).prefetch(1)), ["float32", "int64"])
    c.same(types(ds.map(lambda a, y: (y, a, y + 1)).shard(2, 0).repeat(2)), ["int64", "float32", "int32"])
    c.same(types(sd.Dataset.zip((ds, sd.Dataset.from_tensor_slices([7] * 6))).map(lambda e, z: (e[1], z))), ["int64"] * 2)
    c.same(types(ds.enumerate().map(lambda i, e: (i, e[1]))), ["int64"] * 2)
    own = sd.Dataset.from_tensor_slices((x, np.arange(6, dtype=np.int32)))
    c.same(types(own), ["float32", "int32"])
    c.same(types(sd.Dataset.from_tensor_slices([0.5, 1.5])), ["float32"])
    logits = torch.zeros(2, 3, requires_grad=True)
    _, y = next(iter(ds.batch(2).to_torch()))
    torch.nn.functional.cross_entropy(logits, y).backward()
    c.same(y.tolist(), [0, 1])
    c.same([v.dtype for v in ds.element_spec], [np.dtype("f4"), np.dtype("i4")])


def order(loader):
    return [int(y) for b in loader for y in b]


def test_torch_epochs():
    """Each pass is another epoch, in workers too; set_epoch and a seed repeat one."""
    if not has("torch"):
        return
    import torch

    def loader(seed=None, **more):
        ds = sd.Dataset.range(64).shuffle(64, seed=seed).batch(4)
        return ds.to_torch() if not more else torch.utils.data.DataLoader(
            ds.to_torch(), batch_size=None, **more
        )

    a = loader(seed=3)
    first, second = order(a), order(a)
    c.true(first != second and sorted(first) == sorted(second) == list(range(64)), "epochs differ")
    c.same((order(loader(seed=3)), order(loader(seed=3))), (first, first))
    a.set_epoch(1)
    c.same((order(a), order(a)), (second, second))
    for more in ({}, {"persistent_workers": True}):
        for seed in (None, 5):  # without a seed all workers must still see one order
            w = loader(seed=seed, num_workers=2, **more)
            passes = [order(w) for _ in range(3)]
            c.same([sorted(p) for p in passes], [list(range(64))] * 3, "each element once")
            c.true(passes[0] != passes[1] != passes[2], "epochs differ in workers")


def test_torch_surface():
    """What training loops look at, and a checkpoint in the middle of an epoch."""
    if not has("torch"):
        return
    import torch

    ds = sd.Dataset.range(40).shuffle(40, seed=1).batch(4)
    a = ds.prefetch(2).to_torch()
    c.same((a.batch_size, a.num_workers, a.pin_memory, a.sampler), (4, 0, False, None))
    c.true(a.dataset.cardinality() == 10 and isinstance(a, torch.utils.data.IterableDataset), "")
    it = iter(a)
    seen = [next(it).tolist() for _ in range(3)]
    state = a.state_dict()
    rest = [b.tolist() for b in it]
    b = sd.Dataset.range(40).shuffle(40, seed=1).batch(4).prefetch(2).to_torch()
    b.load_state_dict(state)
    c.same([x.tolist() for x in b], rest)
    c.same(len(seen) + len(rest), 10)
    model = torch.nn.Linear(1, 1)  # the usual loop
    optimiser = torch.optim.SGD(model.parameters(), 1e-4)
    for epoch in range(2):
        a.set_epoch(epoch)
        for i, batch in enumerate(a):
            loss = model(batch[:, None].float()).square().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        c.same(i + 1, len(a))
    if not torch.cuda.is_available():
        c.raises(sd.errors.NotFoundError, lambda: ds.to_torch(pin_memory=True), "libcuda")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            on = ds.to_torch(device="cuda:0")
        c.true("no GPU" in str(caught[0].message) and len(order(on)) == 40, "host tensors")
    else:
        c.true(next(iter(ds.to_torch(pin_memory=True))).is_pinned(), "pinned")
        c.true(next(iter(ds.to_torch(device="cuda:0"))).is_cuda, "on the GPU")


def test_tf():
    if not has("tensorflow"):
        c.raises(ImportError, lambda: dataset().to_tf(), "tensorflow")
        return
    import tensorflow as tf

    ds = dataset().to_tf()
    c.true(isinstance(ds, tf.data.Dataset) and int(ds.cardinality()) == 3, "a tf.data.Dataset")
    c.same([e["y"].numpy().tolist() for e in ds], [[0, 1], [2, 3], [4, 5]])
    c.same(ds.element_spec["x"].shape.as_list(), [None, 4])
    c.same(next(iter(sd.Dataset.from_tensors(tf.constant([1.5])))), np.array([1.5], np.float32))
    c.same(sd.TensorSpec([None], tf.string), sd.TensorSpec([None], "bytes"))
    words = sd.Dataset.from_tensor_slices(([b"a", b"bc"], [[1], [2]])).to_tf()
    c.same([(s.numpy(), n.numpy().tolist()) for s, n in words], [(b"a", [1]), (b"bc", [2])])
    ragged = sd.Dataset.range(4).map(lambda x: sd.range(x)).to_tf()
    c.same([e.numpy().tolist() for e in ragged.map(lambda x: x + 1)], [[], [1], [1, 2], [1, 2, 3]])
    c.same(int(sd.Dataset.range(3).repeat().to_tf().cardinality()), -1)
    c.same(int(sd.Dataset.range(3).filter(lambda x: x > 0).to_tf().cardinality()), -2)
    spec = {"v": sd.io.VarLenFeature("int64")}
    sparse = sd.Dataset.from_tensor_slices(
        [bytes(sd.io.Example({"v": [1, 2]})), bytes(sd.io.Example({"v": [3]}))]
    ).map(lambda r: sd.io.parse_single_example(r, spec))
    c.same([e["v"].values.numpy().tolist() for e in sparse.to_tf()], [[1, 2], [3]])
    c.same(
        sum(1 for _ in dataset().to_tf().repeat(2)), 6, "a second pass is a new iterator"
    )
    composite_in_tf(tf)


def composite():
    """Batches of two: ragged numbers, strings and rows of rows, sparse numbers, dense ones."""
    features = {
        "r": sd.io.RaggedFeature("int64"),
        "s": sd.io.RaggedFeature("bytes", row_splits_dtype="int64"),
        "v": sd.io.VarLenFeature("float32"),
        "d": sd.io.FixedLenFeature([], "int64"),
    }
    rows = [
        bytes(sd.io.Example({"r": list(range(i)), "s": [b"x" * i] * (i % 2), "v": [0.5] * i, "d": i}))
        for i in range(5)
    ]
    ds = sd.Dataset.from_tensor_slices(rows).batch(2)
    return ds.map(lambda r: sd.io.parse_example(r, features))


def composite_in_tf(tf):
    ours = composite()
    theirs = ours.to_tf()
    spec = theirs.element_spec
    c.true(isinstance(spec["r"], tf.RaggedTensorSpec) and isinstance(spec["v"], tf.SparseTensorSpec), f"{spec}")
    c.same(spec["r"].dtype.name, "int64")
    for a, b in zip(list(ours), list(theirs)):
        c.true(isinstance(b["r"], tf.RaggedTensor) and isinstance(b["v"], tf.SparseTensor), "TensorFlow's")
        c.same(b["r"].to_list(), a["r"].to_list())
        c.same(b["s"].to_list(), a["s"].to_list())
        c.same(tf.sparse.to_dense(b["v"]).numpy(), sd.sparse.to_dense(a["v"]))
        c.same(b["d"].numpy(), a["d"])
        c.same(b["r"].row_splits.dtype.name, a["r"].row_splits.dtype.name)
    sums = theirs.map(lambda e: tf.reduce_sum(e["r"], axis=1))
    c.same([s.numpy().tolist() for s in sums], [[0, 0], [1, 3], [6]], "usable in TensorFlow's pipeline")
    nested = sd.Dataset.range(1, 5).map(lambda i: sd.range(i)).ragged_batch(2).batch(2)
    got = [e.to_list() for e in nested.to_tf()]
    c.same(got, [e.to_list() for e in nested])
    c.same(got, [[[[0], [0, 1]], [[0, 1, 2], [0, 1, 2, 3]]]])
    c.same(nested.to_tf().element_spec.ragged_rank, 2)
    c.raises(TypeError, lambda: sd.Dataset.range(4).window(2).to_tf(), "flat_map")


def test_composite_elsewhere():
    """What has no ragged and sparse values says so before anything runs, and what to do."""
    ds = composite()
    ragged = ds.map(lambda e: {"r": e["r"], "d": e["d"]})
    pairs = ds.map(lambda e: (e["d"], {"x": e["v"]}))
    windows = sd.Dataset.range(4).window(2)
    for to in (sd.Dataset.to_torch, sd.Dataset.to_jax, sd.Dataset.to_keras, lambda d: d.to_device("cpu")):
        c.raises(TypeError, lambda: to(ragged), "element['r'] is ragged", "to_tensor()")
        c.raises(TypeError, lambda: to(pairs), "element[1]['x'] is sparse", "to_dense")
        c.raises(TypeError, lambda: to(windows), "the element is a dataset", "flat_map")


def test_keras():
    if not has("keras") or not has("tensorflow"):
        c.raises(ImportError, lambda: dataset().to_keras(), "keras")
        return
    import keras

    rng = np.random.default_rng(0)
    x = rng.normal(size=(96, 4)).astype("f4")
    y = (x.sum(1) > 0).astype("f4")[:, None]
    data = sd.Dataset.from_tensor_slices((x, y))
    train = data.take(64).shuffle(64, seed=1).batch(16).prefetch(2)
    val = data.skip(64).batch(16)
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1, "sigmoid")])
    model.compile(keras.optimizers.Adam(0.05), "binary_crossentropy", metrics=["accuracy"])
    history = model.fit(train.to_keras(), epochs=12, validation_data=val.to_keras(), verbose=0)
    c.true(history.history["loss"][-1] < history.history["loss"][0], "it learns")
    c.same(len(history.history["val_loss"]), 12)
    got = model.evaluate(val.to_keras(), verbose=0, return_dict=True)
    want = model.evaluate(x[64:], y[64:], batch_size=16, verbose=0, return_dict=True)
    c.true(abs(got["loss"] - want["loss"]) < 1e-5 and got["accuracy"] == want["accuracy"], "same")
    p = model.predict(data.map(lambda a, b: a).batch(16).to_keras(), verbose=0)
    c.same(p, model.predict(x, verbose=0))
    k = train.to_keras()
    c.same((len(k), k.num_batches), (4, 4))
    first = [k[i][1].sum() for i in range(4)]
    c.same(sum(first), sum(k[i][1].sum() for i in (2, 0, 3, 1)), "all elements, in any order")
    k = data.batch(16).to_keras()
    looks = [k[0][1], k[1][1]]  # as Keras looks at the first two
    c.same([k[i][1] for i in range(6)], [y[i : i + 16] for i in range(0, 96, 16)])
    c.same(looks, [y[:16], y[16:32]])
    k[0], k[1], k[2]  # left early
    c.same([k[i][1] for i in range(6)][2], y[32:48])
    endless = data.repeat().batch(16).to_keras()
    c.same(endless.num_batches, None)
    c.raises(TypeError, lambda: len(endless), "infinite")
    model.fit(endless, epochs=2, steps_per_epoch=3, verbose=0)
    some = data.filter(lambda a, b: a[0] > 0).batch(16)
    c.raises(sd.errors.InvalidArgumentError, lambda: some.to_keras(), "num_batches")
    n = sum(1 for _ in some)
    model.fit(some.to_keras(n), epochs=2, verbose=0)
    tf_data = train.to_tf()
    history = model.fit(tf_data, epochs=2, validation_data=val.to_tf(), verbose=0)
    c.same(len(history.history["val_loss"]), 2)


def test_jax():
    if not has("jax"):
        c.raises(ImportError, lambda: dataset().to_jax(), "jax")
        return
    import jax

    out = list(dataset().to_jax())
    c.true(isinstance(out[0]["x"], jax.Array), "jax arrays")
    c.same(np.asarray(out[2]["x"]), X[4:])
    kept = list(sd.Dataset.range(100).map(lambda x: x + 1).batch(10).to_jax())
    c.same(np.concatenate([np.asarray(a) for a in kept]), np.arange(1, 101).astype(kept[0].dtype))
    c.same([np.asarray(a).tolist() for a in sd.Dataset.range(3).to_jax(jax.devices()[0], 2)], [0, 1, 2])
    text = next(iter(sd.Dataset.from_tensors((b"a", 1.0)).to_jax()))
    c.true(text[0] == b"a" and isinstance(text[1], jax.Array), "strings stay bytes")
    step = jax.jit(lambda w, x: w - 0.1 * (w - x).mean())
    w = 0.0
    for x in sd.Dataset.range(64).map(lambda x: sd.cast(x, "float32")).batch(8).to_jax():
        w = step(w, x)
    c.true(float(w) > 0, "a step takes them")
    c.same(len(dataset().to_jax()), 3)


def test_exchange():
    a = next(iter(sd.Dataset.range(10).batch(10)))
    c.same(np.from_dlpack(a), np.arange(10))
    c.same(memoryview(a).nbytes, 80)


c.main(globals())
