# SPDX-License-Identifier: Apache-2.0
"""Random values whose bits come from a given seed of two numbers.

The same seed gives the same values, in a pipeline and outside, for every element. They aren't TensorFlow's bits. Mixes
the seed and the number of the value with splitmix64.
"""

import numpy as np

from ..core import _dtypes
from . import _ops
from ..core._call import convert
from ._ops import as_type, cast, do
from ..errors import InvalidArgumentError

_U64 = np.dtype("uint64")
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))
_GOLDEN, _OTHER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)


def _shifted(z, places):
    return do.bitwise.right_shift(z, np.asarray(places, _U64))


def bits(seed, numbers):
    """64 random bits from a seed (two integers) for each of the numbers, uint64."""
    seed = cast(convert(seed), _U64)
    z = do.add(
        do.multiply(seed[0], _GOLDEN),
        do.multiply(do.add(seed[1], do.add(numbers, np.uint64(1))), _OTHER),
    )
    for places, factor in _MIX:
        z = do.multiply(
            do.bitwise.bitwise_xor(z, _shifted(z, places)), np.asarray(factor, _U64)
        )
    return z


def unit(seed, numbers):
    """A float32 in [0, 1) for each of the numbers: the upper 24 bits."""
    top = cast(_shifted(bits(seed, numbers), 40), "float32")
    return do.multiply(top, np.float32(2.0**-24))


def _sizes(shape):
    known = _ops.static_ints(shape)
    return known if known is not None else convert(shape)


def _numbers(shape, salt=0):
    """0, 1, ... in that shape, uint64, with another start for each salt."""
    known = _ops.static_ints(shape)
    if known is not None:
        count = int(np.prod(known, dtype=np.int64)) if known else 1
        return (np.arange(count, dtype=_U64) + np.uint64(salt << 40)).reshape(known)
    count = do.reduce_prod(cast(convert(shape), "int64"))
    places = cast(do.range(count), _U64)
    return do.reshape(do.add(places, np.uint64(salt << 40)), convert(shape))


def stateless_uniform(
    shape, seed, minval=0, maxval=None, dtype="float32", name=None, alg="auto_select"
):
    """Uniform values in [minval, maxval) from a seed of two integers."""
    dtype = _dtypes.as_dtype(dtype)
    if dtype.kind in "iu":
        if (maxval is None) != (minval is None):
            raise InvalidArgumentError("stateless_uniform: integers need both bounds, or None for both")
        drawn = bits(seed, _numbers(shape))
        if maxval is None:
            return cast(drawn, dtype)
        low, high = cast(convert(minval), "int64"), cast(convert(maxval), "int64")
        span = cast(do.subtract(high, low), _U64)
        inside = do.floormod(_shifted(drawn, 1), span)
        return cast(do.add(cast(inside, "int64"), low), dtype)
    high = 1.0 if maxval is None else maxval
    u = cast(unit(seed, _numbers(shape)), dtype)
    low, high = as_type(minval, dtype), as_type(high, dtype)
    return do.add(do.multiply(u, do.subtract(high, low)), low)


def _normal(shape, seed, attempt):
    """Box and Muller's, float32."""
    u = unit(seed, _numbers(shape, 2 * attempt))
    v = unit(seed, _numbers(shape, 2 * attempt + 1))
    length = do.sqrt(do.multiply(np.float32(-2), do.log(do.subtract(np.float32(1), u))))
    return do.multiply(length, do.cos(do.multiply(v, np.float32(2 * np.pi))))


def _scaled(z, mean, stddev, dtype):
    z = cast(z, dtype)
    return do.add(do.multiply(z, as_type(stddev, dtype)), as_type(mean, dtype))


def stateless_normal(
    shape, seed, mean=0.0, stddev=1.0, dtype="float32", name=None, alg="auto_select"
):
    """Normally distributed values from a seed of two integers."""
    return _scaled(_normal(shape, seed, 0), mean, stddev, _dtypes.as_dtype(dtype))


def stateless_truncated_normal(
    shape, seed, mean=0.0, stddev=1.0, dtype="float32", name=None, alg="auto_select"
):
    """Normally distributed values within two standard deviations, from a seed of two integers."""
    z = _normal(shape, seed, 0)
    for attempt in range(1, 8):  # one in 10**9 is still beyond, and is clipped
        is_beyond = do.greater(do.abs(z), np.float32(2))
        z = do.where(is_beyond, _normal(shape, seed, attempt), z)
    z = do.clip_by_value(z, np.float32(-2), np.float32(2))
    return _scaled(z, mean, stddev, _dtypes.as_dtype(dtype))


def stateless_categorical(logits, num_samples, seed, dtype="int64", name=None):
    """(rows, num_samples) class numbers drawn by each row's unnormalized log probabilities."""
    x = cast(logits, "float32")
    count = int(_ops.attribute(num_samples, "num_samples"))
    sizes = do.shape(x)
    shape = do.stack([sizes[0], np.int32(count), sizes[1]])
    u = do.maximum(unit(seed, _numbers(shape)), np.float32(2.0**-25))
    gumbel = do.negative(do.log(do.negative(do.log(u))))
    drawn = do.argmax(do.add(do.expand_dims(x, 1), gumbel), axis=2)
    return cast(drawn, dtype)


def stateless_shuffle(value, seed, alg="auto_select", name=None):
    """Shuffles the slices along the first dimension by a seed."""
    x = convert(value)
    count = do.shape(x)[0]
    keys = cast(_shifted(bits(seed, _numbers(do.stack([count]))), 1), "int64")
    return do.gather(x, do.argsort(keys))


def fold_in(seed, data, alg="auto_select"):
    """Derives another seed of two integers from this one and a number."""
    seed, data = convert(seed), cast(convert(data), _U64)
    numbers = do.add(do.multiply(data, np.uint64(2)), np.arange(2, dtype=_U64))
    return _as_seed(bits(seed, numbers), seed.dtype)


def split(seed, num=2, alg="auto_select"):
    """Derives `num` seeds (num, 2) from one."""
    seed = convert(seed)
    return _as_seed(bits(seed, _numbers([int(_ops.attribute(num, "num")), 2], 1)), seed.dtype)


def _as_seed(drawn, dtype):
    dtype = dtype if dtype.kind in "iu" else np.dtype("int64")
    return cast(_shifted(drawn, 1 if dtype.itemsize == 8 else 33), dtype)
