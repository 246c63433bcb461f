#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The API: every public name that tf.data scripts rely on, with its arguments in
TensorFlow's order and with its defaults; and what the contract says of elements, dtypes and errors."""

import copy
import inspect
import os
import pickle
import tempfile

import checks as c
import numpy as np
import stoker.data as sd

# name, then its arguments. As in TensorFlow 2.21; dtypes that are defaults have our names.
SIGNATURES = """
CsvDataset filenames record_defaults compression_type=None buffer_size=None header=False field_delim=',' use_quote_delim=True na_value='' select_cols=None exclude_cols=None
Dataset.apply transformation_func
Dataset.as_numpy_iterator 
Dataset.batch batch_size drop_remainder=False num_parallel_calls=None deterministic=None
Dataset.bucket_by_sequence_length element_length_func bucket_boundaries bucket_batch_sizes padded_shapes=None padding_values=None pad_to_bucket_boundary=False no_padding=False drop_remainder=False
Dataset.cache filename=''
Dataset.cardinality 
Dataset.choose_from_datasets datasets choice_dataset stop_on_empty_dataset=True
Dataset.concatenate dataset
Dataset.counter start=0 step=1 dtype='int64'
Dataset.enumerate start=0
Dataset.filter predicate
Dataset.fingerprint 
Dataset.flat_map map_func
Dataset.from_generator generator output_types=None output_shapes=None args=None output_signature=None
Dataset.from_tensor_slices tensors
Dataset.from_tensors tensors
Dataset.get_single_element 
Dataset.group_by_window key_func reduce_func window_size=None window_size_func=None
Dataset.ignore_errors log_warning=False
Dataset.interleave map_func cycle_length=None block_length=None num_parallel_calls=None deterministic=None
Dataset.list_files file_pattern shuffle=None seed=None
Dataset.load path element_spec=None compression=None reader_func=None wait=False
Dataset.map map_func num_parallel_calls=None deterministic=None synchronous=None use_unbounded_threadpool=False
Dataset.options 
Dataset.padded_batch batch_size padded_shapes=None padding_values=None drop_remainder=False
Dataset.prefetch buffer_size
Dataset.ragged_batch batch_size drop_remainder=False row_splits_dtype='int64'
Dataset.random seed=None rerandomize_each_iteration=None
Dataset.range args
Dataset.rebatch batch_size drop_remainder=False
Dataset.reduce initial_state reduce_func
Dataset.rejection_resample class_func target_dist initial_dist=None seed=None
Dataset.repeat count=None
Dataset.sample_from_datasets datasets weights=None seed=None stop_on_empty_dataset=False rerandomize_each_iteration=None
Dataset.save path compression=None shard_func=None checkpoint_args=None
Dataset.scan initial_state scan_func
Dataset.shard num_shards index
Dataset.shuffle buffer_size seed=None reshuffle_each_iteration=True
Dataset.skip count
Dataset.snapshot path compression='AUTO' reader_func=None shard_func=None
Dataset.sparse_batch batch_size row_shape
Dataset.take count
Dataset.take_while predicate
Dataset.unbatch 
Dataset.unique 
Dataset.window size shift=None stride=1 drop_remainder=False
Dataset.with_options options
Dataset.zip args datasets=None
FixedLengthRecordDataset filenames record_bytes header_bytes=None footer_bytes=None buffer_size=None compression_type=None num_parallel_reads=None
TFRecordDataset filenames compression_type=None buffer_size=None num_parallel_reads=None
TextLineDataset filenames compression_type=None buffer_size=None num_parallel_reads=None
abs x
argmax input axis=None output_type='int64'
argmin input axis=None output_type='int64'
argsort values axis=-1 direction='ASCENDING' stable=False
bitcast input type
boolean_mask tensor mask axis=None
case pred_fn_pairs default=None exclusive=False strict=False
cast x dtype
clip_by_value t clip_value_min clip_value_max
concat values axis
cond pred true_fn=None false_fn=None
constant value dtype=None shape=None
cumsum x axis=0 exclusive=False reverse=False
ensure_shape x shape
equal x y
exp x
expand_dims input axis
fill dims value
floor x
gather params indices validate_indices=None axis=None batch_dims=0
identity input
image.adjust_brightness image delta
image.adjust_contrast images contrast_factor
image.adjust_gamma image gamma=1.0 gain=1.0
image.adjust_hue image delta
image.adjust_saturation image saturation_factor
image.central_crop image central_fraction
image.convert_image_dtype image dtype saturate=False
image.crop_and_resize image boxes box_indices crop_size method='bilinear' extrapolation_value=0.0
image.crop_to_bounding_box image offset_height offset_width target_height target_width
image.sample_distorted_bounding_box image_size bounding_boxes seed=0 min_object_covered=0.1 aspect_ratio_range=None area_range=None max_attempts=None use_image_if_no_bounding_boxes=None
image.extract_patches images sizes strides rates padding
image.flip_left_right image
image.flip_up_down image
image.grayscale_to_rgb images
image.pad_to_bounding_box image offset_height offset_width target_height target_width
image.per_image_standardization image
image.random_brightness image max_delta seed=None
image.random_contrast image lower upper seed=None
image.random_crop value size seed=None
image.random_flip_left_right image seed=None
image.random_flip_up_down image seed=None
image.random_hue image max_delta seed=None
image.random_saturation image lower upper seed=None
image.resize images size method='bilinear' preserve_aspect_ratio=False antialias=False
image.resize_with_crop_or_pad image target_height target_width
image.resize_with_pad image target_height target_width method='bilinear' antialias=False
image.rgb_to_grayscale images
image.rot90 image k=1
image.transpose image
io.FixedLenFeature shape dtype default_value=None
io.FixedLenSequenceFeature shape dtype allow_missing=False default_value=None
io.RaggedFeature dtype value_key=None partitions=() row_splits_dtype='int32' validate=False
io.SparseFeature index_key value_key dtype size already_sorted=False
io.TFRecordOptions compression_type=None compression_level=None
io.TFRecordWriter path options=None
io.VarLenFeature dtype
io.decode_and_crop_jpeg contents crop_window channels=0 ratio=1 fancy_upscaling=True try_recover_truncated=False acceptable_fraction=1.0 dct_method=''
io.decode_base64 input
io.decode_compressed bytes compression_type=''
io.decode_csv records record_defaults field_delim=',' use_quote_delim=True na_value='' select_cols=None
io.decode_image contents channels=None dtype='uint8' expand_animations=True
io.decode_jpeg contents channels=0 ratio=1 fancy_upscaling=True try_recover_truncated=False acceptable_fraction=1.0 dct_method=''
io.decode_png contents channels=0 dtype='uint8'
io.decode_raw input_bytes out_type little_endian=True fixed_length=None
io.encode_base64 input pad=False
io.extract_jpeg_shape contents output_type='int32'
io.parse_example serialized features example_names=None
io.parse_sequence_example serialized context_features=None sequence_features=None example_names=None
io.parse_single_example serialized features example_names=None
io.parse_single_sequence_example serialized context_features=None sequence_features=None example_name=None
io.read_file filename
logical_and x y
logical_not x
logical_or x y
math.ceil x
math.log x
matmul a b transpose_a=False transpose_b=False
maximum x y
minimum x y
norm tensor ord='euclidean' axis=None keepdims=None
numpy_function func=None inp=None Tout=None stateful=True
math.top_k input k=1 sorted=True index_type='int32'
one_hot indices depth on_value=None off_value=None axis=None dtype=None
ones shape dtype='float32'
ones_like input dtype=None
pad tensor paddings mode='CONSTANT' constant_values=0
pow x y
py_function func=None inp=None Tout=None
random.normal shape mean=0.0 stddev=1.0 dtype='float32' seed=None
random.set_seed seed
random.shuffle value seed=None
random.truncated_normal shape mean=0.0 stddev=1.0 dtype='float32' seed=None
random.uniform shape minval=0 maxval=None dtype='float32' seed=None
range start limit=None delta=1 dtype=None
rank input
reduce_all input_tensor axis=None keepdims=False
reduce_any input_tensor axis=None keepdims=False
reduce_max input_tensor axis=None keepdims=False
reduce_mean input_tensor axis=None keepdims=False
reduce_min input_tensor axis=None keepdims=False
reduce_sum input_tensor axis=None keepdims=False
reshape tensor shape
reverse tensor axis
round x
saturate_cast value dtype
shape input out_type='int32'
sigmoid x
size input out_type='int32'
slice input_ begin size
sort values axis=-1 direction='ASCENDING'
sparse.to_dense sp_input default_value=None validate_indices=True
split value num_or_size_splits axis=0 num=None
sqrt x
square x
squeeze input axis=None
stack values axis=0
strings.as_string input precision=-1 scientific=False shortest=False width=-1 fill=''
strings.bytes_split input
strings.join inputs separator=''
strings.length input unit='BYTE'
strings.lower input encoding=''
strings.reduce_join inputs axis=None keepdims=False separator=''
strings.regex_full_match input pattern
strings.regex_replace input pattern rewrite replace_global=True
strings.split input sep=None maxsplit=-1
strings.strip input
strings.substr input pos len unit='BYTE'
strings.to_hash_bucket input num_buckets
strings.to_hash_bucket_fast input num_buckets
strings.to_hash_bucket_strong input num_buckets key
strings.to_number input out_type='float32'
strings.unicode_decode input input_encoding errors='replace' replacement_char=65533 replace_control_characters=False
strings.unicode_split input input_encoding errors='replace' replacement_char=65533
strings.upper input encoding=''
switch_case branch_index branch_fns default=None
tanh x
tile input multiples
transpose a perm=None conjugate=False
unique x out_idx='int32'
unique_with_counts x out_idx='int32'
unstack value num=None axis=0
where condition x=None y=None
zeros shape dtype='float32'
zeros_like input dtype=None
"""

