# SPDX-License-Identifier: Apache-2.0
# Written by tools/py-stubs.
from collections.abc import Sequence as _Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from . import Value as Value, Variable as _Variable

class _HasArray(Protocol):
    def __array__(self) -> np.ndarray[Any, Any]: ...
class _HasType(Protocol):
    @property
    def as_numpy_dtype(self) -> Any: ...
class Array(np.ndarray[Any, np.dtype[Any]]):
    """What an operation gives outside of a traced function: a scalar, too, counts as an array."""
    def numpy(self) -> np.ndarray[Any, np.dtype[Any]]: ...
class Int64(np.int64):
    """An element that is a number."""
    def numpy(self) -> np.int64: ...
class Bytes(bytes):
    """An element that is a string."""
    def numpy(self) -> bytes: ...

Plain = _HasArray | _Variable | np.generic | bool | int | float | complex | str | bytes | _Sequence["Plain"]
Tensor = Value | Plain | _Sequence["Tensor"]
Symbolic = Value | _Sequence[Value]
Int = int | np.integer[Any] | Value
Flag = bool | np.bool_ | Value
Float = float | np.floating[Any] | np.integer[Any] | Value
Ints = Int | np.ndarray[Any, Any] | _Sequence[Int | None]
PlainInt = int | np.integer[Any]
PlainInts = PlainInt | np.ndarray[Any, Any] | _Sequence[PlainInt | None]
DType = np.dtype[Any] | type[Any] | str | _HasType
U = TypeVar("U")
Drawn = Value | Array
V = TypeVar("V")
class Unique(NamedTuple, Generic[V]):
    y: V
    idx: V
class UniqueWithCounts(NamedTuple, Generic[V]):
    y: V
    idx: V
    count: V  # type: ignore[assignment]
class TopK(NamedTuple, Generic[V]):
    values: V
    indices: V
