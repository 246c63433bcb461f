# SPDX-License-Identifier: Apache-2.0
"""Operations against NumPy: outside of functions, and traced, where both must agree."""

import numpy as np

import checks as c
import stoker.data as sd

X = np.array([[3.0, -1.5, 0.25], [2.0, 8.0, -4.0]], np.float32)
I = np.array([[5, 2, 9], [1, 7, 3]], np.int64)


def both(f, *values, want=None):
    """f(*values) eagerly and traced; compares with want."""
    have = f(*values)
    structure = values if len(values) > 1 else values[0]
    ds = sd.Dataset.from_tensors(structure).map(f)
    traced = next(iter(ds))
    c.true(ds._function.is_native, f"traced: {ds._function.why}")
    if isinstance(have, (list, tuple)):
        have = tuple(have)
    c.same(
        traced,
        have if not isinstance(have, np.ndarray) or have.ndim else have[()],
        "traced and eager",
    )
    if want is not None:
        c.same(have, want)


def test_argmax_of_bools():
    names = np.array([b"daisy", b"roses", b"tulips"], object)
    ds = sd.Dataset.from_tensor_slices(names).map(lambda n: sd.argmax(n == names))
    c.same(list(ds), [np.int64(0), np.int64(1), np.int64(2)])
    c.same(sd.argmin(np.array([True, False, True])), np.int64(1))


def test_arithmetic():
    both(lambda x: sd.maximum(x, 1.0), X, want=np.maximum(X, 1))
    both(lambda x: sd.clip_by_value(x, 0.0, 2.0), X, want=X.clip(0, 2))
    both(lambda x: sd.pow(x, 2), I, want=I**2)
    both(lambda x: sd.math.log1p(sd.abs(x)), X, want=np.log1p(np.abs(X)))
    both(lambda x: sd.sqrt(sd.square(x)), X, want=np.abs(X))
    both(lambda x: sd.sigmoid(x), X, want=1 / (1 + np.exp(-X)))
    both(lambda x: sd.round(x), X, want=np.round(X))
    both(lambda x: sd.floor(x) + sd.ceil(x), X, want=np.floor(X) + np.ceil(X))
    both(lambda x: sd.cast(x, "int32"), X, want=X.astype("i4"))
    both(lambda x: sd.saturate_cast(x, sd.uint8), X * 100, want=(X * 100).clip(0, 255).astype("u1"))
    both(lambda x: sd.where(x > 0, x, 0), X, want=np.where(X > 0, X, np.float32(0)))
    both(lambda x: sd.where(x > 0), X, want=np.argwhere(X > 0))


