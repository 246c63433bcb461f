# SPDX-License-Identifier: Apache-2.0
"""Operations under the names and with the arguments of TensorFlow 1 (tf.compat.v1), if these differ from version 2's:
V1 has them by name. Resize kernels are version 1's, including their rounding."""

import functools
import inspect

import numpy as np

from ..core import _call, _dtypes, _sparse
from ..core._call import convert, run
from ..core._function import cond, numpy_function
from ..core._sparse import SparseTensor
from ..errors import InvalidArgumentError
from . import _ops, _random
from ._ops import cast, do

V1 = {}  # name of tf.compat.v1 -> function


def v1(names):
    """Decorator: gives the function names in tf.compat.v1."""

    def put(f):
        for n in names.split(","):
            V1[n] = f
        return f

    return put


def _reduction(name):
    own = getattr(do, name)

    def f(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
        axis = reduction_indices if axis is None else axis
        return own(input_tensor, axis, bool(keepdims or keep_dims))

    f.__name__ = f.__qualname__ = name
    f.__doc__ = own.__doc__
    v1(f"{name},math.{name}")(f)


for _name in ("sum", "mean", "max", "min", "prod", "any", "all", "logsumexp"):
    _reduction(f"reduce_{_name}")


def _best(names, own):
    def f(input, axis=None, name=None, dimension=None, output_type="int64"):
        return own(input, dimension if axis is None else axis, output_type)

    f.__doc__ = own.__doc__
    v1(names)(f)


_best("argmax,arg_max,math.argmax", do.argmax)
_best("argmin,arg_min,math.argmin", do.argmin)


def _caster(dtype):
    def f(x, name=None):
        return cast(x, dtype)

    f.__doc__ = f"The values as {dtype}."
    return f


for _name, _dtype in (("int32", "int32"), ("int64", "int64"), ("float", "float32"), ("double", "float64"), ("bfloat16", "bfloat16")):
    V1[f"to_{_name}"] = _caster(_dtype)


def _renamed(names, own, **renamed):
    """Version 2's function, with other argument names."""

    @functools.wraps(own)
    def f(*args, **kwargs):
        kwargs = {renamed.get(k, k): v for k, v in kwargs.items() if v is not None or k not in renamed}
        return own(*args, **kwargs)

    v1(names)(f)


_renamed("expand_dims", do.expand_dims, dim="axis")
_renamed("squeeze", do.squeeze, squeeze_dims="axis")
_renamed("norm,linalg.norm", do.norm, keep_dims="keepdims")
_renamed("string_to_number,strings.to_number", do.strings.to_number, string_tensor="input")
_renamed("reverse_v2", do.reverse)
_renamed("mod", do.floormod)
_renamed("floor_div", do.floordiv)
_renamed("ceil", do.math.ceil)
_renamed("lin_space", do.linspace)
_renamed("string_strip", do.strings.strip)
_renamed("regex_replace", do.strings.regex_replace)
_renamed("string_join", do.strings.join)
_renamed("substr,strings.substr", do.strings.substr)
_renamed("string_to_hash_bucket_fast", do.strings.to_hash_bucket_fast)
_renamed("string_to_hash_bucket_strong", do.strings.to_hash_bucket_strong)
_renamed("string_to_hash_bucket,strings.to_hash_bucket", do.strings.to_hash_bucket, string_tensor="input")
_renamed("encode_base64", do.io.encode_base64)
_renamed("decode_base64", do.io.decode_base64)
_renamed("decode_compressed", do.io.decode_compressed)
_renamed("read_file", do.io.read_file)
_renamed("random_shuffle", do.random.shuffle)
_renamed("random_crop", do.image.random_crop)
_renamed("matrix_band_part", do.linalg.band_part)
_renamed("matrix_diag,diag,linalg.diag", do.linalg.diag)
_renamed("matrix_diag_part,diag_part,linalg.diag_part", do.linalg.diag_part)
_renamed("matrix_set_diag", do.linalg.set_diag)
_renamed("matrix_transpose", do.linalg.matrix_transpose)
_renamed("matrix_inverse", do.linalg.inv)
_renamed("matrix_determinant", do.linalg.det)
_renamed("matrix_solve", do.linalg.solve)
_renamed("cholesky", do.linalg.cholesky)
_renamed("trace", do.linalg.trace)
_renamed("cross", do.linalg.cross)
_renamed("global_norm", do.linalg.global_norm)
_renamed("self_adjoint_eig", do.linalg.eigh)
_renamed("qr", do.linalg.qr)
_renamed("tensor_scatter_update", do.tensor_scatter_nd_update)
_renamed("tensor_scatter_add", do.tensor_scatter_nd_add)
_renamed("tensor_scatter_sub", do.tensor_scatter_nd_sub)
_renamed("space_to_depth", do.nn.space_to_depth)
_renamed("depth_to_space", do.nn.depth_to_space)
_renamed("check_numerics", do.debugging.check_numerics)
_renamed("random_uniform", _random.uniform)
_renamed("random_normal", _random.normal)
_renamed("truncated_normal", _random.truncated_normal)
_renamed("random_gamma", _random.gamma)
_renamed("image.transpose_image", do.image.transpose)
_renamed("image.resize_image_with_crop_or_pad", do.image.resize_with_crop_or_pad)
for _name in (
    "unsorted_segment_sum unsorted_segment_mean unsorted_segment_max unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n "
    "segment_sum segment_mean segment_max segment_min segment_prod cumprod confusion_matrix digamma lgamma zeta polygamma igamma igammac "
    "betainc lbeta invert_permutation is_finite is_inf is_nan is_non_decreasing is_strictly_increasing log log1p expm1 erf erfc reciprocal "
    "rint rsqrt squared_difference log_sigmoid logical_xor angle conj real imag accumulate_n"
).split():
    _renamed(_name, getattr(do.math, _name))


@v1("div")
def div(x, y, name=None):
    """x / y as in Python 2: integers are rounded down."""
    x, y = _call.same(x, y)
    return do.floordiv(x, y) if x.dtype.kind in "iu" else do.truediv(x, y)


@v1("div_no_nan")
def div_no_nan(x, y, name=None):
    """x / y, 0 where y is 0."""
    return do.math.divide_no_nan(x, y)


@v1("shape")
def shape(input, name=None, out_type="int32"):
    """The sizes."""
    return do.shape(input, out_type)


@v1("size")
def size(input, name=None, out_type="int32"):
    """The number of values."""
    return do.size(input, out_type)


@v1("gather")
def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    """Slices along an axis."""
    return do.gather(params, indices, axis=axis, batch_dims=batch_dims)


@v1("gather_nd")
def gather_nd(params, indices, name=None, batch_dims=0):
    """Slices at multi-dimensional indices."""
    return do.gather_nd(params, indices, batch_dims)


@v1("batch_gather")
def batch_gather(params, indices, name=None):
    """Slices for each row."""
    return do.gather(params, indices, batch_dims=len(convert(indices).shape) - 1)


@v1("boolean_mask")
def boolean_mask(tensor, mask, name="boolean_mask", axis=None):
    """The slices where the mask is true."""
    return do.boolean_mask(tensor, mask, axis)


@v1("pad")
def pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0):
    """Pads by paddings."""
    return do.pad(tensor, paddings, mode, constant_values)


