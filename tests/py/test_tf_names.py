# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's public names: each that can occur in an input function exists, or an error names an alternative; the
existing ones compute what TensorFlow computes (bits of integers and strings, 5e-6 of floats), at once and in traced
functions. Where TensorFlow is not installed, only that both ways agree is checked."""

import inspect
import tempfile

import numpy as np

import checks as c
import stoker.data as sd

# Modules that are not for input functions: one hint for all of each.
OUTSIDE = ("keras distribute estimator tpu lite saved_model summary test mixed_precision xla profiler config autodiff graph_util "
           "raw_ops compat version sysconfig types mlir autograph quantization feature_column initializers losses metrics "
           "optimizers queue tools security __internal__ experimental.dtensor experimental.extension_type experimental.numpy "
           "experimental.tensorrt experimental.dlpack data.experimental.service linalg.experimental train.experimental "
           "debugging.experimental dtypes.experimental nn.experimental math.special sets dtensor").split()  # fmt: skip
V1_OUTSIDE = OUTSIDE + "layers resource_loader user_ops app flags train.queue_runner".split()


def walk(module, prefix, outside):
    for n in sorted(n for n in dir(module) if not n.startswith("_")):
        full = f"{prefix}.{n}" if prefix else n
        try:
            value = getattr(module, n)
            value.__class__, getattr(value, "__name__", "")
        except Exception:  # a lazy module that is not there
            continue
        if full in outside:
            continue
        if not inspect.ismodule(value):
            yield full
        elif "tensorflow" in getattr(value, "__name__", ""):
            yield from walk(value, full, outside)


def answer(where, name):
    """True: it is there. The error's text: it names a way. False: neither."""
    for part in name.split("."):
        try:
            where = getattr(where, part)
        except NotImplementedError as e:
            return str(e)
        except AttributeError:
            return False
    return True


def test_every_name_of_version_2():
    tf = c.tensorflow()
    if tf is None:
        return
    lost, here = [], 0
    for name in walk(tf, "", OUTSIDE):
        found = answer(sd, name)
        here += found is True
        if found is not True and not (found and ("use instead" in found or "did you mean" in found)):
            lost.append(name)
    c.same(lost, [], "neither here nor with a hint")
    c.true(here > 680, f"{here} names are here")
    for module in OUTSIDE:
        if "." not in module and module not in ("compat", "__internal__"):
            c.true("use instead" in str(answer(sd, module)), f"{module}: {answer(sd, module)}")


# Names of version 1 that belong to training, sessions and graphs: the hint may be a general one.
def test_every_name_of_version_1():
    tf = c.tensorflow()
    if tf is None:
        return
    here = 0
    for name in walk(tf.compat.v1, "", V1_OUTSIDE):
        found = answer(sd.compat.v1, name)
        c.true(found is True or found, f"tf.compat.v1.{name} answers")
        here += found is True
    c.true(here > 700, f"{here} names are here")
    for name in ("Session", "placeholder", "get_variable", "train.shuffle_batch", "train.string_input_producer", "TFRecordReader"):
        c.true("use instead" in str(answer(sd.compat.v1, name)), name)


F = np.array([[1.5, -2, 3], [4, 5, -6], [0.25, 0, -0.5]], np.float32)
I = np.array([3, 1, 4, 1, 5], np.int32)
M = np.array([[2.0, 1, 0], [1, 3, 0.5], [0, 0.5, 4]], np.float32)
S = np.array([b"ab c", b"d", b"  e f"], object)
X = (np.arange(2 * 7 * 6 * 3) % 251).astype(np.uint8).reshape(2, 7, 6, 3)
IDS = np.array([1, 0, 1], np.int32)
_ROWS, _COLUMNS = np.mgrid[0:70, 0:101]
JPEG = bytes(sd.io.encode_jpeg(np.stack([_ROWS * 3 % 256, _COLUMNS * 5 % 256, (_ROWS * _COLUMNS) % 256], -1).astype(np.uint8), quality=95))