NAMES = """
AUTOTUNE INFINITE_CARDINALITY UNKNOWN_CARDINALITY Options Dataset Iterator TFRecordDataset TextLineDataset
FixedLengthRecordDataset CsvDataset TarDataset NpyDataset IndexedDataset TFRecordWriter TensorSpec DatasetSpec
SparseTensorSpec RaggedTensorSpec SparseTensor RaggedTensor TensorShape string bfloat16 bool uint8 int8 uint16 int16
uint32 int32 uint64 int64 float16 float32 float64 half double newaxis as_dtype function load_op_library get_include
random.set_seed random.uniform random.normal random.shuffle sparse.to_dense io.Example io.SequenceExample io.gfile.glob
io.gfile.exists print Assert debugging.assert_equal errors.InvalidArgumentError errors.DataLossError errors.NotFoundError errors.OutOfRangeError
errors.ResourceExhaustedError errors.CancelledError errors.OpError experimental.CsvDataset
experimental.dense_to_ragged_batch experimental.dense_to_sparse_batch experimental.ignore_errors
experimental.AUTOTUNE data.Dataset data.TFRecordDataset Dataset.explain Dataset.stats Dataset.iterator
Dataset.to_torch Dataset.to_tf Dataset.to_jax Dataset.to_device Dataset.ignore_errors Dataset.element_spec ops.MISSING
"""