@v1("zeros_like")
def zeros_like(tensor, dtype=None, name=None, optimize=True):
    """Zeros of the same shape."""
    return do.zeros_like(tensor, dtype)


@v1("ones_like")
def ones_like(tensor, dtype=None, name=None, optimize=True):
    """Ones of the same shape."""
    return do.ones_like(tensor, dtype)


@v1("transpose")
def transpose(a, perm=None, name="transpose", conjugate=False):
    """Dimensions in another order."""
    return do.transpose(a, perm)


@v1("where")
def where(condition, x=None, y=None, name=None):
    """x where the condition holds, else y: whole slices for a vector; without x and y, the indices."""
    if x is None and y is None:
        return do.where(condition)
    condition, (x, y) = convert(condition, np.dtype(bool)), _call.same(x, y)
    more = len(x.shape) - len(condition.shape) if x.shape is not None and condition.shape is not None else 0
    if len(condition.shape or ()) == 1 and more > 0:
        condition = do.reshape(condition, [-1] + [1] * more)
    return do.where(condition, x, y)


@v1("count_nonzero,math.count_nonzero")
def count_nonzero(input_tensor=None, axis=None, keepdims=None, dtype="int64", name=None, reduction_indices=None,
                  keep_dims=None, input=None):  # fmt: skip
    """The number of nonzero values."""
    x = input_tensor if input is None else input
    return do.math.count_nonzero(x, reduction_indices if axis is None else axis, bool(keepdims or keep_dims), dtype)


