# SPDX-License-Identifier: Apache-2.0
"""Edge cases of the API, as in TensorFlow 2.21: the expected values are its own."""

import numpy as np

import checks as c
import stoker.data as sd

D = sd.Dataset


def both(f, *values):
    """f(*values) eagerly; traced, it must give the same. Structures of arrays come as tuples."""
    have = f(*values)
    have = tuple(have) if isinstance(have, list) else have
    traced = next(iter(D.from_tensors(tuple(values)).map(f)))
    c.same(traced, have if not isinstance(have, np.ndarray) or have.ndim else have[()])
    return have


def spec(f, value):
    return D.from_tensors(value).map(f).element_spec


def test_means_of_integers():
    for dtype in ("uint8", "int8", "uint16", "int16", "int32", "uint32"):
        most = np.iinfo(dtype).max
        x = np.full((5, 7, 3), most, dtype)
        c.same(both(sd.reduce_mean, x), x[0, 0, 0])
        c.same(both(lambda v: sd.reduce_mean(v, axis=0), x), x[0])
        c.same(both(lambda v: sd.reduce_mean(v, axis=[0, 2]), x), x[0, :, 0])
    c.same(both(sd.reduce_mean, np.array([-7, 0, 0], np.int32)), np.int32(-2))


def test_division():
    x, y = np.array([7, 1], np.int32), np.array([2, 0], np.int32)
    c.same(both(sd.math.divide_no_nan, x, y), np.array([3.5, 0]))
    c.same(both(sd.math.divide_no_nan, x.astype("u1"), y.astype("u1")), np.array([3.5, 0], "f4"))


def test_half_precision():
    x = np.array([1, 5, -2], np.float16)
    c.same(both(sd.argmax, x), np.int64(1))
    c.same(both(sd.sort, x), np.sort(x))
    c.same(both(sd.argsort, x), np.array([2, 0, 1], np.int32))


def test_saturation():
    x = np.array([1e300, -1e300, 0.5])
    c.same(both(lambda v: sd.saturate_cast(v, "float16"), x), np.array([65504, -65504, 0.5], "f2"))
    most = np.finfo(np.float32).max
    c.same(both(lambda v: sd.saturate_cast(v, "float32"), x), np.array([most, -most, 0.5], "f4"))


def test_where():
    x = np.array([[0, 1], [2, 0]], np.int32)
    c.same(both(sd.where, x), np.array([[0, 1], [1, 0]]))


def test_gather():
    x = np.arange(60, dtype=np.int32).reshape(3, 4, 5)
    at = np.array([[0, 3], [1, 1], [2, 0]], np.int32)
    want = np.take_along_axis(x, at[:, :, None], 1)
    c.same(both(lambda v, i: sd.gather(v, i, batch_dims=1), x, at), want)
    c.same(both(lambda v, i: sd.gather(v, i, axis=1, batch_dims=-1), x, at), want)
    c.raises(ValueError, lambda: sd.gather(x, at + 1, batch_dims=1))  # not the next row's
    c.same(both(lambda v: sd.gather_nd(v, [[0, 1], [2, 3]]), x), x[[0, 2], [1, 3]])
    c.raises(ValueError, lambda: sd.gather_nd(x, [[0, 4]]))


def test_index_is_a_list_of_slices():
    """It is the tuple of the same parts, of a symbolic value and of an array in a function that runs as Python."""
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    new = [slice(None)] + [None] * 2

    def parts(v):
        return v[new], v[[slice(1, None), 0]], v[[Ellipsis, 1]], v[[1, 0]]

    def as_python(v):
        return parts(v) if int(v[0, 0, 0]) == 0 else v  # a condition on a value can't be traced

    want = x[:, None, None], x[1:, 0], x[..., 1], x[[1, 0]]
    for f in (parts, as_python):
        c.same(next(iter(D.from_tensors(x).map(f))), want)


def test_boolean_mask():
    x = np.arange(60, dtype=np.int32).reshape(3, 4, 5)
    m = np.array([True, False, True, False])
    c.same(both(lambda v, k: sd.boolean_mask(v, k, axis=1), x, m), x[:, m])
    c.raises(ValueError, lambda: sd.boolean_mask(x, m[:3], axis=1))
    two = x[0] % 3 == 0
    c.same(both(lambda v, k: sd.boolean_mask(v, k, axis=1), x, two), x[:, two])