def find(name):
    at = sd
    for part in name.split("."):
        at = getattr(at, part)
    return at


def test_names():
    for name in NAMES.split():
        if name == "Dataset.element_spec":
            continue  # of instances
        try:
            find(name)
        except AttributeError:
            c.fail(f"sd.{name} is missing")
        c.count += 1


def test_signatures():
    for line in SIGNATURES.strip().splitlines():
        name, *args = line.split()
        have = list(inspect.signature(find(name)).parameters.values())
        if have and have[0].name == "self":
            have = have[1:]
        at = -1
        names = [p.name for p in have]
        for arg in args:
            n, has_default, default = arg.partition("=")
            c.true(n in names[at + 1 :], f"{name}: {n} in its place")
            if n not in names:
                continue
            at = names.index(n)
            p = have[at]
            if has_default and default != "?":
                c.true(repr(p.default).replace(" ", "") == default, f"{name}: {n} is {p.default!r}, not {default}")


def test_elements():
    ds = sd.Dataset.from_tensor_slices({"b": [1, 2], "a": (np.ones((2, 3)), ["x", "y"])})
    e = next(iter(ds))
    c.same(list(e), ["b", "a"])
    c.same((e["b"], e["a"][1], e["a"][0]), (np.int32(1), b"x", np.ones(3)))
    c.same(ds.element_spec["a"][0], sd.TensorSpec((3,), "float64"))
    c.same((ds.cardinality(), len(ds)), (2, 2))
    c.same(ds.repeat().cardinality(), sd.INFINITE_CARDINALITY)
    c.same(ds.filter(lambda d: True).cardinality(), sd.UNKNOWN_CARDINALITY)
    c.raises(TypeError, lambda: len(ds.repeat()))
    c.raises(TypeError, lambda: len(ds.filter(lambda d: True)))
    c.true(isinstance(next(iter(sd.Dataset.range(3).window(2))), sd.Dataset), "a window is a dataset")
    c.same(sd.Dataset.range(4).reduce(np.int64(0), lambda s, x: s + x), np.int64(6))
    c.same(sd.Dataset.range(1).get_single_element(), np.int64(0))
    c.same(next(sd.Dataset.range(2).as_numpy_iterator()), np.int64(0))
    nothing = sd.Dataset.from_tensors((1, None))
    c.same(next(iter(nothing)), (np.int32(1), None))


