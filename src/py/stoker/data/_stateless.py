# SPDX-License-Identifier: Apache-2.0
"""Random values whose bits come from a seed of two numbers that the caller gives, and generators.

The same seed gives the same values, in a pipeline and outside, whatever the element. They are not
TensorFlow's bits. Mixing is splitmix64's, of the seed and the number of the value.
"""

import types

import numpy as np

from . import _call, _dtypes, _ops
from ._call import convert
from ._ops import PUBLIC, cast
from .errors import InvalidArgumentError

_U64 = np.dtype("uint64")
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))
_GOLDEN, _OTHER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)


def _shifted(z, places):
    return PUBLIC["bitwise.right_shift"](z, np.asarray(places, _U64))


def bits(seed, numbers):
    """64 random bits of a seed (two integers) for each of the numbers, uint64."""
    seed = cast(convert(seed), _U64)
    z = PUBLIC["add"](
        PUBLIC["multiply"](seed[0], _GOLDEN),
        PUBLIC["multiply"](PUBLIC["add"](seed[1], PUBLIC["add"](numbers, np.uint64(1))), _OTHER),
    )
    for places, factor in _MIX:
        z = PUBLIC["multiply"](
            PUBLIC["bitwise.bitwise_xor"](z, _shifted(z, places)), np.asarray(factor, _U64)
        )
    return z


def unit(seed, numbers):
    """A float32 in [0, 1) for each of the numbers: the upper 24 bits."""
    top = cast(_shifted(bits(seed, numbers), 40), "float32")
    return PUBLIC["multiply"](top, np.float32(2.0**-24))


def _sizes(shape):
    known = _ops.static_ints(shape)
    return known if known is not None else convert(shape)


def _numbers(shape, salt=0):
    """0, 1, ... in that shape, uint64, from another beginning for each salt."""
    known = _ops.static_ints(shape)
    if known is not None:
        count = int(np.prod(known, dtype=np.int64)) if known else 1
        return (np.arange(count, dtype=_U64) + np.uint64(salt << 40)).reshape(known)
    count = PUBLIC["reduce_prod"](cast(convert(shape), "int64"))
    places = cast(PUBLIC["range"](count), _U64)
    return PUBLIC["reshape"](PUBLIC["add"](places, np.uint64(salt << 40)), convert(shape))


def stateless_uniform(
    shape, seed, minval=0, maxval=None, dtype="float32", name=None, alg="auto_select"
):
    """Evenly distributed values in [minval, maxval) of a seed of two integers."""
    dtype = _dtypes.as_dtype(dtype)
    if dtype.kind in "iu":
        if (maxval is None) != (minval is None):
            raise InvalidArgumentError("stateless_uniform: integers need both bounds, or None for both")
        drawn = bits(seed, _numbers(shape))
        if maxval is None:
            return cast(drawn, dtype)
        low, high = cast(convert(minval), "int64"), cast(convert(maxval), "int64")
        span = cast(PUBLIC["subtract"](high, low), _U64)
        inside = PUBLIC["floormod"](_shifted(drawn, 1), span)
        return cast(PUBLIC["add"](cast(inside, "int64"), low), dtype)
    high = 1.0 if maxval is None else maxval
    u = cast(unit(seed, _numbers(shape)), dtype)
    low, high = _float(minval, dtype), _float(high, dtype)
    return PUBLIC["add"](PUBLIC["multiply"](u, PUBLIC["subtract"](high, low)), low)


def _float(v, dtype):
    return cast(v, dtype) if _call.is_typed(v) else convert(v, dtype)


def _normal(shape, seed, attempt):
    """Box and Muller's, float32."""
    u = unit(seed, _numbers(shape, 2 * attempt))
    v = unit(seed, _numbers(shape, 2 * attempt + 1))
    length = PUBLIC["sqrt"](PUBLIC["multiply"](np.float32(-2), PUBLIC["log"](PUBLIC["subtract"](np.float32(1), u))))
    return PUBLIC["multiply"](length, PUBLIC["cos"](PUBLIC["multiply"](v, np.float32(2 * np.pi))))


def _scaled(z, mean, stddev, dtype):
    z = cast(z, dtype)
    return PUBLIC["add"](PUBLIC["multiply"](z, _float(stddev, dtype)), _float(mean, dtype))


def stateless_normal(
    shape, seed, mean=0.0, stddev=1.0, dtype="float32", name=None, alg="auto_select"
):
    """Normally distributed values of a seed of two integers."""
    return _scaled(_normal(shape, seed, 0), mean, stddev, _dtypes.as_dtype(dtype))


def stateless_truncated_normal(
    shape, seed, mean=0.0, stddev=1.0, dtype="float32", name=None, alg="auto_select"
):
    """Normally distributed values within two standard deviations, of a seed of two integers."""
    z = _normal(shape, seed, 0)
    for attempt in range(1, 8):  # one of 10**9 is left beyond, and cut
        is_beyond = PUBLIC["greater"](PUBLIC["abs"](z), np.float32(2))
        z = PUBLIC["where"](is_beyond, _normal(shape, seed, attempt), z)
    z = PUBLIC["clip_by_value"](z, np.float32(-2), np.float32(2))
    return _scaled(z, mean, stddev, _dtypes.as_dtype(dtype))


