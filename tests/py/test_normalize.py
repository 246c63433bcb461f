# SPDX-License-Identifier: Apache-2.0
"""to_device(normalize=...): the same bits on the host, on a fake CUDA device and by NumPy; structures,
layouts, what is refused, on_error, and random operations that draw the same on both."""

import ctypes
import gc
import os
import pathlib

import numpy as np

import checks as c
import stoker.data as sd

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FAKE = os.environ.get("STOKER_FAKE_CUDA", ROOT / "build/release/tests/fake/libcuda.so.1")
LIB = ctypes.CDLL(os.fspath(FAKE)) if os.path.exists(FAKE) else None
DEVICES = ["cpu"] + (["cuda:1"] if LIB else [])
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
E = sd.errors.InvalidArgumentError
BYTES = np.random.default_rng(7).integers(0, 256, (20, 9, 11, 3), np.uint8)


def by_numpy(x, mean, std, max_value=255.0, planar=False):
    """As documented, written a second time."""
    mean, std = np.asarray(mean, "f4").astype("f8"), np.asarray(std, "f4").astype("f8")
    scale = (1 / (max_value * std)).astype(np.float32)
    offset = (-mean / std).astype(np.float32)
    product = x.astype(np.float32) * scale
    y = product + offset
    return np.moveaxis(y, -1, -3) if planar else y


def host(v):
    return v.numpy() if isinstance(v, sd.DeviceArray) else v


def check_fake(what):
    if LIB:
        gc.collect()
        out = (ctypes.c_uint64 * 16)()
        LIB.fake_cuda_misuse.restype = ctypes.c_char_p
        LIB.fake_cuda_counts(out)
        c.same((LIB.fake_cuda_misuse(), list(out[3:7])), (b"", [0, 0, 0, 0]), what)


def same_bits(a, b, what=""):
    a, b = np.ascontiguousarray(host(a)), np.ascontiguousarray(b)
    same = (a.dtype, a.shape) == (b.dtype, b.shape) and a.tobytes() == b.tobytes()
    c.true(same, f"{what}: {a.dtype}{a.shape} is not {b.dtype}{b.shape}, or other bits")


def test_values():
    """Every byte in every channel, alone and in batches, through slots and pinned memory."""
    rng = np.random.default_rng(3)
    all_bytes = np.arange(256, dtype=np.uint8)
    for channels in (1, 2, 3, 4, 5, 13):
        mean, std = rng.uniform(0, 1, channels), rng.uniform(0.01, 1, channels)
        rows = np.stack([np.roll(all_bytes, 31 * k) for k in range(channels)], -1)
        many = np.broadcast_to(rows, (12, 80, 256, channels))  # a batch of 4: beyond 64 KiB
        for device in DEVICES:
            flat = sd.Dataset.from_tensors(rows).to_device(device, normalize=(mean, std))
            same_bits(next(iter(flat)), by_numpy(rows, mean, std), f"{device} {channels}")
            for planar in (False, True):
                rule = sd.Normalize(mean, std, planar=planar)
                ds = sd.Dataset.from_tensor_slices(many).map(lambda x: x, sd.AUTOTUNE)
                ds = ds.shuffle(12, seed=1).batch(4).to_device(device, normalize=rule)
                n = 0
                for x in ds:
                    same_bits(x, by_numpy(many[:4], mean, std, planar=planar), f"{device} {rule}")
                    c.same(list(x.shape[1:]), list(ds.element_spec.shape[1:]))
                    n += len(x)
                c.same((n, ds.element_spec.dtype), (12, np.dtype("f4")))
    del x, ds, flat
    check_fake("values")


def test_units():
    for device in DEVICES:
        ds = sd.Dataset.from_tensors(BYTES)
        for args in ((0.5, 0.25), (MEAN, 0.2), (0.4, STD), ((127.5,), (127.5,), 1), (3.0, 9, 16)):
            got = next(iter(ds.to_device(device, normalize=sd.Normalize(*args))))
            same_bits(got, by_numpy(BYTES, *args), f"{device} {args}")
        scalar = sd.Dataset.from_tensor_slices(BYTES[0, 0, 0]).to_device(device, normalize=(0.5, 0.5))
        c.same([host(v).shape for v in scalar], [()] * 3)
        same_bits(np.array([float(host(v)) for v in scalar], "f4"), by_numpy(BYTES[0, 0, 0], 0.5, 0.5))
        empty = sd.Dataset.from_tensors(BYTES[:0]).to_device(device, normalize=(MEAN, STD))
        c.same(host(next(iter(empty))).shape, (0, 9, 11, 3))
        made = sd.Dataset.from_tensors(BYTES[:, :0]).to_device(
            device, normalize=sd.Normalize(MEAN, STD, planar=True)
        )
        c.same(host(next(iter(made))).shape, (20, 3, 0, 11))
    del got, scalar, empty, made
    check_fake("units")


