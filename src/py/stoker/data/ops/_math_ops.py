# SPDX-License-Identifier: Apache-2.0
"""tf.math operations composed of others."""

import numpy as np

from ..core import _call, _dtypes
from ..core._call import convert, run, same
from ._ops import as_float, cast, do, publish
from ..errors import InvalidArgumentError


def _one(x):
    return np.asarray(1, x.dtype)


def _unary(names, about, f):
    def op(x, name=None):
        return f(as_float(x))

    op.__name__ = op.__qualname__ = names.split(",")[0].split(".")[-1]
    op.__doc__ = about
    return publish(names)(op)


def _half(x):
    return np.asarray(0.5, x.dtype)


_unary("math.rint", "To the nearest integer, ties to even.", lambda x: do.round(x))
_unary("math.erfc", "1 less erf(x).", lambda x: do.subtract(_one(x), do.math.erf(x)))
_unary(
    "asinh,math.asinh",
    "Inverse hyperbolic sine.",
    lambda x: do.multiply(
        do.sign(x),
        do.log(do.add(do.abs(x), do.sqrt(do.add(do.square(x), _one(x))))),
    ),
)
_unary(
    "acosh,math.acosh",
    "Inverse hyperbolic cosine.",
    lambda x: do.log(do.add(x, do.sqrt(do.subtract(do.square(x), _one(x))))),
)
_unary(
    "atanh,math.atanh",
    "Inverse hyperbolic tangent.",
    lambda x: do.multiply(
        _half(x), do.subtract(do.math.log1p(x), do.math.log1p(do.negative(x)))
    ),
)
_unary(
    "math.log_sigmoid,nn.log_sigmoid",
    "log(sigmoid(x)).",
    lambda x: do.negative(do.math.softplus(do.negative(x))),
)
_unary(
    "math.softsign,nn.softsign",
    "x / (1 + |x|).",
    lambda x: do.truediv(x, do.add(_one(x), do.abs(x))),
)
_unary(
    "math.reciprocal_no_nan",
    "1 / x, 0 where x is 0.",
    lambda x: do.math.divide_no_nan(do.ones_like(x), x),
)


def _zero_where_zero(x, f):
    """f where x is not 0, 0 where it is."""
    is_zero = do.equal(x, np.asarray(0, x.dtype))
    return do.where(is_zero, np.asarray(0, x.dtype), f)


@publish("math.xlogy")
def xlogy(x, y, name=None):
    """x * log(y), 0 where x is 0."""
    x, y = same(x, y)
    return _zero_where_zero(x, do.multiply(x, do.log(y)))


@publish("math.xlog1py")
def xlog1py(x, y, name=None):
    """x * log(1 + y), 0 where x is 0."""
    x, y = same(x, y)
    return _zero_where_zero(x, do.multiply(x, do.math.log1p(y)))


@publish("math.xdivy")
def xdivy(x, y, name=None):
    """x / y, 0 where x is 0."""
    x, y = same(x, y)
    return _zero_where_zero(x, do.truediv(x, y))


@publish("math.multiply_no_nan")
def multiply_no_nan(x, y, name=None):
    """x * y, 0 where y is 0."""
    x, y = same(x, y)
    return _zero_where_zero(y, do.multiply(x, y))


@publish("scalar_mul,math.scalar_mul")
def scalar_mul(scalar, x, name=None):
    """x times a scalar."""
    return do.multiply(scalar, x)


@publish("reduce_logsumexp,math.reduce_logsumexp")
def reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None):
    """log of the sum of exp along axes, without overflow for large values."""
    x = as_float(input_tensor)
    most = do.reduce_max(x, axis=axis, keepdims=True)
    is_finite = do.math.is_finite(most)
    most = do.where(is_finite, most, np.asarray(0, x.dtype))
    total = do.log(do.reduce_sum(do.exp(do.subtract(x, most)), axis=axis, keepdims=keepdims))
    if keepdims:
        return do.add(total, most)
    return do.add(total, do.reduce_sum(most, axis=axis) if axis is not None else do.reshape(most, []))


@publish("math.reduce_euclidean_norm")
def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None):
    """The root of the sum of squares along axes."""
    squares = do.square(convert(input_tensor))
    total = do.reduce_sum(squares, axis=axis, keepdims=keepdims)
    return do.sqrt(total)


@publish("math.log_softmax,nn.log_softmax")
def log_softmax(logits, axis=None, name=None):
    """log of softmax along an axis, by default the last."""
    x, axis = convert(logits), -1 if axis is None else axis
    return do.subtract(x, reduce_logsumexp(x, axis=axis, keepdims=True))


@publish("math.zero_fraction,nn.zero_fraction")
def zero_fraction(value, name=None):
    """The share of zeros."""
    x = convert(value)
    is_zero = do.equal(x, np.asarray(0, x.dtype))
    return do.reduce_mean(cast(is_zero, "float32"))


@publish("math.polyval")
def polyval(coeffs, x, name=None):
    """Evaluates a polynomial: coeffs from the highest power down."""
    if not isinstance(coeffs, (list, tuple)):
        raise InvalidArgumentError("polyval: coeffs is a list")
    x = convert(x)
    total = do.zeros_like(x)
    for c in coeffs:
        total = do.add(do.multiply(total, x), c if _call.is_typed(c) else convert(c, x.dtype))
    return total


@publish("math.bincount")
def bincount(arr, weights=None, minlength=None, maxlength=None, dtype="int32", name=None):
    """How often each number from 0 on occurs in a vector; with weights, their sums."""
    x = cast(do.reshape(convert(arr), [-1]), "int64")
    size = do.add(do.reduce_max(do.concat([x, np.array([-1])], 0)), np.int64(1))
    if minlength is not None:
        size = do.maximum(size, cast(convert(minlength), "int64"))
    if maxlength is not None:
        size = do.minimum(size, cast(convert(maxlength), "int64"))
    if weights is None:
        attrs = {"dtype": _dtypes.number(_dtypes.as_dtype(dtype))}
        return run("bincount", [x, size], attrs)[0]
    return run("bincount", [x, size, do.reshape(convert(weights), [-1])], {})[0]


@publish("searchsorted")
def searchsorted(sorted_sequence, values, side="left", out_type="int32", name=None):
    """Where to insert values into a sorted vector, or into sorted rows, to keep its order."""
    if side not in ("left", "right"):
        raise InvalidArgumentError(f"searchsorted: side is 'left' or 'right', not {side!r}")
    attrs = {"right": int(side == "right"), "out_type": _dtypes.number(_dtypes.as_dtype(out_type))}
    return run("searchsorted", same(sorted_sequence, values), attrs)[0]