@v1("cond")
def v1_cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None):
    """true_fn() if pred is true, else false_fn()."""
    return cond(pred, true_fn or fn1, false_fn or fn2)


@v1("py_func")
def py_func(func, inp, Tout, stateful=True, name=None):
    """Runs Python for each element, with NumPy arrays."""
    return numpy_function(func, inp, Tout)


@v1("Print")
def Print(input_, data, message=None, first_n=None, summarize=None, name=None):
    """The value unchanged; sd.print prints."""
    do.print(*([message] if message else []), *data)
    return do.identity(input_)


@v1("multinomial,random.multinomial")
def multinomial(logits, num_samples, seed=None, name=None, output_dtype=None):
    """Class numbers drawn by each row's log probabilities."""
    return _random.categorical(logits, num_samples, output_dtype, seed)


@v1("setdiff1d")
def setdiff1d(x, y, index_dtype="int32", name=None):
    """(values of x that aren't in y, their indices)."""
    x, y = _call.same(x, y)
    is_in = do.reduce_any(do.equal(do.expand_dims(x, 1), do.expand_dims(y, 0)), axis=1)
    at = do.where(do.logical_not(is_in))[:, 0]
    return do.gather(x, at), cast(at, index_dtype)


# Texts


def _tokens(source, delimiter, skip_empty):
    """A SparseTensor of the parts of a vector of strings."""
    x = convert(source, _dtypes.string)
    if x.shape is not None and len(x.shape) == 0:
        x = do.expand_dims(x, 0)
    if delimiter is None:
        rows = do.strings.split(x)
    elif delimiter == "":
        rows = do.strings.bytes_split(x)
    else:
        delimiter = delimiter.decode() if isinstance(delimiter, bytes) else delimiter
        for other in delimiter[1:]:  # each of its characters separates
            x = do.strings.regex_replace(x, "[" + ("\\" + other if other in "]^\\-[" else other) + "]", delimiter[0])
        rows = do.strings.split(x, delimiter[0])
    values, splits = rows.flat_values, rows.row_splits
    if skip_empty and delimiter:
        kept = do.greater(do.strings.length(values), 0)
        before = do.concat([np.zeros(1, np.int64), do.cumsum(cast(kept, "int64"))], 0)
        values, splits = do.boolean_mask(values, kept), do.gather(before, splits)
    at, sizes = run("ragged_places", [cast(splits, "int64")], {})
    return SparseTensor(at, values, sizes, (None, None))


@v1("string_split")
def string_split(source, sep=None, skip_empty=True, delimiter=" ", result_type="SparseTensor", name=None):
    """The parts of a vector of strings between separators, each character of `delimiter` being one: a SparseTensor."""
    out = _tokens(source, delimiter if sep is None else sep, skip_empty)
    return out if result_type == "SparseTensor" else _as_ragged(out)