def values(m, f, i, g, s, x, ids):
    """Of our module or TensorFlow's: calls by name."""
    v1, half = m.compat.v1, m.cast(x, m.float32) / 255.0
    out = {
        "scatter_nd": lambda: m.scatter_nd(ids[:, None], f, [4, 3]),
        "scatter_nd deep": lambda: m.scatter_nd([[0, 1], [1, 2]], f[0, :2], [2, 3]),
        "update": lambda: m.tensor_scatter_nd_update(f, [[1], [2]], f[:2]),
        "update strings": lambda: m.tensor_scatter_nd_update(s, [[1]], [b"z"]),
        "update bytes": lambda: m.tensor_scatter_nd_update(x, [[0, 1, 2]], [[9, 8, 7]]),
        "max": lambda: m.tensor_scatter_nd_max(f, [[0, 0], [1, 2]], [9.0, -9.0]),
        "min": lambda: m.tensor_scatter_nd_min(i, [[0], [0]], [2, 7]),
        "sub": lambda: m.tensor_scatter_nd_sub(i, [[0], [0]], [1, 2]),
        "add": lambda: m.tensor_scatter_nd_add(f, [[2], [2]], f[:2]),
        "dynamic_partition": lambda: m.dynamic_partition(f, ids, 2),
        "dynamic_stitch": lambda: m.dynamic_stitch([[0, 2], [1]], [f[:2], f[2:]]),
        "histogram": lambda: m.histogram_fixed_width(f, [-2.0, 5.0], nbins=5),
        "histogram bins": lambda: m.histogram_fixed_width_bins(f, [-2.0, 5.0], nbins=5),
        "unravel": lambda: m.unravel_index(i, [3, 4]),
        "invert_permutation": lambda: m.math.invert_permutation(m.argsort(i)),
        "reverse_sequence": lambda: m.reverse_sequence(f, ids + 1, seq_axis=1, batch_axis=0),
        "confusion": lambda: m.math.confusion_matrix(ids, ids[::-1]),
        "in_top_k": lambda: m.math.in_top_k(ids, f, 2),
        "cumprod": lambda: m.math.cumprod(f, 1, exclusive=True, reverse=True),
        "cumlogsumexp": lambda: m.math.cumulative_logsumexp(f, 1),
        "einsum": lambda: m.einsum("ij,jk->ik", f, g),
        "einsum batch": lambda: m.einsum("bij,bjk->bki", m.stack([f, g]), m.stack([g, f])),
        "einsum outer": lambda: m.einsum("i,j->ij", f[0], g[1]),
        "einsum trace": lambda: m.einsum("ii", f),
        "einsum dots": lambda: m.einsum("...ij,...jk->...ik", m.stack([f, g]), m.stack([g, f])),
        "einsum sum": lambda: m.einsum("ij->j", f),
        "tensordot": lambda: m.tensordot(f, g, 1),
        "tensordot axes": lambda: m.tensordot(m.stack([f, g]), m.stack([g, f]), [[0, 2], [0, 1]]),
        "matvec": lambda: m.linalg.matvec(f, g[0]),
        "band_part": lambda: m.linalg.band_part(f, 0, 1),
        "diag_part": lambda: m.linalg.diag_part(f),
        "diag": lambda: m.linalg.diag(f[0]),
        "set_diag": lambda: m.linalg.set_diag(f, g[0]),
        "trace": lambda: m.linalg.trace(f),
        "cross": lambda: m.linalg.cross(f, g),
        "global_norm": lambda: m.linalg.global_norm([f, g]),
        "normalize": lambda: m.linalg.normalize(f, axis=1),
        "clip_by_norm": lambda: m.clip_by_norm(f, 2.0),
        "clip_by_global_norm": lambda: m.clip_by_global_norm([f, g], 1.5),
        "inv": lambda: m.linalg.inv(g), "det": lambda: m.linalg.det(g), "solve": lambda: m.linalg.solve(g, f),
        "cholesky": lambda: m.linalg.cholesky(g), "eigh": lambda: m.linalg.eigh(g)[0], "svd": lambda: m.linalg.svd(f, compute_uv=False),
        "expm": lambda: m.linalg.expm(g / 4.0), "matrix_transpose": lambda: m.linalg.matrix_transpose(m.stack([f, g])),
        "truncatediv": lambda: m.truncatediv(i - 4, m.constant([2, -2, 3, 2, -3])), "truncatemod": lambda: m.truncatemod(i - 4, m.constant([2, -2, 3, 2, -3])),
        "is_non_decreasing": lambda: m.math.is_non_decreasing(i), "is_strictly_increasing": lambda: m.math.is_strictly_increasing(m.sort(ids)),
        "accumulate_n": lambda: m.math.accumulate_n([f, g]), "strided_slice": lambda: m.strided_slice(f, [0, 1], [2, 3], [1, 1]),
        "strided_slice masks": lambda: m.strided_slice(f, [1, 0], [2, 0], [1, 1], end_mask=2, shrink_axis_mask=1),
        "relu6": lambda: m.nn.relu6(f * 3.0), "elu": lambda: m.nn.elu(f), "selu": lambda: m.nn.selu(f), "silu": lambda: m.nn.silu(f),
        "gelu": lambda: m.nn.gelu(f), "gelu approximate": lambda: m.nn.gelu(f, approximate=True), "leaky_relu": lambda: m.nn.leaky_relu(f),
        "crelu": lambda: m.nn.crelu(f), "moments": lambda: m.nn.moments(f, [0]), "l2_loss": lambda: m.nn.l2_loss(f),
        "embedding_lookup": lambda: m.nn.embedding_lookup(f, ids), "space_to_depth": lambda: m.nn.space_to_depth(half[:, :6], 2),
        "depth_to_space": lambda: m.nn.depth_to_space(m.nn.space_to_depth(half[:, :6], 2), 2),
        "max_pool": lambda: m.nn.max_pool2d(half, 3, 2, "SAME"), "max_pool valid": lambda: m.nn.max_pool2d(half, 2, 2, "VALID"),
        "avg_pool": lambda: m.nn.avg_pool2d(half, [3, 2], [2, 1], "SAME"),
        "sigmoid ce": lambda: m.nn.sigmoid_cross_entropy_with_logits(g / 4.0, f), "softmax ce": lambda: m.nn.softmax_cross_entropy_with_logits(g / 4.0, f),
        "sparse ce": lambda: m.nn.sparse_softmax_cross_entropy_with_logits(ids, f),
        "strings.format": lambda: m.strings.format("a {} b", [ids[0]]), "ngrams": lambda: m.strings.ngrams(s, 2, separator="-"),
        "unicode_encode": lambda: m.strings.unicode_encode(m.reshape(i, [1, 5]) + 900, "UTF-8"),
        "unicode_transcode": lambda: m.strings.unicode_transcode(s, "UTF-8", "UTF-16-BE"),
        "split offsets": lambda: m.strings.unicode_split_with_offsets(s[0], "UTF-8"), "decode offsets": lambda: m.strings.unicode_decode_with_offsets(s[0], "UTF-8"),
        "segment_join": lambda: m.strings.unsorted_segment_join(s, ids, 2, ":"),
        "image_gradients": lambda: m.image.image_gradients(half), "sobel": lambda: m.image.sobel_edges(half),
        "ssim": lambda: m.image.ssim(half, half * 0.5, 1.0, filter_size=5), "draw": lambda: m.image.draw_bounding_boxes(half, m.constant([[[0.1, 0.2, 0.8, 0.9]], [[0.0, 0.0, 1.0, 1.0]]]), m.constant([[1.0, 0.5, 0.0]])),
        "nms": lambda: m.image.non_max_suppression(m.constant([[0, 0, 1.0, 1], [0, 0.1, 1, 1], [0, 2, 1, 3]]), f[:, 0], 3),
        "encode_wav": lambda: m.audio.encode_wav(f[:, :1] / 8.0, 8000),
        "from_dense": lambda: m.sparse.to_dense(m.sparse.from_dense(f)), "sparse indices": lambda: m.sparse.from_dense(f).indices,
        "sparse reduce": lambda: m.sparse.reduce_sum(m.sparse.from_dense(f), axis=1), "sparse slice": lambda: m.sparse.slice(m.sparse.from_dense(f), [0, 1], [2, 2]).values,
        "sparse matmul": lambda: m.sparse.sparse_dense_matmul(m.sparse.from_dense(f), g), "sparse add": lambda: m.sparse.to_dense(m.sparse.add(m.sparse.from_dense(f), m.sparse.from_dense(g))),
        "sparse retain": lambda: m.sparse.retain(m.sparse.from_dense(f), m.sparse.from_dense(f).values > 0).values,
        "sparse map": lambda: m.sparse.map_values(m.square, m.sparse.from_dense(f)).values,
        "ragged lengths": lambda: m.RaggedTensor.from_row_lengths(i, [2, 0, 3]).to_tensor(), "ragged ids": lambda: m.RaggedTensor.from_value_rowids(i, [0, 0, 2, 2, 2]).row_splits,
        "ragged tensor": lambda: m.RaggedTensor.from_tensor(f, padding=0.0).flat_values, "ragged rowids": lambda: m.RaggedTensor.from_row_lengths(i, [2, 0, 3]).value_rowids(),
        "ragged sparse": lambda: m.RaggedTensor.from_row_lengths(i, [2, 0, 3]).to_sparse().indices, "ragged shape": lambda: m.RaggedTensor.from_row_lengths(i, [2, 0, 3]).bounding_shape(),
        "ragged mask": lambda: m.ragged.boolean_mask(f, f > 0).row_splits, "ragged stack": lambda: m.ragged.stack([i, i[:2]]).row_splits,
        "ragged map": lambda: m.ragged.map_flat_values(m.abs, m.RaggedTensor.from_row_lengths(i, [2, 0, 3])).flat_values,
        "ragged row": lambda: m.RaggedTensor.from_row_lengths(i, [2, 0, 3])[2], "nrows": lambda: m.RaggedTensor.from_row_lengths(i, [2, 0, 3]).nrows(),
        "fft": lambda: m.abs(m.signal.fft(m.cast(f, m.complex64))), "fft real": lambda: m.math.real(m.signal.fft(m.complex(f, g))),
        "ifft": lambda: m.math.imag(m.signal.ifft(m.complex(f, g))), "fft2d": lambda: m.abs(m.signal.fft2d(m.complex(f, g))), "rfft2d": lambda: m.abs(m.signal.rfft2d(f)),
        "irfft": lambda: m.signal.irfft(m.signal.rfft(m.reshape(half[0], [-1])[:60])), "irfft odd": lambda: m.signal.irfft(m.signal.rfft(f), [3]),
        "complex product": lambda: m.math.real(m.complex(f, g) * m.complex(g, f)), "conj": lambda: m.math.imag(m.math.conj(m.complex(f, g))),
        "dct": lambda: m.signal.dct(f), "dct ortho": lambda: m.signal.dct(f, norm="ortho"), "idct": lambda: m.signal.idct(f), "dct 3": lambda: m.signal.dct(f, type=3, norm="ortho"),
        "mfccs": lambda: m.signal.mfccs_from_log_mel_spectrograms(f), "overlap_and_add": lambda: m.signal.overlap_and_add(f, 2),
        "inverse_stft": lambda: m.signal.inverse_stft(m.signal.stft(m.reshape(half[0], [-1])[:96], 16, 8), 16, 8, window_fn=m.signal.inverse_stft_window_fn(8)),
        "kaiser": lambda: m.signal.kaiser_window(9), "vorbis": lambda: m.signal.vorbis_window(8), "kbd": lambda: m.signal.kaiser_bessel_derived_window(8), "fftshift": lambda: m.signal.fftshift(f),
        "nest": lambda: m.nest.flatten(m.nest.map_structure(lambda v: v + 1, {"b": i, "a": [ids, (i,)]})), "pack": lambda: m.nest.pack_sequence_as({"b": 0, "a": [1]}, [i, ids])["b"],
        "check_numerics": lambda: m.debugging.check_numerics(f, "x"), "identity_n": lambda: m.identity_n([f, i]), "shape_n": lambda: m.shape_n([f, g]),
        "constant 64": lambda: m.constant(np.float64(1.1), dtype=m.float32), "constant array 64": lambda: m.constant(np.array([1.1, 2.7]), m.float32),
        "constant int": lambda: m.constant(np.array([1, 2]), m.int32), "constant shape": lambda: m.constant(3, shape=[2, 2]),
        "v1 split": lambda: v1.string_split(s).values, "v1 split indices": lambda: v1.string_split(s, delimiter=" c").indices, "v1 strings.split": lambda: v1.strings.split(s).values,
        "v1 to_int32": lambda: v1.to_int32(f), "v1 to_float": lambda: v1.to_float(i), "v1 reduce": lambda: v1.reduce_mean(f, reduction_indices=[1], keep_dims=True),
        "v1 div": lambda: v1.div(i - 4, 2), "v1 where": lambda: v1.where(ids > 0, f, g), "v1 argmax": lambda: v1.argmax(f, dimension=1), "v1 sparse_to_dense": lambda: v1.sparse_to_dense([[0], [2]], [4], f[0, :2], -1.0),
        "v1 gather": lambda: v1.gather(f, ids, axis=1), "v1 expand_dims": lambda: v1.expand_dims(f, dim=1), "v1 decode_raw": lambda: v1.decode_raw(s[0], m.uint8), "v1 substr": lambda: v1.substr(s, 0, 1),
        "v1 reduce_join": lambda: v1.reduce_join(s, 0), "v1 count_nonzero": lambda: v1.count_nonzero(f, 0), "v1 setdiff1d": lambda: v1.setdiff1d(i, ids), "v1 squeeze": lambda: v1.squeeze(f[:, None], squeeze_dims=[1]),
    }  # fmt: skip
    for how in ("sum", "mean", "max", "min", "prod", "sqrt_n"):
        out[f"unsorted {how}"] = lambda how=how: getattr(m.math, f"unsorted_segment_{how}")(f, ids - 1, 3)
        if how != "sqrt_n":
            out[f"segment {how}"] = lambda how=how: getattr(m.math, f"segment_{how}")(f, m.constant([0, 0, 2]))
    for name in ("bilinear", "nearest_neighbor", "bicubic", "area"):
        for aligned in (False, True):
            for size in ([5, 9], [14, 4], [1, 1], [7, 12]):
                out[f"v1 {name} {aligned} {size}"] = lambda name=name, aligned=aligned, size=size: getattr(v1.image, f"resize_{name}")(x, size, align_corners=aligned)
        out[f"v1 {name} half"] = lambda name=name: getattr(v1.image, f"resize_{name}")(half, [5, 9], **({} if name == "area" else {"half_pixel_centers": True}))
    for window in ([14, 22, 56, 58], [0, 0, 70, 101], [16, 16, 9, 32], [3, 32, 40, 7], [1, 5, 1, 1], [0, 48, 70, 53]):
        out[f"decode_and_crop {window}"] = lambda window=window: m.io.decode_and_crop_jpeg(JPEG, window, channels=3)
    out["depthwise"] = lambda: m.nn.depthwise_conv2d(half, m.reshape(m.range(27, dtype=m.float32) / 27.0, [3, 3, 3, 1]), [1, 1, 1, 1], "VALID")
    out["depthwise same"] = lambda: m.nn.depthwise_conv2d(half, m.reshape(m.range(54, dtype=m.float32) / 27.0, [3, 3, 3, 2]), [1, 2, 2, 1], "SAME")
    out["conv2d"] = lambda: m.nn.conv2d(half, m.reshape(m.range(54, dtype=m.float32) / 54.0, [3, 3, 3, 2]), 1, "SAME")
    for method in range(4):
        out[f"v1 resize_images {method}"] = lambda method=method: v1.image.resize_images(x, [4, 9], method)
    out["v1 resize_images same"] = lambda: v1.image.resize_images(x, [7, 6])
    out["v1 crop_and_resize"] = lambda: v1.image.crop_and_resize(half, m.constant([[0.1, 0.2, 0.8, 0.9]]), box_ind=[1], crop_size=[3, 3])
    return out


