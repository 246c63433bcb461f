# SPDX-License-Identifier: Apache-2.0
"""Random values: per element within a dataset, from (seed, epoch, index)."""

import numpy as np

from . import _ops
from ..core import _call, _dtypes
from ..core._trace import TraceError
from ..core._value import Value
from ..errors import InvalidArgumentError


def _drawn(op, shape, dtype, attrs, seed):
    inputs, attrs = [], {
        k: float(_ops.attribute(v, k)) if dtype.kind != "i" else int(v) for k, v in attrs.items()
    }
    _ops._put_shape(inputs, attrs, "shape", shape, "h")
    attrs["dtype"] = _dtypes.number(dtype)
    if seed is not None:
        attrs["seed"] = int(seed) & (2**63 - 1)
    return _ops.partly_shaped(_call.run(op, inputs, attrs, is_random=True)[0], shape)


def _is_known(v):
    """Is it a single number known now? Otherwise bounds are part of the computation."""
    if _call.is_symbolic(v):
        return isinstance(v, Value) and v.constant() is not None and not v.shape
    return np.ndim(v) == 0


def _between(shape, low, high, dtype, seed):
    """Values between bounds that are values themselves."""
    low, high = _call.convert(low, dtype), _call.convert(high, dtype)
    span = _ops.subtract(high, low)
    if dtype.kind == "f" or dtype == _dtypes.bfloat16:
        unit = _drawn("random_uniform", shape, dtype, {"minval": 0, "maxval": 1}, seed)
        return _ops.add(_ops.multiply(unit, span), low)
    # 62 bits modulo the span: probabilities differ by at most span / 2**62
    wide = np.dtype("int64")
    bits = _drawn("random_uniform", shape, wide, {"minval": 0, "maxval": 2**62}, seed)
    return _ops.add(_ops.cast(_ops.floormod(bits, _ops.cast(span, wide)), dtype), low)


def uniform(shape, minval=0, maxval=None, dtype="float32", seed=None, name=None):
    """Uniform values in [minval, maxval); floats in [0, 1) by default. Bounds may be values of the traced function, and
    arrays that broadcast to the shape."""
    dtype = _dtypes.as_dtype(dtype)
    if maxval is None:
        if dtype.kind in "iu":
            raise TraceError("uniform: integers need maxval")
        maxval = 1
    if not (_is_known(minval) and _is_known(maxval)):
        return _between(shape, minval, maxval, dtype, seed)
    return _drawn("random_uniform", shape, dtype, {"minval": minval, "maxval": maxval}, seed)


def _spread(op, shape, mean, stddev, dtype, seed):
    """Values around a mean; it and the deviation may be values or arrays."""
    if _is_known(mean) and _is_known(stddev):
        return _drawn(op, shape, dtype, {"mean": mean, "stddev": stddev}, seed)
    z = _drawn(op, shape, dtype, {"mean": 0, "stddev": 1}, seed)
    mean, stddev = _call.convert(mean, dtype), _call.convert(stddev, dtype)
    return _ops.add(_ops.multiply(z, stddev), mean)


def normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None, name=None):
    """Normally distributed values."""
    return _spread("random_normal", shape, mean, stddev, _dtypes.as_dtype(dtype), seed)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None, name=None):
    """Normally distributed values within two standard deviations of the mean."""
    return _spread("truncated_normal", shape, mean, stddev, _dtypes.as_dtype(dtype), seed)


def gamma(shape, alpha, beta=None, dtype="float32", seed=None, name=None):
    """Gamma distributed values with shape alpha and rate beta (1); `shape` gives how many for each."""
    dtype = _dtypes.as_dtype(dtype)
    wide = np.dtype("float64") if dtype == np.dtype("float64") else np.dtype("float32")
    alpha = _ops.as_type(alpha, wide)
    rate = None if beta is None else _ops.as_type(beta, wide)
    if rate is not None:  # each pair draws separately
        alpha = _ops.add(alpha, _ops.zeros_like(rate))
    sizes = _ops.static_ints(shape)
    if sizes is None:
        raise TraceError("gamma: shape must be known while the function is traced")
    attrs = {"shape": ("ints", sizes)}
    if seed is not None:
        attrs["seed"] = int(seed) & (2**63 - 1)
    out = _call.run("random_gamma", [alpha], attrs, is_random=True)[0]
    out = out if rate is None else _ops.truediv(out, rate)
    return _ops.cast(out, dtype)


def beta(shape, alpha, beta, dtype="float32", seed=None, name=None):
    """Beta distributed values, as used for mixing images."""
    other = None if seed is None else int(seed) + 0x9E3779B9
    x = gamma(shape, _ops.add(_ops.as_type(alpha, _F64), _ops.zeros_like(_ops.as_type(beta, _F64))), dtype=_F64, seed=seed)
    y = gamma(shape, _ops.add(_ops.as_type(beta, _F64), _ops.zeros_like(_ops.as_type(alpha, _F64))), dtype=_F64, seed=other)
    return _ops.cast(_ops.truediv(x, _ops.add(x, y)), dtype)


_F64 = np.dtype("float64")


def categorical(logits, num_samples, dtype=None, seed=None, name=None):
    """(rows, num_samples) class numbers, int64, drawn by each row's unnormalized log probabilities."""
    x = _ops.cast(logits, "float32")
    if x.shape is None or len(x.shape) != 2:
        raise TraceError("categorical takes a matrix of log chances")
    count = int(_ops.attribute(num_samples, "num_samples"))
    sizes = _ops.do.shape(x)
    u = uniform(_ops.stack([sizes[0], np.int32(count), sizes[1]]), np.finfo("f4").tiny, 1.0, seed=seed)
    gumbel = _ops.negative(_ops.log(_ops.negative(_ops.log(u))))
    drawn = _ops.argmax(_ops.add(_ops.expand_dims(x, 1), gumbel), axis=2)
    return _ops.cast(drawn, "int64" if dtype is None else dtype)


@_ops.publish("image.random_crop,random.crop")
def random_crop(value, size, seed=None, name=None):
    """A part of that size, at a random place."""
    value = _call.convert(value)
    known = _ops.static_ints(size)
    room = value.shape
    if known is not None and room is not None and len(known) == len(room):
        if any(s is not None and k > s for k, s in zip(known, room)):
            raise InvalidArgumentError(f"random_crop: {tuple(known)} is larger than {room}")
    size = np.asarray(known, np.int32) if known is not None else _call.convert(size)
    room = _call.run("shape", [value], {"out_type": _dtypes.number("int32")})[0] - size + np.int32(1)
    n = len(known) if known is not None else size.shape[0]
    begin = _ops.cast(uniform([n], seed=seed) * _ops.cast(room, "float32"), "int32")
    return _ops.do.slice(value, begin, known if known is not None else size)