def test_shapes():
    x = np.arange(60, dtype=np.int32).reshape(3, 4, 5)
    c.same(both(lambda v: sd.roll(v, [1, 7], [-1, 0]), x), np.roll(x, (1, 7), (2, 0)))
    c.same(both(lambda v: sd.repeat(v, [1, 2, 0], axis=0), x), x[[0, 1, 1]])
    c.same(both(lambda v: sd.repeat(v, 2, axis=-1), x), x.repeat(2, 2))
    c.same(both(lambda v: sd.broadcast_to(v, [2, 5]), x[0, 0]), np.stack([x[0, 0]] * 2))
    c.same(sd.sequence_mask([1, 3], 4).astype(int), np.array([[1, 0, 0, 0], [1, 1, 1, 0]]))
    c.same(sd.eye(2, 3), np.eye(2, 3, dtype="f4"))
    a, b = sd.meshgrid(np.arange(3), np.arange(2), indexing="ij")
    c.same([a, b], list(np.meshgrid(np.arange(3), np.arange(2), indexing="ij")))
    c.same(spec(lambda v: sd.ones([2, sd.shape(v)[0]]), x), sd.TensorSpec((2, 3), "float32"))
    c.same(spec(lambda v: sd.roll(v, 1, 0), x), sd.TensorSpec((3, 4, 5), "int32"))
    ds = D.range(3).map(lambda n: sd.zeros([n, 0]))
    c.same(ds.element_spec, sd.TensorSpec((None, 0), "float32"))


def test_literals():
    c.same(D.from_tensors(2**40).element_spec, sd.TensorSpec((), "int64"))
    c.same(D.from_tensors([1, 2]).element_spec, sd.TensorSpec((2,), "int32"))
    c.same(sd.strings.as_string(np.array([b"a"], object)), np.array([b"a"], object))


def test_parsed_features():
    e = bytes(sd.io.Example({"b": 1, "a": [1.0, 2.0], "z": b"s", "m": [3]}))
    io = sd.io
    features = {
        "r": io.RaggedFeature("int64", value_key="m"),
        "m": io.RaggedFeature("int64"),
        "z": io.FixedLenFeature([], "string"),
        "b": io.FixedLenFeature([], "int64"),
        "a": io.VarLenFeature("float32"),
    }
    c.same(list(io.parse_single_example(e, features)), ["a", "b", "z", "m", "r"])
    none = io.parse_example(
        np.zeros(0, object),
        dict(
            features,
            f=io.FixedLenFeature([2], "float32"),
            q=io.FixedLenSequenceFeature([3], "int64", True),
        ),
    )
    c.same(none["f"], np.zeros((0, 2), "f4"))
    c.same(none["q"], np.zeros((0, 0, 3), "i8"))
    c.same((none["a"].dense_shape, none["m"].to_list()), (np.zeros(2, "i8"), []))
    context, lists, lengths = io.parse_sequence_example(
        np.zeros(0, object),
        {"c": io.VarLenFeature("int64"), "d": io.FixedLenFeature([1], "int64")},
        {
            "s": io.FixedLenSequenceFeature([2], "float32"),
            "r": io.RaggedFeature("string"),
            "v": io.VarLenFeature("int64"),
        },
    )
    c.same((context["d"], lists["s"]), (np.zeros((0, 1), "i8"), np.zeros((0, 0, 2), "f4")))
    c.same((lists["r"].to_list(), lengths["s"]), ([], np.zeros(0, "i8")))