def test_broadcast_rows():
    """One row for all rows of an array, one value for each, and what is neither; whichever comes first."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(6, 5, 7, 40)).astype("f4")
    shapes = ((40,), (7, 40), (1, 1, 40), (5, 1, 1), (5, 7, 1), (1, 7, 40), (1,), (), (5, 1, 40), (1, 7, 1), (5, 7, 40))
    for shape in shapes:
        y = rng.normal(size=shape).astype("f4")
        have = sd.Dataset.from_tensor_slices(x).map(lambda a: (a - y, y / a, a > y))
        for got, v in zip(have, x):
            for one, want in zip(got, (v - y, y / v, v > y)):
                c.same(one, want, f"{shape}")
    few = rng.integers(1, 9, (6, 5, 1, 1))
    whole = rng.integers(0, 99, (6, 5, 3, 30))
    pairs = sd.Dataset.from_tensor_slices((whole, few))
    c.same(np.stack(list(pairs.map(lambda a, b: a // b))), whole // few, "a value for each row")
    few[3, 2] = 0
    pairs = sd.Dataset.from_tensor_slices((whole, few)).map(lambda a, b: a // b)
    it = iter(pairs)
    for i in range(6):
        if i == 3:
            c.raises(sd.errors.InvalidArgumentError, lambda: next(it), "division by zero")
        else:
            c.same(next(it), whole[i] // few[i], "beside the one that fails")


def test_normal_values():
    """Of any count, from the seed alone; their moments and how far they reach."""
    def drawn(shape, seed):
        ds = sd.Dataset.range(40).map(lambda i: sd.random.normal(shape, 1.0, 2.0))
        o = sd.Options()
        o.seed = seed
        return np.stack(list(ds.with_options(o)))

    z = (drawn([20001], 4) - 1) / 2
    c.same(drawn([20001], 4), drawn([20001], 4))
    for n in (0, 1, 2, 3, 255, 256, 257):
        c.same(drawn([n], 4), drawn([20001], 4)[:, :n], f"{n}")
    c.true(abs(z.mean()) < 0.005 and abs(z.std() - 1) < 0.005, "mean and deviation")
    c.true(abs((z**3).mean()) < 0.02 and abs((z**4).mean() - 3) < 0.05, "third and fourth moment")
    c.true(4 < abs(z).max() < 6 and abs((z[:, :-1] * z[:, 1:]).mean()) < 0.005, "tails and neighbours")


def test_clip():
    """Bounds for all values, for each value, for each element; values that are no numbers stay."""
    rng = np.random.default_rng(1)
    for dtype in ("float32", "float64", "float16", "int32", "int8", "uint8"):
        for shape in ((), (0,), (5,), (3, 7)):
            x = (rng.normal(size=(4, *shape)) * 50).astype(dtype)
            if dtype.startswith("f") and x.size:
                x.flat[0] = np.nan
            for low, high in ((3, 20), (np.zeros(shape), np.full(shape, 9))):
                low, high = np.asarray(low, dtype), np.asarray(high, dtype)
                ds = sd.Dataset.from_tensor_slices(x).map(lambda v: sd.clip_by_value(v, low, high))
                for got, v in zip(ds, x):
                    c.same(got, np.clip(v, low, high), f"{dtype} {shape} in {low.shape}")
    x, low = rng.normal(size=(6, 4)).astype("float32"), rng.normal(size=6).astype("float32")
    ds = sd.Dataset.from_tensor_slices((x, low, low + 1)).map(sd.clip_by_value)
    c.same(np.stack(list(ds)), np.clip(x, low[:, None], low[:, None] + 1), "bounds of each element")
    wide, rows = np.zeros((2, 4), "float32"), sd.Dataset.from_tensor_slices(x)
    c.raises(ValueError, lambda: rows.map(lambda v: sd.clip_by_value(v, wide, wide + 1)), "clip_by_value")
    c.raises(ValueError, lambda: rows.map(lambda v: sd.clip_by_value(v[:1], wide[0], wide[0])), "clip_by_value")
    ragged = sd.Dataset.from_generator(
        lambda: (np.zeros(n, "float32") for n in (4, 3)), output_signature=sd.TensorSpec((None,), "float32")
    )
    cut = iter(ragged.map(lambda v: sd.clip_by_value(v, wide[0] - 1, wide[0] + 1)))
    c.same(next(cut), wide[0])
    c.raises(sd.errors.InvalidArgumentError, lambda: next(cut), "bounds' shape")


def test_large_elements():
    """Blocks of one element, whose stride says nothing, beside a constant of several values."""
    images = np.zeros((6, 160, 160, 3), np.uint8)
    ds = sd.Dataset.from_tensor_slices(images)
    shapes = ds.map(lambda x: sd.shape(sd.cast(x, "float32")) - np.array([1, 2, 3], np.int32))
    for have in shapes:
        c.same(have, np.array([159, 158, 0], np.int32))
    for crop in ds.map(lambda x: sd.image.random_crop(sd.cast(x, "float32"), [150, 140, 3])):
        c.same(crop.shape, (150, 140, 3))


def test_shapes():
    both(lambda x: sd.reshape(x, [-1]), X, want=X.reshape(-1))
    both(lambda x: sd.reshape(x, (3, 2)), X, want=X.reshape(3, 2))
    both(lambda x: sd.reshape(x, [sd.shape(x)[1], 2]), X, want=X.reshape(3, 2))
    both(lambda x: sd.transpose(x), X, want=X.T)
    both(lambda x: sd.transpose(x, [1, 0]), X, want=X.T)
    both(lambda x: sd.expand_dims(x, -1), X, want=X[..., None])
    both(lambda x: sd.squeeze(sd.expand_dims(x, 0)), X, want=X)
    both(lambda x: sd.concat([x, x], 1), X, want=np.concatenate([X, X], 1))
    both(
        lambda x: sd.concat([x, [[1.0, 2.0, 3.0]]], 0),
        X,
        want=np.concatenate([X, [[1, 2, 3]]]).astype("f4"),
    )
    both(lambda x: sd.stack([x, x * 2]), X, want=np.stack([X, X * 2]))
    both(lambda x: sd.split(x, 3, axis=1), X, want=tuple(np.split(X, 3, 1)))
    both(lambda x: sd.split(x, [1, 2], axis=1), X, want=tuple(np.split(X, [1], 1)))
    both(lambda x: sd.unstack(x), X, want=tuple(X))
    both(lambda x: sd.tile(x, [2, 1]), X, want=np.tile(X, (2, 1)))
    both(lambda x: sd.pad(x, [[1, 0], [0, 2]]), X, want=np.pad(X, [[1, 0], [0, 2]]))
    both(lambda x: sd.pad(x, [[1, 1], [1, 1]], "REFLECT"), X, want=np.pad(X, 1, mode="reflect"))
    both(
        lambda x: sd.pad(x, [[0, 1], [0, 0]], constant_values=7),
        X,
        want=np.pad(X, [[0, 1], [0, 0]], constant_values=7),
    )
    both(lambda x: sd.reverse(x, [1]), X, want=X[:, ::-1])
    both(lambda x: sd.gather(x, [2, 0], axis=1), X, want=X[:, [2, 0]])
    both(lambda x: sd.slice(x, [0, 1], [2, -1]), X, want=X[:, 1:])
    both(lambda x: sd.boolean_mask(x, x > 0), X, want=X[X > 0])
    both(
        lambda x: (sd.shape(x), sd.size(x), sd.rank(x)),
        X,
        want=(np.array([2, 3], "i4"), np.int32(6), np.int32(2)),
    )
    both(lambda x: sd.ensure_shape(x, [None, 3]), X, want=X)


def test_reductions():
    for axis in (None, 0, 1, [0, 1], -1):
        ax = tuple(axis) if isinstance(axis, list) else axis
        both(lambda x: sd.reduce_sum(x, axis), X, want=np.asarray(X.sum(ax))[()])
        both(lambda x: sd.reduce_mean(x, axis, keepdims=True), X, want=X.mean(ax, keepdims=True))
        both(lambda x: sd.reduce_max(x, axis=axis), I, want=np.asarray(I.max(ax))[()])
    both(lambda x: sd.reduce_any(x > 7), X, want=np.bool_(True))
    both(lambda x: sd.argmax(x, 1), X, want=X.argmax(1))
    both(lambda x: sd.argmin(x), X, want=X.argmin(0))
    both(lambda x: sd.sort(x, direction="DESCENDING"), X, want=-np.sort(-X))
    both(lambda x: sd.argsort(x), X, want=X.argsort(1).astype("i4"))
    both(lambda x: sd.cumsum(x, axis=1), X, want=X.cumsum(1))
    both(lambda x: sd.norm(x, axis=1), X, want=np.linalg.norm(X, axis=1))
    both(lambda x: sd.matmul(x, x, transpose_b=True), X, want=X @ X.T)
    both(lambda x: x @ sd.transpose(x), X)


def test_composed():
    both(lambda x: sd.repeat(x, 2, axis=1), X, want=np.repeat(X, 2, 1))
    both(lambda x: sd.repeat(x, 3), X, want=np.repeat(X, 3))
    both(lambda x: sd.roll(x, [1, -2], [0, 1]), X, want=np.roll(X, (1, -2), (0, 1)))
    both(lambda x: sd.reduce_sum(sd.nn.softmax(x), 1), X, want=np.ones(2, "f4"))
    both(
        lambda x: sd.linalg.l2_normalize(x, axis=1),
        X,
        want=X / np.linalg.norm(X, axis=1, keepdims=True),
    )
    both(lambda x: sd.math.count_nonzero(x > 0), X, want=np.int64(4))
    both(lambda x: sd.meshgrid(x[0], x[1, :2]), X, want=tuple(np.meshgrid(X[0], X[1, :2])))
    both(lambda x: x[..., sd.newaxis], X, want=X[..., None])
    s = np.array([b"a", b"b"], object)
    both(
        lambda v: sd.strings.join([v, "x", v], "-"), s, want=np.array([b"a-x-a", b"b-x-b"], object)
    )


def test_making():
    both(lambda i: sd.one_hot(i, 10), I[0], want=np.eye(10, dtype="f4")[I[0]])
    both(lambda i: sd.one_hot(i, 4, 5, 1), I[0] % 4)
    both(lambda i: sd.zeros_like(i) + sd.ones_like(i), I, want=np.ones_like(I))
    both(lambda i: i + sd.zeros([2, 3], sd.int64), I, want=I)
    both(lambda i: sd.range(i[0, 1]), I, want=np.arange(2))
    both(lambda i: sd.fill([i[0, 1], 2], 1.5), I, want=np.full((2, 2), 1.5, "f4"))
    c.same(sd.range(1, 9, 3), np.arange(1, 9, 3, dtype="i4"))
    c.same(sd.constant([1, 2]), np.array([1, 2], "i4"))
    c.same(sd.zeros([2], "string"), np.array([b"", b""], object))


def test_strings():
    s = np.array([b"Ab", b" cd "], object)
    both(lambda v: sd.strings.lower(v), s, want=np.array([b"ab", b" cd "], object))
    both(lambda v: sd.strings.strip(v), s, want=np.array([b"Ab", b"cd"], object))
    both(lambda v: sd.strings.length(v), s, want=np.array([2, 4], "i4"))
    both(lambda v: sd.strings.substr(v, 1, 2), s, want=np.array([b"b", b"cd"], object))
    both(
        lambda v: sd.strings.to_number(v, sd.int32),
        np.array([b"12", b"-3"], object),
        want=np.array([12, -3], "i4"),
    )
    both(
        lambda v: sd.strings.split(v, ","),
        np.array(b"a,b,c", object),
        want=np.array([b"a", b"b", b"c"], object),
    )
    both(lambda v: v + b"!", s, want=np.array([b"Ab!", b" cd !"], object))
    both(lambda v: v == b"Ab", s, want=np.array([True, False]))
    both(
        lambda v: sd.io.decode_raw(v, sd.uint8),
        np.array(b"abc", object),
        want=np.frombuffer(b"abc", "u1"),
    )
    both(lambda v: sd.as_string(v), np.array([1, 22]), want=np.array([b"1", b"22"], object))


def test_random():
    ds = sd.Dataset.range(1000).map(lambda _: sd.random.uniform([3], 2.0, 5.0))
    o = sd.Options()
    o.seed = 7
    a = np.stack(list(ds.with_options(o)))
    b = np.stack(list(ds.with_options(o)))
    c.same(a, b)
    c.true(
        ((a >= 2) & (a < 5)).all() and len(np.unique(a)) > 2900 and abs(a.mean() - 3.5) < 0.1,
        "uniform",
    )
    epochs = iter(ds.take(2).repeat(2).with_options(o))
    first, _, second, _ = (next(epochs) for _ in range(4))
    c.true((first != second).any(), "epochs differ")
    n = np.stack(list(sd.Dataset.range(2000).map(lambda _: sd.random.normal([], 1.0, 2.0))))
    c.true(abs(n.mean() - 1) < 0.3 and abs(n.std() - 2) < 0.3, "normal")
    sd.random.set_seed(3)
    x = sd.random.uniform([4])
    sd.random.set_seed(3)
    c.same(sd.random.uniform([4]), x)
    c.true((sd.random.uniform([4]) != x).any(), "draws go on")
    sd.random.set_seed(None)
    s = (
        sd.Dataset.from_tensors(np.arange(50))
        .map(lambda v: sd.random.shuffle(v, seed=1))
        .get_single_element()
    )
    c.true(sorted(s) == list(range(50)) and list(s) != list(range(50)), "shuffled")


def test_images():
    im = (np.arange(8 * 6 * 3) % 251).astype("u1").reshape(8, 6, 3)
    both(lambda v: sd.image.flip_left_right(v), im, want=im[:, ::-1])
    both(lambda v: sd.image.convert_image_dtype(v, sd.float32), im, want=(im / np.float32(255)))
    both(lambda v: sd.image.crop_to_bounding_box(v, 1, 2, 3, 4), im, want=im[1:4, 2:6])
    both(lambda v: sd.image.central_crop(v, 0.5), im)
    both(lambda v: sd.image.resize(v, [4, 3]), im)
    both(lambda v: sd.image.resize(v, [4, 3], method=sd.image.ResizeMethod.NEAREST_NEIGHBOR), im)
    both(lambda v: sd.image.adjust_brightness(v, 0.1), im)
    png = sd.image.encode_png(im)
    both(lambda v: sd.image.decode_png(v), np.array(png, object), want=im)
    crop = sd.Dataset.from_tensors(im).repeat(20).map(lambda v: sd.image.random_crop(v, [4, 4, 3]))
    crops = [e for e in crop]
    c.true(
        all(e.shape == (4, 4, 3) for e in crops) and len({e.tobytes() for e in crops}) > 3,
        "random_crop",
    )
    c.same(crop.element_spec, sd.TensorSpec((4, 4, 3), "uint8"))


def test_random_resized_crop():
    rng = np.random.default_rng(5)
    im = rng.integers(0, 256, (60, 48, 3)).astype(np.uint8)
    crop = sd.image.random_resized_crop
    mean, std = np.float32([0.5, 0.4, 0.3]), np.float32([0.2, 0.3, 0.1])
    # The whole image at its own size: only mirroring and the format are left.
    whole = {"scale": (1.0, 1.0), "ratio": (0.8, 0.8)}
    c.same(crop(im, [60, 48], flip=0, **whole), im)
    unasked = sd.Dataset.from_tensors(im).repeat(40).map(lambda v: crop(v, [60, 48], **whole))
    c.true(all(np.array_equal(v, im) for v in unasked), "never mirrored unless asked to")
    c.same(crop(im, [60, 48], flip=1, **whole), im[:, ::-1])
    c.same(crop(im, [60, 48], flip=0, planar=True, **whole), im.transpose(2, 0, 1))
    floats = (im / np.float32(255) - mean) / std
    c.same(crop(im, [60, 48], flip=0, mean=mean, std=std, **whole), floats)
    c.same(
        crop(im, [60, 48], flip=1, mean=mean, std=std, planar=True, **whole),
        np.ascontiguousarray(floats[:, ::-1].transpose(2, 0, 1)),
    )
    for channels in (1, 2, 4):
        some = rng.integers(0, 256, (60, 48, channels)).astype(np.uint8)
        c.same(crop(some, [60, 48], flip=0, **whole), some)
        c.same(
            crop(some, [60, 48], flip=0, mean=[0.5] * channels, **whole),
            some / np.float32(255) - np.float32(0.5),
        )
    # Pixels that tell their places tell which part was taken: of the area and ratio wanted, inside.
    places = np.stack(np.meshgrid(np.arange(200), np.arange(200), indexing="ij"), -1).astype("u1")
    ds = sd.Dataset.from_tensors(places).repeat(300).map(lambda v: crop(v, [40, 40], flip=0.5, seed=3))
    parts = np.array(list(ds)).astype(int)
    height, width = (parts.max((1, 2)) - parts.min((1, 2)) + 1).T
    c.true(np.all(height * width >= 0.06 * 200**2) and np.all(width / height < 1.5), "parts")
    c.true(height.min() < 80 and height.max() > 150 and len(set(parts[:, 0, 0, 0])) > 50, "spread")
    mirrored = parts[:, 0, -1, 1] < parts[:, 0, 0, 1]
    c.true(100 < mirrored.sum() < 200, "half of them mirrored")
    # The same parts as of a JPEG, with any number of threads.
    data = sd.image.encode_jpeg(np.kron(im, np.ones((3, 3, 1), np.uint8)))
    files = sd.Dataset.from_tensors(data).repeat(20)
    one = files.map(lambda d: sd.image.jpeg_random_resized_crop(d, [32, 32], flip=0.5, seed=9))
    two = files.map(lambda d: crop(sd.image.decode_jpeg(d, channels=3), [32, 32], flip=0.5, seed=9), 3)
    c.same(list(two), list(one))
    c.raises(ValueError, lambda: crop(im.astype("f4"), [4, 4]), "takes a uint8 image")
    c.raises(ValueError, lambda: crop(im, [4, 4], mean=[0.5]), "mean and std 3")
    c.raises(ValueError, lambda: crop(im, [4]), "size needs two sides")


def test_errors():
    c.raises(TypeError, lambda: sd.add(X, I))
    c.raises(TypeError, lambda: sd.add(X))
    c.raises(ValueError, lambda: sd.reshape(X, [4]))
    c.raises(ValueError, lambda: sd.Dataset.from_tensors(X).map(lambda x: sd.reshape(x, [4])))
    c.raises(ValueError, lambda: sd.pad(X, [[1, 1], [1, 1]], "NO"))
    for begin in (-1, 3, 2**63 - 1, -(2**63)):
        c.raises(ValueError, lambda: sd.slice(X, [begin, 0], [2**62, 1]), f"from place {begin} of dimension 0")
    c.raises(ValueError, lambda: sd.pad(X, [[-1, 1], [1, 1]]), "paddings -1 and 1")
    c.raises(ValueError, lambda: sd.pad(X, [[2**62, 2**62], [1, 1]]), "paddings")
    c.raises(ValueError, lambda: sd.tile(X, [2**62, 1]), "can't be repeated 4611686018427387904 times")
    c.raises(ValueError, lambda: sd.tile(X, [-1, 1]), "can't be repeated -1 times")


def test_moves():
    """Transposed, sliced with steps, reversed: shapes and sizes of values at random, as NumPy has it."""
    rng = np.random.default_rng(8)
    for k in range(120):
        rank = int(rng.integers(1, 5))
        shape = rng.integers(k % 7 != 0, 7, rank)
        a = (rng.random(shape) * 100).astype(["u1", "i2", "f4", "i8", "f2"][k % 5])
        perm = [int(i) for i in rng.permutation(rank)]
        at = [None if v > 7 else int(v) for v in rng.integers(-7, 11, 2 * rank)]
        steps = [int(v) for v in rng.choice([1, 2, -1, -2, 3], rank)]
        cut = tuple(slice(at[2 * i], at[2 * i + 1], steps[i]) for i in range(rank))
        axis = perm[0]
        ds = sd.Dataset.from_tensors(a)
        ds = ds.map(lambda x: (sd.transpose(x, perm), x[cut], sd.reverse(x, [axis])))
        for have, want in zip(next(iter(ds)), (a.transpose(perm), a[cut], np.flip(a, axis))):
            c.same(have, want, f"{a.dtype}{a.shape} {perm} {cut} {axis}")


def test_large_parts_are_shared():
    """A pad whose front is kept, and other long runs: values, batches that can be written, and no more memory kept."""
    rng = np.random.default_rng(9)
    x = rng.normal(size=(300, 129)).astype("f4")
    kept = np.pad(x, [[0, 200], [0, 0]])
    cases = (
        (lambda v: sd.pad(v, [[0, 200], [0, 0]])[:400, :], kept[:400]),
        (lambda v: sd.pad(v, [[3, 200], [2, 1]], constant_values=7.0), np.pad(x, [[3, 200], [2, 1]], constant_values=7)),
        (lambda v: v[20:280], x[20:280]),
        (lambda v: sd.slice(v, [20, 0], [260, 129]), x[20:280]),
        (lambda v: v[:, 1:], x[:, 1:]),
        (lambda v: v[:20], x[:20]),
        (lambda v: v[sd.newaxis, 100:], x[None, 100:]),
    )
    for f, want in cases:
        ds = sd.Dataset.from_tensors(x).repeat(5).map(f)
        for have in ds:
            c.same(have, want)
        for batch in ds.batch(2):
            c.same(batch, np.stack([want] * len(batch)))
            batch[:] = -1
        c.same(next(iter(ds.batch(5)))[4], want)


def test_powers_with_a_shorter_way():
    """Those of one half, 1 and 2 beside the C library's, for one exponent and for an array of them."""
    x = np.array([0.0, -0.0, 2.0, 1e-30, 3e38, np.inf, -np.inf, np.nan, -1.0, 0.1], np.float32)
    for e in (0.5, 1.0, 2.0, -0.5):
        with np.errstate(all="ignore"):
            want = np.power(x.astype("f8"), np.full(len(x), e)).astype("f4")
        some = ~np.isnan(want)
        for power in (np.float32(e), np.full_like(x, e)):
            have = np.asarray(sd.pow(x, power))
            c.true(np.allclose(have, want, rtol=2e-7, atol=0, equal_nan=True), f"{e}: {have}")
            c.same(np.signbit(have)[some], np.signbit(want)[some], f"signs of {e}")


c.main(globals())
