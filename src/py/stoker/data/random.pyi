# SPDX-License-Identifier: Apache-2.0
# Written by tools/py-stubs.
from builtins import bool as _bool
from collections.abc import Callable as _Callable, Iterator as _Iterator, Sequence as _Sequence
from typing import Any, overload as _overload

import numpy as np

from ._op_types import Array as _Array, Int64 as _Int64, Bytes as _Bytes, Value as _Value, Symbolic as _Symbolic, Plain as _Plain, Tensor as _Tensor, Int as _Int, Flag as _Flag, Float as _Float, Ints as _Ints, PlainInt as _PlainInt, PlainInts as _PlainInts, DType as _DType, U as _U, Drawn as _Drawn, Unique as _Unique, UniqueWithCounts as _UniqueWithCounts, TopK as _TopK

class Generator:
    """Random values one after the other. In a pipeline each element has its own, by its position."""
    def __init__(self, copy_from: Any = None, state: Any = None, alg: Any = None) -> None:
        ...
    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> "Generator":
        """A generator of that seed."""
    @classmethod
    def from_state(cls, state: Any, alg: Any = None) -> "Generator":
        """A generator that goes on where another stood (its `state`)."""
    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> "Generator":
        """A generator of a seed that nobody knows."""
    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any = None) -> "Generator":
        """A generator of a key, after so many draws."""
    @property
    def state(self) -> _Array:
        """What from_state takes: int64 (3)."""
    @property
    def key(self) -> int:
        """The seed."""
    algorithm: Any
    def reset_from_seed(self, seed: Any) -> None:
        """From the beginning, with that seed."""
    def reset(self, state: Any) -> None:
        """To that state."""
    def skip(self, delta: Any) -> None:
        """As if so many draws had been made."""
    def uniform(self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = 'float32', name: Any = None) -> _Drawn:
        """As random.uniform."""
    def normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = 'float32', name: Any = None) -> _Drawn:
        """As random.normal."""
    def truncated_normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = 'float32', name: Any = None) -> _Drawn:
        """As random.truncated_normal."""
    def uniform_full_int(self, shape: Any, dtype: Any = 'uint64', name: Any = None) -> _Drawn:
        """Random bits of an integer type."""
    def make_seeds(self, count: Any = 1) -> _Drawn:
        """(2, count) int64: seeds for the stateless operations."""
    def split(self, count: Any = 1) -> "list[Generator]":
        """`count` generators that draw other values than this one."""
def beta(shape: _Ints, alpha: _Tensor, beta: _Tensor, dtype: _DType = 'float32', seed: _Int | None = None, name: str | None = None) -> _Drawn:
    """Beta distributed values of shapes alpha and beta, as mixing images takes them."""
def categorical(logits: _Tensor, num_samples: _Int, dtype: _DType | None = None, seed: _Int | None = None, name: str | None = None) -> _Drawn:
    """(rows, num_samples) class numbers, int64, drawn by each row's unnormalised log chances."""
def create_rng_state(seed: _Int, alg: Any = 'auto_select') -> _Array:
    """The state of a Generator of that seed: three int64."""
@_overload
def crop(value: _Symbolic, size: Any, seed: _Int | None = None, name: str | None = None) -> _Value:
    """A part of that size, at a random place."""
@_overload
def crop(value: _Plain, size: Any, seed: _Int | None = None, name: str | None = None) -> _Drawn:
    """A part of that size, at a random place."""
experimental: Any
@_overload
def fold_in(seed: _Symbolic, data: _Tensor, alg: Any = 'auto_select') -> _Value:
    """Another seed of two integers, of this one and a number."""
@_overload
def fold_in(seed: _Tensor, data: _Symbolic, alg: Any = 'auto_select') -> _Value:
    """Another seed of two integers, of this one and a number."""
@_overload
def fold_in(seed: _Plain, data: _Plain, alg: Any = 'auto_select') -> _Array:
    """Another seed of two integers, of this one and a number."""
def gamma(shape: _Ints, alpha: _Tensor, beta: _Tensor | None = None, dtype: _DType = 'float32', seed: _Int | None = None, name: str | None = None) -> _Drawn:
    """Gamma distributed values of shape alpha and rate beta (1), as many as `shape` says of each."""
def get_global_generator() -> Generator:
    """The process' generator, of a seed that nobody knows until set_global_generator gives one."""
def get_seed() -> int | None:
    """The seed that was set, or None."""
def next_order() -> int:
    """The number of another shuffle that keeps its order, since the seed was set."""