def test_image_types():
    im = np.random.RandomState(0).randint(0, 100, (5, 6, 3))
    for dtype in ("int8", "int16", "int32", "int64", "float16", "float64", "bool", "uint32"):
        x = im.astype(dtype)
        c.same(both(sd.image.flip_left_right, x), x[:, ::-1])
        c.same(both(sd.image.flip_up_down, x), x[::-1])
        c.same(both(sd.image.rot90, x), np.rot90(x))
        c.same(both(lambda v: sd.image.crop_to_bounding_box(v, 1, 2, 3, 4), x), x[1:4, 2:6])
        c.same(
            both(lambda v: sd.image.pad_to_bounding_box(v, 1, 0, 7, 6), x),
            np.pad(x, [(1, 1), (0, 0), (0, 0)]),
        )
    big = (im.astype(np.int64) << 40)[:4]
    c.same(both(lambda v: sd.image.resize(v, [2, 3], "nearest"), big), big[1::2, 1::2])
    c.same(sd.image.resize(im, [5, 6]), im.astype("f4"))
    c.same(sd.image.convert_image_dtype(np.array([128], np.uint8), "int16"), np.array([128 << 7], "i2"))
    c.same(sd.image.convert_image_dtype(np.array([0.5, 2]), "int8", True), np.array([63, 127], "i1"))
    grey = np.full((4, 4, 3), 0.5)
    c.same(sd.image.adjust_brightness(grey, 0.25), grey + 0.25)


def test_image_files():
    im = np.full((9, 7, 3), 100, np.uint8)
    jpeg = sd.image.encode_jpeg(im)
    c.same(sd.image.decode_png(jpeg, dtype="uint16"), im.astype("u2") << 8)
    c.same(sd.image.decode_image(jpeg, dtype="float32"), im / np.float32(255))
    c.same((sd.io.is_jpeg(jpeg), sd.io.is_jpeg(b"")), (np.bool_(True), np.bool_(False)))
    c.same(sd.image.adjust_jpeg_quality(im, 50).shape, im.shape)
    v = np.random.RandomState(1).rand(4, 4, 3).astype("f4")
    c.true(np.abs(sd.image.yuv_to_rgb(sd.image.rgb_to_yuv(v)) - v).max() < 1e-5, "yuv and back")
    for method in ("gaussian", "mitchellcubic"):
        c.true(np.abs(sd.image.resize(v, [4, 4], method) - v).max() > 1e-3, f"{method} blurs")


def test_stateless_images():
    im = np.random.RandomState(0).rand(6, 6, 3).astype("f4")
    image = sd.image
    changes = [
        lambda v, s: image.stateless_random_flip_left_right(v, s),
        lambda v, s: image.stateless_random_flip_up_down(v, s),
        lambda v, s: image.stateless_random_brightness(v, 0.5, s),
        lambda v, s: image.stateless_random_contrast(v, 0.2, 0.9, s),
        lambda v, s: image.stateless_random_saturation(v, 0.2, 0.9, s),
        lambda v, s: image.stateless_random_hue(v, 0.4, s),
        lambda v, s: image.stateless_random_crop(v, [3, 3, 3], s),
    ]
    for f in changes:
        c.same(f(im, (1, 2)), f(im, (1, 2)))
        counter = D.counter()
        ds = D.zip((D.from_tensors(im).repeat(20), (counter, counter)))
        made = [e.tobytes() for e in ds.map(f)]
        c.true(1 < len(set(made)), "seeds differ")
        c.same(made[3], f(im, (3, 3)).tobytes())
    for f, most in ((image.random_hue, 0.6), (image.random_hue, -0.1), (image.random_brightness, -1)):
        c.raises(ValueError, lambda: f(im, most))


def test_datasets():
    batches = D.range(10).batch(4)
    have = [e.tolist() for e in batches.rebatch([1, 2])]
    c.same(have, [[0], [1, 2], [3], [4, 5], [6], [7, 8], [9]])
    have = [e.tolist() for e in batches.rebatch([3, 4], drop_remainder=True)]
    c.same(have, [[0, 1, 2], [3, 4, 5, 6], [7, 8, 9]])
    pairs = D.range(4).map(lambda v: (v, {"a": v})).batch(2).rebatch([1, 3])
    c.same([e[1]["a"].tolist() for e in pairs], [[0], [1, 2, 3]])
    c.same(len(D.sample_from_datasets([D.range(3), D.range(5)], [0.0, 1.0])), 5)
    three = [D.from_tensors(i).repeat() for i in range(3)]
    weights = D.from_tensor_slices([[1.0, 0, 0], [0, 0, 1.0], [0, 1.0, 0]])
    c.same([int(v) for v in D.sample_from_datasets(three, weights)], [0, 2, 1])
    nested = D.from_tensors((np.int64(7), D.range(3)))
    c.same([int(v) for v in nested.flat_map(lambda k, d: d.map(lambda v: v + k))], [7, 8, 9])
    labels = D.range(6).rejection_resample(lambda v: sd.cast(v % 2, "int32"), [1.0, 0.0], [0.5, 0.5])
    c.same(labels.element_spec[0], sd.TensorSpec((), "int32"))
    sparse = D.range(3).map(lambda v: sd.SparseTensor([[v]], [v], [5])).batch(3)
    c.same(next(iter(sparse.map(sd.sparse.to_dense))), np.diag([0, 1, 2, 0, 0])[:3])


