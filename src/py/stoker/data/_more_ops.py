# SPDX-License-Identifier: Apache-2.0
"""Further operations of tf.math, tf.image and tf.ragged that are made of others."""

import numpy as np

from . import _call, _dtypes, _engine, _sparse
from ._call import convert, same
from ._ops import PUBLIC, _put_float, cast, publish
from ._trace import TraceError
from .errors import InvalidArgumentError


def _float(x):
    out = []
    _put_float(out, None, None, x, None)
    return out[0]


def _one(x):
    return np.asarray(1, x.dtype)


def _unary(names, about, f):
    def op(x, name=None):
        return f(_float(x))

    op.__name__ = op.__qualname__ = names.split(",")[0].split(".")[-1]
    op.__doc__ = about
    return publish(names)(op)


def _add(x, y):
    return PUBLIC["add"](x, y)


def _sub(x, y):
    return PUBLIC["subtract"](x, y)


def _mul(x, y):
    return PUBLIC["multiply"](x, y)


def _log(x):
    return PUBLIC["log"](x)


def _half(x):
    return np.asarray(0.5, x.dtype)


_unary("math.rint", "To the nearest integer, ties to even.", lambda x: PUBLIC["round"](x))
_unary("math.erfc", "1 less erf(x).", lambda x: _sub(_one(x), PUBLIC["math.erf"](x)))
_unary(
    "asinh,math.asinh",
    "Inverse hyperbolic sine.",
    lambda x: _mul(
        PUBLIC["sign"](x),
        _log(_add(PUBLIC["abs"](x), PUBLIC["sqrt"](_add(PUBLIC["square"](x), _one(x))))),
    ),
)
_unary(
    "acosh,math.acosh",
    "Inverse hyperbolic cosine.",
    lambda x: _log(_add(x, PUBLIC["sqrt"](_sub(PUBLIC["square"](x), _one(x))))),
)
_unary(
    "atanh,math.atanh",
    "Inverse hyperbolic tangent.",
    lambda x: _mul(
        _half(x), _sub(PUBLIC["math.log1p"](x), PUBLIC["math.log1p"](PUBLIC["negative"](x)))
    ),
)
_unary(
    "math.log_sigmoid,nn.log_sigmoid",
    "log(sigmoid(x)).",
    lambda x: PUBLIC["negative"](PUBLIC["math.softplus"](PUBLIC["negative"](x))),
)
_unary(
    "math.softsign,nn.softsign",
    "x / (1 + |x|).",
    lambda x: PUBLIC["truediv"](x, _add(_one(x), PUBLIC["abs"](x))),
)
_unary(
    "math.reciprocal_no_nan",
    "1 / x, 0 where x is 0.",
    lambda x: PUBLIC["math.divide_no_nan"](PUBLIC["ones_like"](x), x),
)


def _zero_where_zero(x, f):
    """f where x is not 0, 0 where it is."""
    is_zero = PUBLIC["equal"](x, np.asarray(0, x.dtype))
    return PUBLIC["where"](is_zero, np.asarray(0, x.dtype), f)


@publish("math.xlogy")
def xlogy(x, y, name=None):
    """x * log(y), 0 where x is 0."""
    x, y = same(x, y)
    return _zero_where_zero(x, _mul(x, _log(y)))


@publish("math.xlog1py")
def xlog1py(x, y, name=None):
    """x * log(1 + y), 0 where x is 0."""
    x, y = same(x, y)
    return _zero_where_zero(x, _mul(x, PUBLIC["math.log1p"](y)))


@publish("math.xdivy")
def xdivy(x, y, name=None):
    """x / y, 0 where x is 0."""
    x, y = same(x, y)
    return _zero_where_zero(x, PUBLIC["truediv"](x, y))


@publish("math.multiply_no_nan")
def multiply_no_nan(x, y, name=None):
    """x * y, 0 where y is 0."""
    x, y = same(x, y)
    return _zero_where_zero(y, _mul(x, y))


@publish("scalar_mul,math.scalar_mul")
def scalar_mul(scalar, x, name=None):
    """x times a scalar."""
    return _mul(scalar, x)