def test_eager_loops():
    """Elements answer numpy(), as in the loops of every tutorial, and are NumPy's values otherwise."""
    for dtype in ("uint8", "int16", "int64", "float16", "float32", "float64"):
        v = next(iter(sd.Dataset.from_tensors(np.asarray(3, dtype))))
        c.same(v.numpy(), np.dtype(dtype).type(3))
        c.true(type(v.numpy()) is np.dtype(dtype).type and isinstance(v, np.dtype(dtype).type), dtype)
        c.same((repr(v), hash(v), str(v)), (repr(v.numpy()), hash(v.numpy()), str(v.numpy())))
        c.same((v + v, bool(v), {v: 1}[v.numpy()]), (v.numpy() + v.numpy(), True, 1))
        again = pickle.loads(pickle.dumps(v))
        c.true(type(again) is type(v.numpy()) and again == v == copy.deepcopy(v), "pickled as NumPy's")
    text = next(iter(sd.Dataset.from_tensors("a\0é")))
    c.same((text.numpy(), type(text.numpy()), text.numpy().decode()), (text, bytes, "a\0é"))
    c.same((np.asarray([text, text]), np.array([text], object)),
           (np.asarray([bytes(text)] * 2), np.array([bytes(text)], object)))
    zeros = next(iter(sd.Dataset.from_tensors(b"a\0\0")))
    c.same((len(zeros), str(zeros), zeros == b"a", zeros == b"a\0\0"), (3, str(b"a\0\0"), False, True))
    c.same((type(pickle.loads(pickle.dumps(text))), {text: 2}[bytes(text)], text + b"!"),
           (bytes, 2, "a\0é!".encode()))
    for a in sd.Dataset.from_tensor_slices(([[1.5, 2], [3, 4]], [["a", "b"], ["c", "d"]])).take(1):
        for v in a:
            c.true(type(v.numpy()) is np.ndarray and repr(v) == repr(v.numpy()), f"{v!r}")
            c.true(v.numpy().base is not None or v.dtype == object, "no copy")
            c.true(type(pickle.loads(pickle.dumps(v))) is np.ndarray, "pickled as NumPy's")
    b = next(iter(sd.Dataset.range(4).batch(4)))
    c.same(((b * 2).numpy(), sd.reduce_sum(b).numpy()), (np.arange(4) * 2, np.int64(6)))
    c.same(([int(v.numpy()) for v in b], b[1:3].numpy(), b[2].numpy()), (list(range(4)), np.array([1, 2]), np.int64(2)))
    for scalar in (b.sum(), b.mean(), b.max(), np.add.reduce(b), b[1], b @ b):
        c.true(isinstance(scalar, np.generic) and hash(scalar) is not None, f"{type(scalar)}")
    c.same((b.sum().numpy(), b.astype("f4").std().dtype, np.where(b > 1)[0]),
           (np.int64(6), np.dtype("f4"), np.array([2, 3])))
    long = "x" * 10000  # memory of such strings is used again
    c.same([v.numpy() for v in sd.Dataset.from_tensor_slices([long] * 9)], [long.encode()] * 9)
    c.same([type(v) for v in sd.Dataset.range(1).as_numpy_iterator()], [np.int64])
    c.same(sd.constant([1, 2]).numpy(), np.array([1, 2], np.int32))