ARGUMENTS = (F, I, M, S, X, IDS)


def flat(v):
    if isinstance(v, (list, tuple)):
        return [x for part in v for x in flat(part)]
    return [np.asarray(v.numpy() if hasattr(v, "numpy") else v)]


def agrees(have, want):
    if have.dtype.kind in "SO" and want.dtype.kind in "SO":
        return have.shape == want.shape and [bytes(b) for b in have.ravel()] == [bytes(b) for b in want.ravel()]
    if have.dtype != want.dtype or have.shape != want.shape:
        return False
    if want.dtype.kind == "f":
        most = max(1.0, float(np.abs(want[np.isfinite(want)]).max(initial=0)))
        return bool(np.allclose(have, want, 5e-6, 5e-6 * most, equal_nan=True))
    return bool(np.array_equal(have, want))


def test_values():
    names = list(values(sd, *ARGUMENTS))
    tf = c.tensorflow()
    theirs = values(tf, *[tf.constant(a) for a in ARGUMENTS]) if tf else {}
    now = values(sd, *[sd.constant(a) for a in ARGUMENTS])
    for name in names:
        have = flat(now[name]())
        ds = sd.Dataset.from_tensors(ARGUMENTS).map(lambda *a: tuple(flat_values(values(sd, *a)[name]())))
        traced = flat(tuple(next(iter(ds))))
        c.true(len(have) == len(traced) and all(agrees(a, b) for a, b in zip(traced, have)), f"{name}: traced {traced}, at once {have}")
        if theirs:
            want = flat(theirs[name]())
            c.true(len(have) == len(want) and all(agrees(a, b) for a, b in zip(have, want)), f"{name}: {have}, TensorFlow's {want}")