@publish("reduce_logsumexp,math.reduce_logsumexp")
def reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None):
    """log of the sum of exp along axes, whatever the size of the values."""
    x = _float(input_tensor)
    most = PUBLIC["reduce_max"](x, axis=axis, keepdims=True)
    is_finite = PUBLIC["math.is_finite"](most)
    most = PUBLIC["where"](is_finite, most, np.asarray(0, x.dtype))
    total = _log(PUBLIC["reduce_sum"](PUBLIC["exp"](_sub(x, most)), axis=axis, keepdims=keepdims))
    if keepdims:
        return _add(total, most)
    return _add(total, PUBLIC["reduce_sum"](most, axis=axis) if axis is not None else PUBLIC["reshape"](most, []))


@publish("math.reduce_euclidean_norm")
def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None):
    """The root of the sum of squares along axes."""
    squares = PUBLIC["square"](convert(input_tensor))
    total = PUBLIC["reduce_sum"](squares, axis=axis, keepdims=keepdims)
    return PUBLIC["sqrt"](total)


@publish("math.log_softmax,nn.log_softmax")
def log_softmax(logits, axis=None, name=None):
    """log of softmax along an axis, by default the last."""
    x, axis = convert(logits), -1 if axis is None else axis
    return _sub(x, reduce_logsumexp(x, axis=axis, keepdims=True))


PUBLIC["math.softmax"] = PUBLIC["nn.softmax"]


@publish("math.zero_fraction,nn.zero_fraction")
def zero_fraction(value, name=None):
    """The share of values that are 0."""
    x = convert(value)
    is_zero = PUBLIC["equal"](x, np.asarray(0, x.dtype))
    return PUBLIC["reduce_mean"](cast(is_zero, "float32"))


@publish("math.polyval")
def polyval(coeffs, x, name=None):
    """A polynomial's value: coeffs from the highest power on."""
    if not isinstance(coeffs, (list, tuple)):
        raise InvalidArgumentError("polyval: coeffs is a list")
    x = convert(x)
    total = PUBLIC["zeros_like"](x)
    for c in coeffs:
        total = _add(_mul(total, x), convert(c, x.dtype) if not _call.is_typed(c) else c)
    return total


@publish("math.bincount")
def bincount(arr, weights=None, minlength=None, maxlength=None, dtype="int32", name=None):
    """How often each number from 0 on comes in a vector; with weights, their sums."""
    x = cast(PUBLIC["reshape"](convert(arr), [-1]), "int64")
    size = _add(PUBLIC["reduce_max"](PUBLIC["concat"]([x, np.array([-1])], 0)), np.int64(1))
    if minlength is not None:
        size = PUBLIC["maximum"](size, cast(convert(minlength), "int64"))
    if maxlength is not None:
        size = PUBLIC["minimum"](size, cast(convert(maxlength), "int64"))
    is_it = PUBLIC["equal"](PUBLIC["expand_dims"](x, 1), PUBLIC["range"](size))
    if weights is None:
        return PUBLIC["reduce_sum"](cast(is_it, dtype), axis=0)
    w = PUBLIC["reshape"](convert(weights), [-1, 1])
    return PUBLIC["reduce_sum"](_mul(cast(is_it, w.dtype), w), axis=0)


@publish("searchsorted")
def searchsorted(sorted_sequence, values, side="left", out_type="int32", name=None):
    """Where values would be put into a sorted vector to keep its order."""
    if side not in ("left", "right"):
        raise InvalidArgumentError(f"searchsorted: side is 'left' or 'right', not {side!r}")
    s, v = same(sorted_sequence, values)
    if s.shape is None or len(s.shape) != 1:
        raise TraceError("searchsorted takes a vector")
    op = PUBLIC["less" if side == "left" else "less_equal"]
    is_behind = op(s, PUBLIC["expand_dims"](v, -1))
    return cast(PUBLIC["reduce_sum"](cast(is_behind, "int64"), axis=-1), out_type)


def _colours(name, about, kernel):
    kernel = np.asarray(kernel, np.float64)

    def f(images):
        x = convert(images)
        return PUBLIC["matmul"](x, kernel.astype(x.dtype))

    f.__name__ = f.__qualname__ = name
    f.__doc__ = about
    publish(f"image.{name}")(f)