def normal(shape: _Ints, mean: _Tensor = 0.0, stddev: _Tensor = 1.0, dtype: _DType = 'float32', seed: _Int | None = None, name: str | None = None) -> _Drawn:
    """Normally distributed values."""
def process_seed() -> int:
    """A seed drawn once in this process, for datasets without one that must agree."""
def set_global_generator(generator: Any) -> None:
    """Another one in its place."""
def set_seed(seed: _Int) -> None:
    """The seed of every dataset and operation from here on; None: drawn anew each time."""
@_overload
def shuffle(value: _Symbolic, seed: _Int | None = None, *, name: str | None = None) -> _Value:
    """Slices in random order."""
@_overload
def shuffle(value: _Plain, seed: _Int | None = None, *, name: str | None = None) -> _Drawn:
    """Slices in random order."""
@_overload
def split(seed: _Symbolic, num: _Ints = 2, alg: Any = 'auto_select') -> _Value:
    """`num` seeds (num, 2) of one."""
@_overload
def split(seed: _Plain, num: _Ints = 2, alg: Any = 'auto_select') -> _Array:
    """`num` seeds (num, 2) of one."""
@_overload
def stateless_categorical(logits: _Symbolic, num_samples: _Tensor, seed: _Tensor, dtype: _DType = 'int64', name: str | None = None) -> _Value:
    """(rows, num_samples) class numbers drawn by each row's unnormalised log chances."""
@_overload
def stateless_categorical(logits: _Tensor, num_samples: _Symbolic, seed: _Tensor, dtype: _DType = 'int64', name: str | None = None) -> _Value:
    """(rows, num_samples) class numbers drawn by each row's unnormalised log chances."""
@_overload
def stateless_categorical(logits: _Tensor, num_samples: _Tensor, seed: _Symbolic, dtype: _DType = 'int64', name: str | None = None) -> _Value:
    """(rows, num_samples) class numbers drawn by each row's unnormalised log chances."""
@_overload
def stateless_categorical(logits: _Plain, num_samples: _Plain, seed: _Plain, dtype: _DType = 'int64', name: str | None = None) -> _Array:
    """(rows, num_samples) class numbers drawn by each row's unnormalised log chances."""
@_overload
def stateless_normal(shape: _Value, seed: _Tensor, mean: _Tensor = 0.0, stddev: _Tensor = 1.0, dtype: _DType = 'float32', name: str | None = None, alg: Any = 'auto_select') -> _Value:
    """Normally distributed values of a seed of two integers."""
@_overload
def stateless_normal(shape: _Ints, seed: _Symbolic, mean: _Tensor = 0.0, stddev: _Tensor = 1.0, dtype: _DType = 'float32', name: str | None = None, alg: Any = 'auto_select') -> _Value:
    """Normally distributed values of a seed of two integers."""
@_overload
def stateless_normal(shape: _Ints, seed: _Tensor, mean: _Symbolic, stddev: _Tensor = 1.0, dtype: _DType = 'float32', name: str | None = None, alg: Any = 'auto_select') -> _Value:
    """Normally distributed values of a seed of two integers."""
@_overload
def stateless_normal(shape: _Ints, seed: _Tensor, mean: _Tensor, stddev: _Symbolic, dtype: _DType = 'float32', name: str | None = None, alg: Any = 'auto_select') -> _Value:
    """Normally distributed values of a seed of two integers."""
@_overload
def stateless_normal(shape: _PlainInts, seed: _Plain, mean: _Plain = 0.0, stddev: _Plain = 1.0, dtype: _DType = 'float32', name: str | None = None, alg: Any = 'auto_select') -> _Array:  # type: ignore[overload-overlap]
    """Normally distributed values of a seed of two integers."""
@_overload
def stateless_normal(shape: _Ints, seed: _Tensor, mean: _Tensor = 0.0, stddev: _Tensor = 1.0, dtype: _DType = 'float32', name: str | None = None, alg: Any = 'auto_select') -> _Value:
    """Normally distributed values of a seed of two integers."""
@_overload
def stateless_shuffle(value: _Symbolic, seed: _Tensor, alg: Any = 'auto_select', name: str | None = None) -> _Value:
    """The slices along the first dimension in the order of a seed."""
@_overload
def stateless_shuffle(value: _Tensor, seed: _Symbolic, alg: Any = 'auto_select', name: str | None = None) -> _Value:
    """The slices along the first dimension in the order of a seed."""
@_overload
def stateless_shuffle(value: _Plain, seed: _Plain, alg: Any = 'auto_select', name: str | None = None) -> _Array:
    """The slices along the first dimension in the order of a seed."""