def test_structures():
    """One of several components; the others as they are."""
    labels, masks = np.arange(20), BYTES[..., 0].copy()
    names = [b"%d" % i for i in range(20)]
    dicts = sd.Dataset.from_tensor_slices({"y": labels, "x": BYTES, "m": masks, "s": names}).batch(5)
    pairs = sd.Dataset.from_tensor_slices((BYTES, labels)).batch(5)
    nested = sd.Dataset.from_tensor_slices(({"a": BYTES, "b": masks}, labels)).batch(5)
    want = by_numpy(BYTES[:5], MEAN, STD)
    for device in DEVICES:
        for keep in (False, True):
            d = dicts.to_device(device, keep=keep, normalize={"x": (MEAN, STD), "m": (0, 1)})
            for _ in range(2):
                e = next(iter(list(d)))
                same_bits(e["x"], want)
                same_bits(e["m"], by_numpy(masks[:5], 0, 1))
                same_bits(e["y"], labels[:5])
                c.same(list(e["s"]), names[:5])
            c.same((d.element_spec["x"].dtype, d.element_spec["y"]), (np.dtype("f4"), dicts.element_spec["y"]))
        for n in ((MEAN, STD), {0: (MEAN, STD)}):
            x, y = next(iter(pairs.to_device(device, normalize=n)))
            same_bits(x, want)
            same_bits(y, labels[:5])
        (d, _) = next(iter(nested.to_device(device, normalize={(0, "a"): (MEAN, STD)})))
        same_bits(d["a"], want)
        same_bits(d["b"], masks[:5])
    del d, _, e, x, y
    check_fake("structures")


def test_refused():
    def no(ds, normalize, *words):
        for device in DEVICES:
            c.raises(E, lambda: ds.to_device(device, normalize=normalize), *words)

    one = sd.Dataset.from_tensor_slices(BYTES)
    two = sd.Dataset.from_tensor_slices({"a": BYTES, "b": BYTES[..., :1]})
    no(two, (0.5, 0.5), "not 2", "['a'] uint8", "a dict says which")
    no(sd.Dataset.range(3), (0.5, 0.5), "not 0", "int64")
    no(two, {"c": (0, 1)}, "no component ['c']", "['a']")
    no(sd.Dataset.from_tensor_slices((BYTES, BYTES[:, 0, 0, 0].astype("i4"))), {1: (0, 1)}, "int32", "uint8")
    no(one, ((0.1, 0.2), (0.1, 0.2)), "2 channels", "3")
    no(one, ((0.1, 0.2), (0.1, 0.2, 0.3)), "2 channels", "3")
    no(one, ((123.7, 116.3, 103.5), (58.4, 57.1, 57.4)), "from 0 to 1", "max_value=1")
    no(one, (0.5, 0), "positive")
    no(one, (0.5, -1), "positive")
    no(one, (float("nan"), 1), "a number")
    no(one, (1, 1e-40), "float32")
    no(one, 0.5, "(mean, std)")
    no(one, "imagenet", "(mean, std)")
    no(sd.Dataset.from_tensor_slices(BYTES[:, 0, 0]), sd.Normalize(MEAN, STD, planar=True), "height")
    no(sd.Dataset.from_tensor_slices(BYTES[:, 0, 0, 0]), (MEAN, STD), "is not there")
    c.raises(E, lambda: sd.Normalize(0, 1, max_value=0), "max_value")
    c.same(repr(sd.Normalize(0.5, 0.25)), "Normalize(mean=0.5, std=0.25)")
    check_fake("refused")