def flat_values(v):
    return [x for part in v for x in flat_values(part)] if isinstance(v, (list, tuple)) else [v]


def test_native():
    """The names that pipelines use are native operations, without Python for each element."""
    python = ("inv det solve cholesky eigh svd expm unicode_encode unicode_transcode segment_join draw nms encode_wav").split()
    for name in values(sd, *ARGUMENTS):
        if name.split()[0] in ("strings.format",):
            continue
        ds = sd.Dataset.from_tensors(ARGUMENTS).map(lambda *a: tuple(flat_values(values(sd, *a)[name]())))
        has_python = "Python for each element" in ds.explain() or "host_call" in ds.explain()
        c.same(has_python, name in python, name)


def test_contexts():
    def f(x):
        with sd.name_scope("a"), sd.device("/cpu:0"), sd.control_dependencies([sd.debugging.assert_less(x, np.int64(5))]):
            return sd.identity(x) + 1

    ds = sd.Dataset.range(3).map(f)
    c.true(ds._function.is_native and list(ds) == [1, 2, 3], "contexts have no effect")
    ds = sd.Dataset.range(9).map(f)
    c.raises(sd.errors.InvalidArgumentError, lambda: list(ds), "assertion failed", "element 5")

    def g(x):
        with sd.device("/gpu:0"):
            return x + 1

    c.true("device('/gpu:0') has no effect" in sd.Dataset.range(3).map(g).explain(), "said")

    def h(x):
        ta = sd.TensorArray(sd.int64, size=3)
        for i in range(3):
            ta = ta.write(i, x + i)
        return ta.stack(), ta.read(1), ta.size()

    c.same(list(sd.Dataset.range(2).map(h))[1], (np.array([1, 2, 3]), np.int64(2), np.int32(3)))
    c.same(list(sd.Dataset.range(2).map(lambda x: sd.TensorArray(sd.int64, 2).write(x, x + 5).stack()))[1], np.array([0, 6]))