def stateless_categorical(logits, num_samples, seed, dtype="int64", name=None):
    """(rows, num_samples) class numbers drawn by each row's unnormalised log chances."""
    x = cast(logits, "float32")
    count = int(_ops.attribute(num_samples, "num_samples"))
    sizes = PUBLIC["shape"](x)
    shape = PUBLIC["stack"]([sizes[0], np.int32(count), sizes[1]])
    u = PUBLIC["maximum"](unit(seed, _numbers(shape)), np.float32(2.0**-25))
    gumbel = PUBLIC["negative"](PUBLIC["log"](PUBLIC["negative"](PUBLIC["log"](u))))
    drawn = PUBLIC["argmax"](PUBLIC["add"](PUBLIC["expand_dims"](x, 1), gumbel), axis=2)
    return cast(drawn, dtype)


def stateless_shuffle(value, seed, alg="auto_select", name=None):
    """The slices along the first dimension in the order of a seed."""
    x = convert(value)
    count = PUBLIC["shape"](x)[0]
    keys = cast(_shifted(bits(seed, _numbers(PUBLIC["stack"]([count]))), 1), "int64")
    return PUBLIC["gather"](x, PUBLIC["argsort"](keys))


def fold_in(seed, data, alg="auto_select"):
    """Another seed of two integers, of this one and a number."""
    seed, data = convert(seed), cast(convert(data), _U64)
    numbers = PUBLIC["add"](PUBLIC["multiply"](data, np.uint64(2)), np.arange(2, dtype=_U64))
    return _as_seed(bits(seed, numbers), seed.dtype)


def split(seed, num=2, alg="auto_select"):
    """`num` seeds (num, 2) of one."""
    seed = convert(seed)
    return _as_seed(bits(seed, _numbers([int(_ops.attribute(num, "num")), 2], 1)), seed.dtype)


def _as_seed(drawn, dtype):
    dtype = dtype if dtype.kind in "iu" else np.dtype("int64")
    return cast(_shifted(drawn, 1 if dtype.itemsize == 8 else 33), dtype)


def create_rng_state(seed, alg="auto_select"):
    """The state of a Generator of that seed: three int64."""
    seed = np.ravel(np.asarray(seed, np.int64))
    return np.concatenate([np.zeros(1, np.int64), np.resize(seed, 2)])[:3]


class Generator:
    """Random values one after the other. In a pipeline each element has its own, by its position."""

    def __init__(self, copy_from=None, state=None, alg=None):
        if copy_from is not None:
            self._seed, self._count = copy_from._seed, copy_from._count
        else:
            state = np.ravel(np.asarray(create_rng_state(0) if state is None else state, np.int64))
            self._count, self._seed = int(state[0]), int(state[1])

    @classmethod
    def from_seed(cls, seed, alg=None):
        """A generator of that seed."""
        return cls(state=create_rng_state(seed))

    @classmethod
    def from_state(cls, state, alg=None):
        """A generator that goes on where another stood (its `state`)."""
        return cls(state=state)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """A generator of a seed that nobody knows."""
        return cls.from_seed(int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1))

    @classmethod
    def from_key_counter(cls, key, counter, alg=None):
        """A generator of a key, after so many draws."""
        return cls(state=[int(np.ravel(counter)[0]), int(np.ravel(key)[0]), 0])

    @property
    def state(self):
        """What from_state takes: int64 (3)."""
        return np.array([self._count, self._seed, self._seed], np.int64)

    @property
    def key(self):
        """The seed."""
        return np.int64(self._seed)

    algorithm = 1

    def reset_from_seed(self, seed):
        """From the beginning, with that seed."""
        self._count, self._seed = 0, int(np.ravel(seed)[0])

    def reset(self, state):
        """To that state."""
        self.__init__(state=state)

    def skip(self, delta):
        """As if so many draws had been made."""
        self._count += int(delta)

    def _next(self):
        """The seed of another draw: of this generator and how many there were."""
        drawn = bits(np.array([self._seed, self._count], np.int64), np.uint64(0))
        self._count += 1
        return int(np.asarray(drawn).item() >> 1)

    def uniform(self, shape, minval=0, maxval=None, dtype="float32", name=None):
        """As random.uniform."""
        from . import random

        return random.uniform(shape, minval, maxval, dtype, self._next())

    def normal(self, shape, mean=0.0, stddev=1.0, dtype="float32", name=None):
        """As random.normal."""
        from . import random

        return random.normal(shape, mean, stddev, dtype, self._next())

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype="float32", name=None):
        """As random.truncated_normal."""
        from . import random

        return random.truncated_normal(shape, mean, stddev, dtype, self._next())

    def uniform_full_int(self, shape, dtype="uint64", name=None):
        """Random bits of an integer type."""
        from . import random

        halves = random.uniform(shape, 0, 2**62, "int64", self._next())
        more = random.uniform(shape, 0, 2**62, "int64", self._next())
        wide = PUBLIC["bitwise.bitwise_xor"](
            cast(halves, _U64), PUBLIC["bitwise.left_shift"](cast(more, _U64), np.uint64(32))
        )
        return cast(wide, dtype)

    def make_seeds(self, count=1):
        """(2, count) int64: seeds for the stateless operations."""
        return cast(self.uniform_full_int([2, count]), "int64")

    def split(self, count=1):
        """`count` generators that draw other values than this one."""
        return [Generator.from_seed(self._next()) for _ in range(count)]


_global = [None]


def get_global_generator():
    """The process' generator, of a seed that nobody knows until set_global_generator gives one."""
    if _global[0] is None:
        _global[0] = Generator.from_non_deterministic_state()
    return _global[0]


def set_global_generator(generator):
    """Another one in its place."""
    _global[0] = generator


experimental = types.SimpleNamespace(
    Generator=Generator,
    create_rng_state=create_rng_state,
    get_global_generator=get_global_generator,
    set_global_generator=set_global_generator,
    stateless_fold_in=fold_in,
    stateless_split=split,
    stateless_shuffle=stateless_shuffle,
)