def of_channels(numbers):
    """Elements of shape (2, None): one for each number, with as many channels."""
    ds = sd.Dataset.from_tensor_slices(np.array(numbers))
    ds = ds.map(lambda n: sd.cast(sd.fill([2, n], n * 10), "uint8"))
    return ds.map(lambda x: sd.ensure_shape(x, [2, None]))


def seen(ds):
    it, out = iter(ds), []
    while True:
        try:
            out.append(host(next(it)))
        except StopIteration:
            return out
        except E as e:
            out.append(str(e))


def with_policy(ds, policy):
    o = sd.Options()
    o.on_error = policy
    return ds.with_options(o)


def test_on_error():
    """Elements whose channels are only seen when they come, and those of a replacement."""
    ds = of_channels([3, 3, 2, 3])
    c.same(tuple(ds.element_spec.shape), (2, None))
    good = by_numpy(np.full((2, 3), 30, np.uint8), MEAN, STD)
    instead = np.array([[1, 2, 3], [4, 5, 6]], np.uint8)
    for device in DEVICES:
        stopped = seen(ds.to_device(device, normalize=(MEAN, STD)))
        c.same([isinstance(v, str) for v in stopped], [False, False, True, False], device)
        same_bits(stopped[3], good)
        skipped = seen(with_policy(ds, "skip").to_device(device, normalize=(MEAN, STD)))
        c.same(len(skipped), 3)
        d = with_policy(ds, ("replace", instead)).to_device(device, normalize=(MEAN, STD))
        for _ in range(2):
            replaced = seen(d)
            c.same(len(replaced), 4)
            same_bits(replaced[2], by_numpy(instead, MEAN, STD), device)
            same_bits(replaced[0], good)
        c.same(d.stats().get("replaced"), 1 if device != "cpu" else None)
        wrong = with_policy(ds, ("replace", np.zeros((2, 3), "f4")))
        if device == "cpu":
            c.raises(E, lambda: wrong.to_device(device, normalize=(MEAN, STD)), "replacement")
    del d
    check_fake("on_error")