def test_deep_pipelines():
    ds = D.range(3)
    for _ in range(1500):
        ds = ds.map(lambda v: v + 1)
    c.same([int(v) for v in ds], [1500, 1501, 1502])
    c.true(ds.explain().count("map(") >= 1500, "explain() of it")


def test_messages():
    t = sd.train
    f = t.Feature(int64_list=t.Int64List(value=[-1, 5]))
    wire = b"\x1a\x0d\x0a\x0b" + b"\xff" * 9 + b"\x01\x05"
    c.same((f.SerializeToString(), f.WhichOneof("kind")), (wire, "int64_list"))
    c.same(list(t.Feature.FromString(wire).int64_list.value), [-1, 5])
    c.same(np.array(t.FloatList([1, 2]).value), np.array([1, 2], "f4"))
    c.same((t.Feature().SerializeToString(), t.Feature().WhichOneof("kind")), (b"", None))
    e = t.Example()
    e.features.feature["q"].int64_list.value.extend([1, 2])
    e.features.feature["z"].bytes_list.value.append(b"k")
    again = t.Example.FromString(e.SerializeToString()).features.feature
    have = {k: list(getattr(v, v.WhichOneof("kind")).value) for k, v in again.items()}
    c.same(have, {"q": [1, 2], "z": [b"k"]})
    s = t.SequenceExample()
    s.context.feature["n"].int64_list.value.append(2)
    for step in ([1.0], [2.0, 3.0]):
        s.feature_lists.feature_list["x"].feature.append(t.Feature(float_list=t.FloatList(step)))
    s = t.SequenceExample.FromString(s.SerializeToString())
    steps = [list(f.float_list.value) for f in s.feature_lists.feature_list["x"].feature]
    c.same((steps, list(s.context.feature["n"].int64_list.value)), ([[1.0], [2.0, 3.0]], [2]))
    c.raises(sd.errors.DataLossError, lambda: t.SequenceExample.FromString(b"\xff\xff"))


def test_tensors_as_messages():
    io = sd.io
    text = np.array([b"a", b"", b"xyz"], object)
    values = [text, np.float32(1.5), np.zeros((0, 3), "i8"), np.array([[True, False]])]
    values += [np.array([1, 2, 3], t) for t in ("int8", "uint16", "float16", "float64", "uint64")]
    for v in values:
        dtype = "string" if v is text else v.dtype
        c.same(np.asarray(io.parse_tensor(io.serialize_tensor(v), dtype)), np.asarray(v))
        ds = D.from_tensors(v).map(lambda a: io.parse_tensor(io.serialize_tensor(a), dtype))
        c.same(next(iter(ds)), v)
    wire = b"\x08\x03\x12\x08\x12\x02\x08\x02\x12\x02\x08\x01"
    content = b"\x22\x10\x01" + b"\0" * 7 + b"\x02" + b"\0" * 7
    c.same(io.serialize_tensor(np.array([[1], [2]])), b"\x08\x09" + wire[2:] + content)
    c.same(io.parse_tensor(wire + b"\x3a\x01\x05", "int32"), np.array([[5], [5]], np.int32))
    texts = b"\x08\x07\x12\x04\x12\x02\x08\x02\x22\x05\x01\x02abb"  # tensor_content: all lengths, then all bytes
    c.same(np.asarray(io.parse_tensor(texts, "bytes")).tolist(), [b"a", b"bb"])
    for damaged in (texts[:-6] + b"\x22\x05\x01\x7fabb", texts[:-6] + b"\x22\x01\x01"):
        c.raises(sd.errors.InvalidArgumentError, lambda damaged=damaged: io.parse_tensor(damaged, "bytes"), "parse_tensor")
    bomb = b"\x08\x01\x12\x0b\x12\x09\x08" + b"\xff" * 7 + b"\x7f" + b"\x2a\x04\0\0\0\0"
    for bad in (wire, wire[:-1], b"\xff\xff", b"", bomb):
        c.raises(ValueError, lambda: io.parse_tensor(bad, "int32" if bad is not bomb else "float32"))
    c.raises(ValueError, lambda: io.parse_tensor(io.serialize_tensor([1.0]), "int32"))


