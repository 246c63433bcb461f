# SPDX-License-Identifier: Apache-2.0
# Written by tools/py-stubs.
from builtins import bool as _bool
from collections.abc import Callable as _Callable, Iterator as _Iterator, Sequence as _Sequence
from typing import Any, overload as _overload

import numpy as np

from ._op_types import Array as _Array, Int64 as _Int64, Bytes as _Bytes, Value as _Value, Symbolic as _Symbolic, Plain as _Plain, Tensor as _Tensor, Int as _Int, Flag as _Flag, Float as _Float, Ints as _Ints, PlainInt as _PlainInt, PlainInts as _PlainInts, DType as _DType, U as _U, Drawn as _Drawn, Unique as _Unique, UniqueWithCounts as _UniqueWithCounts, TopK as _TopK

class OpError(Exception):
    """Anything that goes wrong in a pipeline. `message` says what, where, and what to do."""
    @property
    def message(self) -> Any:
        """What went wrong, where, and what to do."""
class CancelledError(OpError):
    """The iterator was cancelled."""
class DataLossError(OpError):
    """Data are damaged: a checksum, a truncation, a wrong compression."""
class FailedPreconditionError(OpError):
    """Not in this state."""
class InternalError(OpError):
    """A bug: please report it."""
class NotFoundError(OpError):
    """A file that is not there."""
class OutOfRangeError(OpError):
    """Beyond the end of something."""
class PermissionDeniedError(OpError):
    """A file may not be read or written."""
class ResourceExhaustedError(OpError):
    """No memory, or a limit was reached."""
class UnknownError(OpError):
    """An exception of a Python function that has no class of its own here."""
class InvalidArgumentError(OpError, ValueError):
    """An argument or a value does not fit."""
class UnimplementedError(OpError, NotImplementedError):
    """Not there yet."""
CODES: Any
