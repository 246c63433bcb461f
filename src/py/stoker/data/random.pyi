# SPDX-License-Identifier: Apache-2.0
# Written by tools/py-stubs.
from builtins import bool as _bool
from collections.abc import Callable as _Callable, Iterator as _Iterator, Sequence as _Sequence
from typing import Any, overload as _overload

import numpy as np

from ._op_types import Array as _Array, Int64 as _Int64, Bytes as _Bytes, Value as _Value, Symbolic as _Symbolic, Plain as _Plain, Tensor as _Tensor, Int as _Int, Flag as _Flag, Float as _Float, Ints as _Ints, PlainInt as _PlainInt, PlainInts as _PlainInts, DType as _DType, U as _U

from . import Value as Value

class Generator:
    """Random values one after the other. In a pipeline each element has its own, by its position."""
    def __init__(self, copy_from: Any = None, state: Any = None, alg: Any = None) -> None:
        ...
    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Any:
        """A generator of that seed."""
    @classmethod
    def from_state(cls, state: Any, alg: Any = None) -> Any:
        """A generator that goes on where another stood (its `state`)."""
    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Any:
        """A generator of a seed that nobody knows."""
    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any = None) -> Any:
        """A generator of a key, after so many draws."""
    @property
    def state(self) -> Any:
        """What from_state takes: int64 (3)."""
    @property
    def key(self) -> Any:
        """The seed."""
    algorithm: Any
    def reset_from_seed(self, seed: Any) -> Any:
        """From the beginning, with that seed."""
    def reset(self, state: Any) -> Any:
        """To that state."""
    def skip(self, delta: Any) -> Any:
        """As if so many draws had been made."""
    def uniform(self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = 'float32', name: Any = None) -> Any:
        """As random.uniform."""
    def normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = 'float32', name: Any = None) -> Any:
        """As random.normal."""
    def truncated_normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = 'float32', name: Any = None) -> Any:
        """As random.truncated_normal."""
    def uniform_full_int(self, shape: Any, dtype: Any = 'uint64', name: Any = None) -> Any:
        """Random bits of an integer type."""
    def make_seeds(self, count: Any = 1) -> Any:
        """(2, count) int64: seeds for the stateless operations."""
    def split(self, count: Any = 1) -> Any:
        """`count` generators that draw other values than this one."""
def beta(shape: Any, alpha: Any, beta: Any, dtype: Any = 'float32', seed: Any = None, name: Any = None) -> Any:
    """Beta distributed values of shapes alpha and beta, as mixing images takes them."""
def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None, name: Any = None) -> Any:
    """(rows, num_samples) class numbers, int64, drawn by each row's unnormalised log chances."""
def create_rng_state(seed: Any, alg: Any = 'auto_select') -> Any:
    """The state of a Generator of that seed: three int64."""
@_overload
def crop(value: _Symbolic, size: Any, seed: Any = None, name: str | None = None) -> _Value:
    """A part of that size, at a random place."""
@_overload
def crop(value: _Plain, size: Any, seed: Any = None, name: str | None = None) -> Any:
    """A part of that size, at a random place."""
experimental: Any
def fold_in(seed: Any, data: Any, alg: Any = 'auto_select') -> Any:
    """Another seed of two integers, of this one and a number."""
def gamma(shape: Any, alpha: Any, beta: Any = None, dtype: Any = 'float32', seed: Any = None, name: Any = None) -> Any:
    """Gamma distributed values of shape alpha and rate beta (1), as many as `shape` says of each."""
def get_global_generator() -> Any:
    """The process' generator, of a seed that nobody knows until set_global_generator gives one."""
def get_seed() -> Any:
    """The seed that was set, or None."""
def next_order() -> Any:
    """The number of another shuffle that keeps its order, since the seed was set."""
def normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = 'float32', seed: Any = None, name: Any = None) -> Any:
    """Normally distributed values."""
def process_seed() -> Any:
    """A seed drawn once in this process, for datasets without one that must agree."""
def set_global_generator(generator: Any) -> Any:
    """Another one in its place."""
def set_seed(seed: Any) -> Any:
    """The seed of every dataset and operation from here on; None: drawn anew each time."""
@_overload
def shuffle(value: _Symbolic, seed: _Int | None = None, *, name: str | None = None) -> _Value:
    """Slices in random order."""
@_overload
def shuffle(value: _Plain, seed: _Int | None = None, *, name: str | None = None) -> Any:
    """Slices in random order."""
def split(seed: Any, num: Any = 2, alg: Any = 'auto_select') -> Any:
    """`num` seeds (num, 2) of one."""
def stateless_categorical(logits: Any, num_samples: Any, seed: Any, dtype: Any = 'int64', name: Any = None) -> Any:
    """(rows, num_samples) class numbers drawn by each row's unnormalised log chances."""
def stateless_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = 'float32', name: Any = None, alg: Any = 'auto_select') -> Any:
    """Normally distributed values of a seed of two integers."""
def stateless_shuffle(value: Any, seed: Any, alg: Any = 'auto_select', name: Any = None) -> Any:
    """The slices along the first dimension in the order of a seed."""
def stateless_truncated_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = 'float32', name: Any = None, alg: Any = 'auto_select') -> Any:
    """Normally distributed values within two standard deviations, of a seed of two integers."""
def stateless_uniform(shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = 'float32', name: Any = None, alg: Any = 'auto_select') -> Any:
    """Evenly distributed values in [minval, maxval) of a seed of two integers."""
def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = 'float32', seed: Any = None, name: Any = None) -> Any:
    """Normally distributed values within two standard deviations."""
def uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = 'float32', seed: Any = None, name: Any = None) -> Any:
    """Evenly distributed values in [minval, maxval); floats in [0, 1) by default. The bounds may be"""
