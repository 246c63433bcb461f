# SPDX-License-Identifier: Apache-2.0
"""random.Generator: values drawn one after the other from a state that the caller keeps.

Each draw is an ordinary random operation whose seed is made of the generator's and the number of the
draw. The bits are not TensorFlow's.
"""

import numpy as np

from . import _random as random
from ._ops import cast, do
from ._stateless import bits

_U64 = np.dtype("uint64")


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
        return random.uniform(shape, minval, maxval, dtype, self._next())

    def normal(self, shape, mean=0.0, stddev=1.0, dtype="float32", name=None):
        """As random.normal."""
        return random.normal(shape, mean, stddev, dtype, self._next())

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype="float32", name=None):
        """As random.truncated_normal."""
        return random.truncated_normal(shape, mean, stddev, dtype, self._next())

    def uniform_full_int(self, shape, dtype="uint64", name=None):
        """Random bits of an integer type."""
        halves = random.uniform(shape, 0, 2**62, "int64", self._next())
        more = random.uniform(shape, 0, 2**62, "int64", self._next())
        wide = do.bitwise.bitwise_xor(
            cast(halves, _U64), do.bitwise.left_shift(cast(more, _U64), np.uint64(32))
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