def test_tensor_array_in_loops():
    """A list that grows in while_loop and cond, as packing of sequences has it."""

    def squares(n):
        def body(i, array):
            array = sd.cond(i % 2 == 0, lambda: array.write(array.size(), sd.stack([i, i * i])), lambda: array)
            return i + 1, array

        start = sd.TensorArray(sd.int64, size=0, dynamic_size=True, element_shape=[2])
        _, array = sd.while_loop(lambda i, _: i < n, body, (np.int64(0), start), shape_invariants=(sd.TensorShape([]), sd.TensorShape(None)))
        return array.stack(), array.size()

    ds = sd.Dataset.range(6).map(squares)
    c.true(ds._function.is_native, ds.explain())
    for n, (rows, count) in enumerate(ds):
        c.same(rows, np.array([[i, i * i] for i in range(0, n, 2)], np.int64).reshape(-1, 2))
        c.same(count, np.int32((n + 1) // 2))
    read = sd.Dataset.range(3).map(lambda x: sd.TensorArray(sd.int64, 3).unstack([x, x + 1, x + 2]).read(x))
    c.same(list(read), [np.int64(0), np.int64(2), np.int64(4)])


def test_version_1_datasets():
    tf = sd.compat.v1
    ds = tf.data.Dataset.from_tensor_slices({"a": np.arange(4), "b": np.ones((4, 2), np.float32)})
    c.same((ds.output_types["a"] == sd.int64, tuple(ds.output_shapes["b"])), (True, (2,)))
    it = tf.data.make_one_shot_iterator(ds.batch(2))
    c.same(it.get_next()["a"], np.array([0, 1]))
    c.same(ds.make_one_shot_iterator().get_next()["a"], np.int64(0))
    options = sd.Options()
    options.experimental_threading.private_threadpool_size = 2
    options.experimental_threading.experimental_max_intra_op_parallelism = 1
    options.experimental_deterministic = False
    options.experimental_optimization.map_vectorization = True
    options.experimental_stats = None
    c.same((options.threading.private_threadpool_size, options.deterministic), (2, False))
    with tempfile.TemporaryDirectory() as folder:
        name = sd.io.gfile.join(folder, "a.txt")
        with sd.io.gfile.GFile(name, "w") as f:
            f.write("one\ntwo\n")
        c.same(list(tf.gfile.Open(name)), ["one\n", "two\n"])
        c.same((sd.io.gfile.listdir(folder), tf.gfile.Exists(name), sd.io.gfile.stat(name).length), (["a.txt"], True, 8))
        sd.io.gfile.copy(name, name + "2")
        c.raises(sd.errors.InvalidArgumentError, lambda: sd.io.gfile.copy(name, name + "2"), "overwrite=True")
        c.raises(sd.errors.NotFoundError, lambda: sd.io.gfile.GFile(name + "3").read())
        c.same(sorted(sd.io.gfile.glob(folder + "/a*")), [name, name + "2"])
    feature = {"x": tf.FixedLenFeature([], sd.int64)}
    record = sd.train.Example(features=sd.train.Features(feature={"x": sd.train.Feature(int64_list=sd.train.Int64List(value=[7]))})).SerializeToString()
    c.same(next(iter(sd.Dataset.from_tensors(record).map(lambda r: tf.parse_single_example(r, feature))))["x"], np.int64(7))
    c.same(sd.Dataset.range(1).map(lambda x: sd.random_uniform([2], dtype=sd.float32)).element_spec, sd.TensorSpec((2,), "float32"))


def test_annotations():
    def f(x: sd.Tensor, shape: sd.TensorShape = None, dtype: sd.dtypes.DType = sd.float32) -> sd.Tensor:
        return sd.cast(x, dtype)

    c.same(sd.Dataset.range(1).map(f).element_spec.dtype.name, "float32")
    shape = sd.TensorShape([3, None])
    c.same((tuple(shape.concatenate([2])), tuple(shape.merge_with([None, 4])), shape.is_compatible_with([3, 9])), ((3, None, 2), (3, 4), True))
    c.raises(ValueError, lambda: shape.with_rank(3), "rank 2")
    c.same((shape[1:].as_list(), (shape + [1]).rank), ([None], 3))


c.main(globals())