@v1("strings.split")
def strings_split(input=None, sep=None, maxsplit=-1, result_type="SparseTensor", source=None, name=None):
    """The parts of a vector of strings, split at white space by default: a SparseTensor."""
    x = convert(source if input is None else input, _dtypes.string)
    x = do.expand_dims(x, 0) if x.shape is not None and len(x.shape) == 0 else x
    rows = do.strings.split(x, sep, maxsplit)
    if result_type != "SparseTensor":
        return rows
    at, sizes = run("ragged_places", [cast(rows.row_splits, "int64")], {})
    return SparseTensor(at, rows.flat_values, sizes, (None, None))


def _as_ragged(sparse):
    rows = sparse.dense_shape[0]
    splits = do.ragged.segment_ids_to_row_splits(sparse.indices[:, 0], cast(rows, "int32"))
    return _sparse.RaggedTensor(sparse.values, [splits])


@v1("reduce_join,strings.reduce_join")
def reduce_join(inputs, axis=None, keep_dims=None, separator="", name=None, reduction_indices=None, keepdims=None):
    """Strings joined along axes."""
    return do.strings.reduce_join(inputs, reduction_indices if axis is None else axis, bool(keepdims or keep_dims), separator)


@v1("strings.length")
def length(input, name=None, unit="BYTE"):
    """The lengths of strings."""
    return do.strings.length(input, unit)


@v1("decode_raw,io.decode_raw")
def decode_raw(input_bytes=None, out_type=None, little_endian=True, name=None, bytes=None):
    """The byte values of strings."""
    return do.io.decode_raw(input_bytes if bytes is None else bytes, out_type, little_endian)


@v1("sparse_to_dense")
def sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True, name=None):
    """A dense value with values at indices: a vector, rows of indices, or one index."""
    at = convert(sparse_indices)
    at = do.reshape(at, [-1, 1]) if len(at.shape) < 2 else at
    values = convert(sparse_values)
    values = do.fill(do.shape(at)[:1], values) if len(values.shape) == 0 else values
    base = do.fill(output_shape, convert(default_value, _call.dtype_of(values)))
    return do.tensor_scatter_nd_update(base, at, values)


@v1("sparse_tensor_to_dense")
def sparse_tensor_to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """The dense value."""
    return _sparse.to_dense(sp_input, default_value)


@v1("verify_tensor_all_finite,debugging.assert_all_finite")
def verify_tensor_all_finite(t=None, msg=None, name=None, x=None, message=None):
    """The value; an element that isn't finite is an error."""
    return do.debugging.check_numerics(t if x is None else x, msg or message or "")


def _assertion(name):
    own = getattr(do.debugging, name)
    takes = list(inspect.signature(own).parameters)

    if "y" in takes:

        def f(x, y, data=None, summarize=None, message=None, name=None):
            return own(x, y, message)

    else:

        def f(x, data=None, summarize=None, message=None, name=None):
            return own(x, message)

    f.__doc__ = own.__doc__
    v1(f"{name},debugging.{name}")(f)


for _name in ("equal", "none_equal", "less", "less_equal", "greater", "greater_equal", "positive", "negative", "non_negative", "non_positive"):
    _assertion(f"assert_{_name}")
for _name in ("assert_rank", "assert_rank_at_least", "assert_rank_in"):
    V1[_name] = V1[f"debugging.{_name}"] = functools.partial(
        lambda own, x, rank, data=None, summarize=None, message=None, name=None: own(x, rank, message), getattr(do.debugging, _name)
    )
for _name in ("assert_integer", "assert_scalar", "assert_type", "assert_near", "assert_proper_iterable", "assert_same_float_dtype", "is_numeric_tensor"):
    V1[_name] = getattr(do.debugging, _name)


# Images


class ResizeMethod:
    """Methods of version 1's resize_images."""

    BILINEAR, NEAREST_NEIGHBOR, BICUBIC, AREA = range(4)


V1["image.ResizeMethod"] = ResizeMethod
_METHODS = ("bilinear", "nearest", "bicubic", "area")