def test_replace():
    """Without normalizing: a replacement is an element like others, on the device as well."""
    ds = sd.Dataset.range(6).map(lambda x: {"v": 12 // (x - 2), "s": sd.as_string(x)})
    for device in DEVICES:
        d = with_policy(ds, ("replace", {"v": -1, "s": b"none"})).to_device(device)
        for _ in range(2):
            out = [(int(host(e["v"])), e["s"]) for e in d]
            c.same(out, [(-6, b"0"), (-12, b"1"), (-1, b"none"), (12, b"3"), (6, b"4"), (4, b"5")])
    if LIB:
        for bad in (-1, (1, b""), {"v": -1}, {"v": -1, "t": b""}):
            d = with_policy(ds, ("replace", bad)).to_device("cuda:1")
            c.raises(E, lambda: next(iter(d)), "replace")
        d = with_policy(ds, ("replace", {"v": -1, "s": b""})).to_device("cuda:1")
        LIB.fake_cuda_fail(b"cuMemcpyHtoDAsync_v2", 4, 1, 700)
        c.raises(sd.errors.OpError, lambda: list(d), "700")  # the device's are not of elements
        LIB.fake_cuda_fail(b"", 1, 0, 0)
    del d
    check_fake("replace")


def test_same_draws():
    """Shuffles and random values are the same with and without a device, epoch after epoch."""
    o = sd.Options()
    o.seed = 5
    ds = sd.Dataset.from_tensor_slices(BYTES).shuffle(20)
    ds = ds.map(sd.image.random_flip_left_right).batch(6).with_options(o)
    plain = [[np.asarray(e) for e in ds] for _ in range(3)]
    c.true(any((a != b).any() for a, b in zip(plain[0], plain[1])), "epochs differ")
    for device in DEVICES:
        for normalize in (None, (MEAN, STD)):
            d = ds.with_options(o).to_device(device, normalize=normalize)
            for epoch in plain:
                for a, b in zip(d, epoch):
                    same_bits(a, by_numpy(b, MEAN, STD) if normalize else b, device)
    del d, a
    check_fake("draws")


def test_as_one_operation():
    """jpeg_random_resized_crop normalizes by the same formula."""
    files = [bytes(sd.io.encode_jpeg(BYTES[i].repeat(4, 0).repeat(4, 1))) for i in range(8)]
    ds = sd.Dataset.from_tensor_slices(np.array(files, object))
    for planar in (False, True):
        whole = ds.map(
            lambda f: sd.image.jpeg_random_resized_crop(f, (8, 8), flip=0.5, mean=MEAN, std=STD, planar=planar, seed=3)
        )
        late = ds.map(lambda f: sd.image.jpeg_random_resized_crop(f, (8, 8), flip=0.5, seed=3))
        rule = sd.Normalize(MEAN, STD, planar=planar)
        for device in DEVICES:
            for a, b in zip(late.to_device(device, normalize=rule), whole):
                same_bits(a, b, f"{device} {planar}")
    del a
    check_fake("operation")


def test_reports():
    ds = sd.Dataset.from_tensor_slices(BYTES).batch(10)
    for device in DEVICES:
        d = ds.to_device(device, normalize=sd.Normalize(MEAN, STD, planar=True))
        text = d.explain()
        for word in ("normalize the component", "x * scale + offset", "Normalize(mean=(0.485", "as it runs"):
            c.true(word in text, f"{word} in\n{text}")
        c.true(("on the device, bytes" in text) == (device != "cpu"), text)
        c.same((len(d), d.cardinality()), (2, 2))
        if device == "cpu":
            continue
        out = list(d)
        s = d.stats()
        c.same((s["launches"], s["elements"]), (2, 2))
        c.true(BYTES.size <= s["copied_bytes"] < 2 * BYTES.size, "bytes crossed")
        i = out[1].__cuda_array_interface__
        c.same((i["shape"], i["typestr"]), ((10, 3, 9, 11), "<f4"))
        c.true("dltensor" in repr(out[1].__dlpack__(stream=1)), "a capsule")
        c.same(repr(out[0]), "<DeviceArray cuda:1 shape=(10, 3, 9, 11) dtype=float32>")
        del out
    del d
    check_fake("reports")


def test_to_torch():
    try:
        import torch  # noqa: F401
    except ImportError:
        c.skip("no torch")
        return
    ds = sd.Dataset.from_tensor_slices((BYTES, np.arange(20))).batch(5)
    x, y = next(iter(ds.to_torch(normalize=sd.Normalize(MEAN, STD, planar=True))))
    same_bits(x.numpy(), by_numpy(BYTES[:5], MEAN, STD, planar=True))
    same_bits(y.numpy(), np.arange(5))


def in_place(x):
    return (sd.cast(x, "float32") / 255.0 - np.float32(MEAN)) / np.float32(STD)


def planes(x):
    return sd.transpose(sd.cast(x, "float32") * 0.0078125 - 1.0, [2, 0, 1])


def flipped(x):
    return 255.0 - sd.cast(sd.image.random_flip_left_right(x), "float32")


LAST = [  # (function of an image, is it left to the device)
    (in_place, True),
    (planes, True),
    (flipped, True),
    (lambda x: sd.cast(x, "float32"), True),
    (lambda x: sd.image.convert_image_dtype(x, "float32"), True),
    (lambda x: (sd.cast(x, "float32") - 128) * np.float32([1, 0.5, -2]), True),
    (lambda x: (sd.cast(x, "float32") / np.float32([0, 1, 3])), True),  # infinite, not a number
    (lambda x: {"x": in_place(x), "raw": x, "size": sd.size(x)}, True),
    (lambda x: (planes(x), in_place(x)), True),
    (lambda x: sd.tanh(in_place(x)), False),
    (lambda x: sd.transpose(in_place(x), [1, 0, 2]), False),
    (lambda x: sd.cast(x, "float32") * sd.random.uniform([]), False),
    (lambda x: sd.cast(x, "float64"), False),
    (lambda x: sd.cast(x[:2, :2], "float32"), False),  # too few of them
    (lambda x: sd.reduce_mean(in_place(x)), False),
    (lambda x: (lambda y: (y, sd.reduce_max(y)))(in_place(x)), False),  # the host needs it
]
STAGES = [
    lambda ds: ds.batch(5),
    lambda ds: ds.batch(4, drop_remainder=True).prefetch(2),
    lambda ds: ds.shuffle(8).repeat(2).batch(6).take(4).skip(1),
    lambda ds: ds.batch(3).batch(2),
    lambda ds: ds.shard(2, 1),
]


def test_left_to_the_device():
    """What the last map computes of bytes comes as on the host, and crosses as bytes."""
    if not LIB:
        return
    o = sd.Options()
    o.seed = 4
    images = np.random.default_rng(5).integers(0, 256, (20, 24, 20, 3), np.uint8)
    source = sd.Dataset.from_tensor_slices(images).shuffle(20)
    for k, (f, is_left) in enumerate(LAST):
        for m, stages in enumerate(STAGES):
            ds = stages(source.map(f, sd.AUTOTUNE if k % 2 else None)).with_options(o)
            d = ds.with_options(o).to_device("cuda:1")  # epochs of its own
            what = f"function {k}, stages {m}"
            plan = d.explain()
            is_there = "* arithmetic on the device" in plan
            c.true(is_there == is_left, f"{what}:\n{plan}")
            c.true("arithmetic on the device" not in ds.explain(), what)
            for epoch in range(2):
                want = list(ds)
                have = list(d)
                c.same(len(have), len(want), what)
                for a, b in zip(have, want):
                    for x, y in zip(leaves(a), leaves(b)):
                        same_bits(x, np.asarray(y), what)
            s = d.stats()
            c.true((s["launches"] > 0) == is_left, f"{what}: {s}")
            c.true(s["launches"] % max(len(want), 1) == 0, f"{what}: {s}")
            del d, have, a, x
            written = sd.Options()
            written.rewrites = False
            as_written = ds.with_options(written).to_device("cuda:1")
            c.true("on the device" not in as_written.explain(), "as written")
            for a, b in zip(as_written, list(ds.with_options(o))):
                same_bits(leaves(a)[0], np.asarray(leaves(b)[0]), what)
            c.same(as_written.stats()["launches"], 0)
            del as_written, a
    check_fake("left to the device")


def test_left_with_others():
    """Beside a component that normalize names; some of the results of a function and not others."""
    if not LIB:
        return
    many = np.concatenate([BYTES] * 3).repeat(4, 1)
    ds = sd.Dataset.from_tensor_slices(many).map(lambda x: (x, in_place(x), x[0, 0, 0])).batch(10)
    d, n = ds.to_device("cuda:1", normalize={0: (MEAN, STD)}), 0
    for (a, b, k), (_, b_host, k_host) in zip(d, ds):
        same_bits(a, by_numpy(many[n : n + 10], MEAN, STD))
        same_bits(b, b_host)
        same_bits(k, k_host)
        n += 10
    c.same(d.stats()["launches"], 12)
    del a, b, k, d
    check_fake("with others")


def test_kernels_fail():
    """The driver does not take them, or they do not look up what they should: an error for who asks
    for them, the host's arithmetic for who does not."""
    if not LIB:
        return
    x = BYTES.repeat(8, 2)
    ds = sd.Dataset.from_tensor_slices(x).map(in_place).batch(5)
    raw = sd.Dataset.from_tensor_slices(x).batch(5)
    LIB.fake_cuda_devices(4)  # devices that have none yet
    for device, word in ((2, "218"), (3, "computes values that differ")):
        if word == "218":
            LIB.fake_cuda_fail(b"cuModuleLoadDataEx", 1, 99, 218)
        LIB.fake_cuda_wrong(int(word != "218"))
        asked = raw.to_device(f"cuda:{device}", normalize=(MEAN, STD))
        c.raises(sd.errors.OpError, lambda: next(iter(asked)), word)
        d = ds.to_device(f"cuda:{device}")
        for a, b in zip(d, ds):
            same_bits(a, b, word)
        c.same(d.stats()["launches"], 0)
        LIB.fake_cuda_fail(b"", 1, 0, 0)
        LIB.fake_cuda_wrong(0)
        for a, b in zip(d, ds):
            same_bits(a, b, word)
        c.same(d.stats()["launches"], 4)
        same_bits(next(iter(asked)), by_numpy(x[:5], MEAN, STD))
    LIB.fake_cuda_devices(2)
    del a, d, asked
    check_fake("kernels that fail")


def leaves(e):
    if isinstance(e, dict):
        return [e[k] for k in sorted(e)]
    return list(e) if isinstance(e, tuple) else [e]


c.main(globals())