def test_experimental():
    import os
    import tempfile

    x = sd.data.experimental
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.csv")
        with open(path, "w") as f:
            f.write("age,name,big,none,label\n")
            f.writelines(f'{i},"n,{i}",{2**40 + i},,{i % 2}\n' for i in range(5))
        ds = x.make_csv_dataset(path, 3, label_name="label", num_epochs=1, shuffle=False)
        columns, label = next(iter(ds))
        c.same(list(columns), ["age", "name", "big", "none"])
        c.same(columns["age"], np.arange(3, dtype=np.int32))
        c.same(columns["big"], 2**40 + np.arange(3))
        c.same(columns["none"], np.array([b""] * 3, object))
        c.same((label, len(list(ds))), (np.array([0, 1, 0], np.int32), 2))
        two = x.make_csv_dataset([path], 2, select_columns=["name", "age"], num_epochs=None)
        c.same((list(two.element_spec), two.cardinality()), (["age", "name"], -1))
        c.raises(ValueError, lambda: x.make_csv_dataset(path, 2, label_name="no"))
        records = os.path.join(folder, "r.tfrecord")
        rows = D.range(5).map(lambda i: sd.strings.as_string(i))
        x.TFRecordWriter(records).write(rows)
        c.same([int(v) for v in sd.TFRecordDataset(records)], [0, 1, 2, 3, 4])
        with sd.TFRecordWriter(records) as w:
            for i in range(4):
                w.write(sd.io.Example({"x": i, "y": [1.0, 2.0]}))
        features = {"x": sd.io.FixedLenFeature([], "int64")}
        ds = x.make_batched_features_dataset(records, 3, features, num_epochs=1, shuffle=False)
        c.same([e["x"].tolist() for e in ds], [[0, 1, 2], [3]])
    counted = D.range(5).filter(lambda v: v < 3).apply(x.assert_cardinality(3))
    c.same((len(counted), [int(v) for v in counted]), (3, [0, 1, 2]))
    c.raises(sd.errors.FailedPreconditionError, lambda: D.range(5).apply(x.assert_cardinality(3)))
    c.same([int(v) for v in D.range(5).apply(x.take_while(lambda v: v < 2))], [0, 1])
    options = sd.Options()
    options.experimental_distribute.auto_shard_policy = x.AutoShardPolicy.DATA
    c.same(len(list(D.range(3).with_options(options))), 3)


def test_longest_jpeg():
    """A side may be as long as the format has it; libjpeg, for what is not ours, stops at 65,500."""
    jpeg = bytes(sd.io.encode_jpeg(np.full((8, 8, 1), 128, np.uint8)))
    frame, scan = jpeg.index(b"\xff\xc0"), jpeg.index(b"\xff\xda")
    begin = scan + 2 + int.from_bytes(jpeg[scan + 2 : scan + 4], "big")
    flat = bytes.fromhex("28a28a") * 2048  # 8192 blocks of no difference and no coefficient, six bits each

    def sized(h, w, kind=b"\xff\xc0"):
        sides = h.to_bytes(2, "big") + w.to_bytes(2, "big")
        return jpeg[:frame] + kind + jpeg[frame + 2 : frame + 5] + sides + jpeg[frame + 9 : begin] + flat + b"\xff\xd9"

    for h, w in ((8, 65535), (65535, 8)):
        image = sd.io.decode_jpeg(sized(h, w))
        c.same((image.shape, image.min(), image.max()), ((h, w, 1), 128, 128))
    c.raises(sd.errors.OpError, lambda: sd.io.decode_jpeg(sized(65535, 65535)), "268435456 pixels")
    c.raises(sd.errors.OpError, lambda: sd.io.decode_jpeg(sized(8, 65535, b"\xff\xc2")), "65500 pixels")


c.main(globals())