def _kernel(method, align_corners, half_pixel_centers=False):
    name = _METHODS[method] if isinstance(method, (int, np.integer)) else str(method)
    if name not in _METHODS:
        raise InvalidArgumentError(f"method is one of {', '.join(_METHODS)} (0 to 3), not {method!r}")
    if half_pixel_centers:
        return name
    if name == "area":
        return "v1_area_corners" if align_corners else "area"
    return f"v1_{name}{'_corners' if align_corners else ''}"


@v1("image.resize,image.resize_images")
def resize_images(images, size, method=ResizeMethod.BILINEAR, align_corners=False, preserve_aspect_ratio=False, name=None):
    """Resizes images with version 1's kernels; unchanged if they already have the size."""
    x, size = convert(images), size
    known = _call.static_ints(size)
    if known is not None and x.shape is not None and not preserve_aspect_ratio and list(x.shape[-3:-1]) == known:
        return x
    return do.image.resize(x, size, _kernel(method, align_corners), preserve_aspect_ratio)


def _resizer(names, method):
    def f(images, size, align_corners=False, half_pixel_centers=False, name=None):
        out = do.image.resize(images, size, _kernel(method, align_corners, half_pixel_centers))
        return out if method == "nearest" else cast(out, "float32")

    f.__doc__ = f"Images at another size, {method}, as version 1 computes it."
    v1(names)(f)


_resizer("image.resize_bilinear", "bilinear")
_resizer("image.resize_nearest_neighbor", "nearest")
_resizer("image.resize_bicubic", "bicubic")
_resizer("image.resize_area", "area")


@v1("image.resize_image_with_pad")
def resize_image_with_pad(image, target_height, target_width, method=ResizeMethod.BILINEAR, align_corners=False):
    """Resized with its proportions to fit, and padded with zeros."""
    return _ops.resize_with_pad(image, target_height, target_width, _kernel(method, align_corners))


@v1("image.crop_and_resize")
def crop_and_resize(image, boxes, box_ind=None, crop_size=None, method="bilinear", extrapolation_value=0, name=None,
                    box_indices=None):  # fmt: skip
    """Crops boxes of images and resizes them."""
    return do.image.crop_and_resize(image, boxes, box_ind if box_indices is None else box_indices, crop_size, method, float(extrapolation_value))


@v1("image.sample_distorted_bounding_box")
def sample_distorted_bounding_box(image_size, bounding_boxes, seed=None, seed2=None, min_object_covered=0.1, aspect_ratio_range=None,
                                  area_range=None, max_attempts=None, use_image_if_no_bounding_boxes=None, name=None):  # fmt: skip
    """A random crop that shows some object."""
    return do.image.sample_distorted_bounding_box(
        image_size, bounding_boxes, seed or 0, min_object_covered, aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes
    )


@v1("image.extract_image_patches,extract_image_patches,image.extract_patches")
def extract_image_patches(images, ksizes=None, strides=None, rates=None, padding=None, name=None, sizes=None):
    """Windows of images."""
    return do.image.extract_patches(images, ksizes if sizes is None else sizes, strides, rates, padding)


@v1("image.draw_bounding_boxes")
def draw_bounding_boxes(images, boxes, name=None, colors=None):
    """Frames around boxes."""
    return do.image.draw_bounding_boxes(images, boxes, colors)


@v1("nn.softmax")
def softmax(logits, axis=None, name=None, dim=None):
    """exp(x) over its sum along an axis."""
    return do.nn.softmax(logits, dim if axis is None else axis)


@v1("nn.moments")
def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
    """(mean, variance) over axes."""
    return do.nn.moments(x, axes, keepdims=bool(keepdims or keep_dims))




@v1("nn.depthwise_conv2d,nn.depthwise_conv2d_native")
def depthwise_conv2d(input, filter, strides, padding, rate=None, name=None, data_format=None, dilations=None):
    """Convolves each channel of images with its own filters."""
    return do.nn.depthwise_conv2d(input, filter, strides, padding, dilations=rate if dilations is None else dilations)