@_overload
def stateless_truncated_normal(shape: _Value, seed: _Tensor, mean: _Tensor = 0.0, stddev: _Tensor = 1.0, dtype: _DType = 'float32', name: str | None = None, alg: Any = 'auto_select') -> _Value:
    """Normally distributed values within two standard deviations, of a seed of two integers."""
@_overload
def stateless_truncated_normal(shape: _Ints, seed: _Symbolic, mean: _Tensor = 0.0, stddev: _Tensor = 1.0, dtype: _DType = 'float32', name: str | None = None, alg: Any = 'auto_select') -> _Value:
    """Normally distributed values within two standard deviations, of a seed of two integers."""
@_overload
def stateless_truncated_normal(shape: _Ints, seed: _Tensor, mean: _Symbolic, stddev: _Tensor = 1.0, dtype: _DType = 'float32', name: str | None = None, alg: Any = 'auto_select') -> _Value:
    """Normally distributed values within two standard deviations, of a seed of two integers."""
@_overload
def stateless_truncated_normal(shape: _Ints, seed: _Tensor, mean: _Tensor, stddev: _Symbolic, dtype: _DType = 'float32', name: str | None = None, alg: Any = 'auto_select') -> _Value:
    """Normally distributed values within two standard deviations, of a seed of two integers."""
@_overload
def stateless_truncated_normal(shape: _PlainInts, seed: _Plain, mean: _Plain = 0.0, stddev: _Plain = 1.0, dtype: _DType = 'float32', name: str | None = None, alg: Any = 'auto_select') -> _Array:  # type: ignore[overload-overlap]
    """Normally distributed values within two standard deviations, of a seed of two integers."""
@_overload
def stateless_truncated_normal(shape: _Ints, seed: _Tensor, mean: _Tensor = 0.0, stddev: _Tensor = 1.0, dtype: _DType = 'float32', name: str | None = None, alg: Any = 'auto_select') -> _Value:
    """Normally distributed values within two standard deviations, of a seed of two integers."""
@_overload
def stateless_uniform(shape: _Value, seed: _Tensor, minval: _Tensor = 0, maxval: _Tensor | None = None, dtype: _DType = 'float32', name: str | None = None, alg: Any = 'auto_select') -> _Value:
    """Evenly distributed values in [minval, maxval) of a seed of two integers."""
@_overload
def stateless_uniform(shape: _Ints, seed: _Symbolic, minval: _Tensor = 0, maxval: _Tensor | None = None, dtype: _DType = 'float32', name: str | None = None, alg: Any = 'auto_select') -> _Value:
    """Evenly distributed values in [minval, maxval) of a seed of two integers."""
@_overload
def stateless_uniform(shape: _Ints, seed: _Tensor, minval: _Symbolic, maxval: _Tensor | None = None, dtype: _DType = 'float32', name: str | None = None, alg: Any = 'auto_select') -> _Value:
    """Evenly distributed values in [minval, maxval) of a seed of two integers."""
@_overload
def stateless_uniform(shape: _Ints, seed: _Tensor, minval: _Tensor, maxval: _Symbolic, dtype: _DType = 'float32', name: str | None = None, alg: Any = 'auto_select') -> _Value:
    """Evenly distributed values in [minval, maxval) of a seed of two integers."""
@_overload
def stateless_uniform(shape: _PlainInts, seed: _Plain, minval: _Plain = 0, maxval: _Plain | None = None, dtype: _DType = 'float32', name: str | None = None, alg: Any = 'auto_select') -> _Array:  # type: ignore[overload-overlap]
    """Evenly distributed values in [minval, maxval) of a seed of two integers."""
@_overload
def stateless_uniform(shape: _Ints, seed: _Tensor, minval: _Tensor = 0, maxval: _Tensor | None = None, dtype: _DType = 'float32', name: str | None = None, alg: Any = 'auto_select') -> _Value:
    """Evenly distributed values in [minval, maxval) of a seed of two integers."""
def truncated_normal(shape: _Ints, mean: _Tensor = 0.0, stddev: _Tensor = 1.0, dtype: _DType = 'float32', seed: _Int | None = None, name: str | None = None) -> _Drawn:
    """Normally distributed values within two standard deviations."""
def uniform(shape: _Ints, minval: _Tensor = 0, maxval: _Tensor | None = None, dtype: _DType = 'float32', seed: _Int | None = None, name: str | None = None) -> _Drawn:
    """Evenly distributed values in [minval, maxval); floats in [0, 1) by default. The bounds may be"""