def test_dtypes():
    c.same(sd.constant(1).dtype, np.dtype("int32"))
    c.same(sd.constant(1.0).dtype, np.dtype("float32"))
    ds = lambda a, f: next(iter(sd.Dataset.from_tensors(a).map(f)))
    for dtype, want in (("int32", "float64"), ("int64", "float64"), ("uint8", "float32"), ("float32", "float32")):
        c.same(ds(np.array([7], dtype), lambda x: x / 2).dtype, np.dtype(want))
    c.same(ds(np.int64(-7), lambda x: x // 2), np.int64(-4))
    c.same(ds(np.int64(-7), lambda x: x % 4), np.int64(1))
    for f in (lambda x: x * 1.5, lambda x: x + sd.cast(x, "float32"), lambda x: x + np.float64(1)):
        c.raises(TypeError, lambda: sd.Dataset.range(3).map(f))


def test_errors_and_options():
    bad = sd.Dataset.range(4).map(lambda x: sd.reshape(sd.range(x), [1]))
    it = iter(bad)
    c.raises(sd.errors.InvalidArgumentError, lambda: next(it))
    c.same(next(it), np.array([0]))
    for on_error, want in (("skip", [[0]]), (("replace", np.array([9])), [[9], [0], [9], [9]])):
        options = sd.Options()
        options.on_error = on_error
        c.same([e.tolist() for e in bad.with_options(options)], want)
    c.same([e.tolist() for e in bad.ignore_errors(log_warning=False)], [[0]])
    e = c.raises(ValueError, lambda: list(sd.Dataset.from_tensor_slices([2, 3]).map(lambda n: sd.zeros([n])).batch(2)))
    c.true(all(w in str(e) for w in ("(2,)", "(3,)", "padded_batch")), str(e))
    c.raises(sd.errors.OutOfRangeError, lambda: iter(sd.Dataset.range(0)).get_next())
    c.raises(sd.errors.NotFoundError, lambda: sd.Dataset.list_files("/nowhere/*"))
    c.raises(sd.errors.NotFoundError, lambda: list(sd.TFRecordDataset("/nowhere")))
    c.raises(TypeError, lambda: sd.Dataset.range("x"))
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.Dataset.range(3).batch(0))


def test_writing_and_parsing():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.tfr")
        with sd.TFRecordWriter(path, options="GZIP") as w:
            w.write(sd.io.Example({"x": [1.0, 2.0], "y": 3, "raw": b"..."}))
            w.write(sd.io.Example({"x": [3.0, 4.0], "y": 4, "raw": b""}).SerializeToString())
        c.raises(sd.errors.DataLossError, lambda: list(sd.TFRecordDataset(path)))
        ds = sd.TFRecordDataset(path, compression_type="GZIP", buffer_size=None, num_parallel_reads=None)
        feature = {
            "x": sd.io.VarLenFeature("float32"),
            "y": sd.io.FixedLenFeature([], "int64"),
            "raw": sd.io.RaggedFeature(sd.string),
        }
        e = next(iter(ds.map(lambda r: sd.io.parse_single_example(r, feature))))
        c.same(sd.sparse.to_dense(e["x"]), np.array([1, 2], "float32"))
        c.same((e["y"], e["raw"].tolist()), (np.int64(3), [b"..."]))
        b = next(iter(ds.batch(2).map(lambda r: sd.io.parse_example(r, feature))))
        c.same(b["raw"].to_tensor(default_value=b"?").tolist(), [[b"..."], [b""]])
        c.same((b["x"].indices.shape, b["x"].dense_shape.tolist()), ((4, 2), [2, 2]))


def test_crop_and_resize():
    """As tf.image.crop_and_resize gives it (recorded)."""
    im = np.arange(2 * 3 * 4 * 1, dtype=np.uint8).reshape(2, 3, 4, 1)
    boxes = np.array([[0, 0, 1, 1], [1, 1, 0, 0], [-1, 0, 0.5, 0.5]], np.float32)
    crop = lambda x: sd.image.crop_and_resize(x, boxes, [0, 1, 0], [2, 3], extrapolation_value=-1.0)
    want = np.array(
        [[[0, 1.5, 3], [8, 9.5, 11]], [[23, 21.5, 20], [15, 13.5, 12]], [[-1, -1, -1], [4, 4.75, 5.5]]], "float32"
    )[..., None]
    c.same(crop(im), want)
    c.same(next(iter(sd.Dataset.from_tensors(im).map(crop))), want)
    near = sd.image.crop_and_resize(im, boxes[:1], [1], [1, 2], method="nearest")
    c.same(near.ravel(), np.array([16, 19], "float32"))
    c.raises(ValueError, lambda: sd.image.crop_and_resize(im, boxes, [0, 2, 0], [2, 3]))
    c.raises(ValueError, lambda: sd.image.crop_and_resize(im, boxes, [0, 1, 0], [2, 0]))


def test_resume_and_fingerprint():
    ds = sd.Dataset.range(100).shuffle(10, seed=1).batch(7)
    it = iter(ds)
    head = [next(it).tolist() for _ in range(5)]
    state = it.state()
    c.true(len(state) < 1024 and isinstance(state, bytes), "a small state")
    c.same([e.tolist() for e in ds.iterator(state=state)], [e.tolist() for e in it])
    c.true(len(head) == 5 and "batch" in ds.explain() and str(ds.stats()), "explain and stats")
    again = sd.Dataset.range(100).shuffle(10, seed=1).batch(7)
    c.same(ds.fingerprint(), again.fingerprint())
    c.true(ds.fingerprint() != sd.Dataset.range(100).shuffle(10, seed=2).batch(7).fingerprint(), "another seed")


if __name__ == "__main__":
    c.main(globals())
