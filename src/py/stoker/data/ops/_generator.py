# SPDX-License-Identifier: Apache-2.0
"""random.Generator: draws values one after the other from a state that the caller keeps.

Each draw is an ordinary random operation whose seed combines the generator's and the number of the draw. The bits
aren't TensorFlow's.
"""

import numpy as np

from . import _random as random
from ._ops import cast, do
from ._stateless import bits

_U64 = np.dtype("uint64")


def create_rng_state(seed, alg="auto_select"):
    """The state of a Generator with that seed: three int64."""
    seed = np.ravel(np.asarray(seed, np.int64))
    return np.concatenate([np.zeros(1, np.int64), np.resize(seed, 2)])[:3]


class Generator:
    """Random values one after the other. In a pipeline each element has its own, by position."""

    def __init__(self, copy_from=None, state=None, alg=None):
        if copy_from is not None:
            self._seed, self._count = copy_from._seed, copy_from._count
        else:
            state = np.ravel(np.asarray(create_rng_state(0) if state is None else state, np.int64))
            self._count, self._seed = int(state[0]), int(state[1])

    @classmethod
    def from_seed(cls, seed, alg=None):
        """A generator with that seed."""
        return cls(state=create_rng_state(seed))

    @classmethod
    def from_state(cls, state, alg=None):
        """A generator that continues from another's `state`."""
        return cls(state=state)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """A generator with a random seed."""
        return cls.from_seed(int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1))

    @classmethod
    def from_key_counter(cls, key, counter, alg=None):
        """A generator with a key, after a number of draws."""
        return cls(state=[int(np.ravel(counter)[0]), int(np.ravel(key)[0]), 0])

    @property
    def state(self):
        """The argument of from_state: int64 (3)."""
        return np.array([self._count, self._seed, self._seed], np.int64)

    @property
    def key(self):
        """The seed."""
        return np.int64(self._seed)

    algorithm = 1

    def reset_from_seed(self, seed):
        """Restarts with that seed."""
        self._count, self._seed = 0, int(np.ravel(seed)[0])

    def reset(self, state):
        """Restores that state."""
        self.__init__(state=state)

    def skip(self, delta):
        """Skips a number of draws."""
        self._count += int(delta)

    def _next(self):
        """The seed of the next draw: from this generator's and the number of draws so far."""
        drawn = bits(np.array([self._seed, self._count], np.int64), np.uint64(0))
        self._count += 1
        return int(np.asarray(drawn).item() >> 1)

    def uniform(self, shape, minval=0, maxval=None, dtype="float32", name=None):
        """Like random.uniform."""
        return random.uniform(shape, minval, maxval, dtype, self._next())

    def normal(self, shape, mean=0.0, stddev=1.0, dtype="float32", name=None):
        """Like random.normal."""
        return random.normal(shape, mean, stddev, dtype, self._next())

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype="float32", name=None):
        """Like random.truncated_normal."""
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
    """The process's generator, with a random seed until set_global_generator replaces it."""
    if _global[0] is None:
        _global[0] = Generator.from_non_deterministic_state()
    return _global[0]


def set_global_generator(generator):
    """Replaces it."""
    _global[0] = generator