_YIQ = np.array(
    [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
)
_colours("rgb_to_yiq", "YIQ of float RGB in [0, 1].", _YIQ)
_colours(
    "yiq_to_rgb",
    "RGB of YIQ.",
    [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]],
)


@publish("image.psnr")
def psnr(a, b, max_val, name=None):
    """Peak signal to noise ratio of two images, in decibels."""
    whole = convert(a).dtype.kind in "iu"  # bytes: max_val is in their scale
    a, b = (PUBLIC["image.convert_image_dtype"](v, "float32") for v in (a, b))
    most = np.float32(max_val / 255 if whole else max_val)
    mse = PUBLIC["reduce_mean"](PUBLIC["math.squared_difference"](a, b), axis=[-3, -2, -1])
    scale = np.float32(10 / np.log(10))
    return _sub(_mul(np.float32(2) * scale, _log(most)), _mul(scale, _log(mse)))


@publish("image.total_variation")
def total_variation(images, name=None):
    """The sum of the differences of neighbouring pixels."""
    x = convert(images)
    down = PUBLIC["abs"](_sub(x[..., 1:, :, :], x[..., :-1, :, :]))
    right = PUBLIC["abs"](_sub(x[..., :, 1:, :], x[..., :, :-1, :]))
    axes = [-3, -2, -1]
    return _add(PUBLIC["reduce_sum"](down, axis=axes), PUBLIC["reduce_sum"](right, axis=axes))


@publish("image.decode_bmp,io.decode_bmp")
def decode_bmp(contents, channels=0, name=None):
    """Pixels of a BMP file: uint8."""
    return PUBLIC["image.decode_image"](contents, channels)


def _rows(value, rank):
    """(flat list, row lengths of each level) of nested lists."""
    lengths = []
    for _ in range(rank):
        if any(not isinstance(v, (list, tuple, np.ndarray)) for v in value):
            raise InvalidArgumentError("ragged.constant: lists are not nested equally deep")
        lengths.append([len(v) for v in value])
        value = [x for v in value for x in v]
    return value, lengths


def _depth(value):
    if not isinstance(value, (list, tuple, np.ndarray)):
        return 0
    return 1 + max((_depth(v) for v in value), default=0)


@publish("ragged.constant")
def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None,
             row_splits_dtype="int64"):  # fmt: skip
    """A RaggedTensor of nested lists whose rows differ in length."""
    depth = _depth(pylist)
    rank = depth - 1 if ragged_rank is None else int(ragged_rank)
    rank -= 0 if inner_shape is None or ragged_rank is not None else len(tuple(inner_shape))
    if not 0 <= rank < max(depth, 1):
        raise InvalidArgumentError(f"ragged.constant: ragged_rank {rank} of lists {depth} deep")
    flat, lengths = _rows(pylist, rank)
    values = convert(flat, None if dtype is None else _dtypes.as_dtype(dtype))
    if not rank:
        return values
    splits = _dtypes.as_dtype(row_splits_dtype)
    ends = [np.concatenate([[0], np.cumsum(n)]).astype(splits) for n in lengths]
    return _sparse.RaggedTensor(_engine.eager(values), [_engine.eager(e) for e in ends])


@publish("ragged.range")
def ragged_range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype="int64"):
    """Rows of numbers, each from its start up to its limit; with one argument from 0 on."""
    if limits is None:
        starts, limits = np.zeros_like(np.asarray(starts)), starts
    a, b, d = np.broadcast_arrays(np.atleast_1d(starts), np.atleast_1d(limits), deltas)
    rows = [np.arange(x, y, z).tolist() for x, y, z in zip(a, b, d)]
    return constant(rows, dtype or np.asarray(convert(limits)).dtype, 1, None, None, row_splits_dtype)


@publish("is_tensor")
def is_tensor(x):
    """Is it a symbolic value or an array?"""
    return _call.is_typed(x) or hasattr(x, "parts")


@publish("executing_eagerly")
def executing_eagerly():
    """Not while a function is traced."""
    from . import _trace

    return _trace.current() is None


