# SPDX-License-Identifier: Apache-2.0
"""Symbolic values: the arguments of a traced function, and the results of operations on them.

Their operators are operations; ops/_operators.py adds them."""

import numpy as np

from . import _dtypes, _paths, _trace
from ._spec import TensorSpec

# Alternatives to the questions that Python asks of a value.
_CHOOSE = "use sd.cond, sd.where, & or | instead of if, while, and, or"
_CAST = "use sd.cast to convert, sd.range to count"
_OPERATIONS = "use operations of sd instead of NumPy's: they become native"
_COMPARE = "use sd.reduce_any(values == x) instead of in"
_SHAPE = "sd.shape(x)[0] is its length"
_WHOLE = "use operations on the whole value instead of a loop"


class Value:
    """A value that a function will have for each element. Supports operators, comparison and indexing.

    `dtype` and `shape` (None for unknown dimensions, None for an unknown rank) are known.
    """

    __slots__ = ("graph", "i", "__weakref__")
    __array_ufunc__ = None  # NumPy leaves operators to us
    __hash__ = object.__hash__

    def __init__(self, graph, i):
        self.graph, self.i = graph, i

    def engine_spec(self):
        """For the engine: (number of the dtype, shape or None, nested)."""
        return self.graph.spec(self.i)

    @property
    def dtype(self):
        """The dtype; strings are "bytes"."""
        dtype = _trace.dtype_of(self.engine_spec())
        return None if dtype is None else _dtypes.public(dtype)

    @property
    def shape(self):
        """Dimensions, None where unknown: TensorShape; None: even the rank is unknown."""
        return _trace.shape_of(self.engine_spec())

    def get_shape(self):
        """The shape."""
        return self.shape

    @property
    def ndim(self):
        """The rank; None: unknown."""
        return None if self.shape is None else len(self.shape)

    @property
    def rank(self):
        """The rank; None: unknown."""
        return self.ndim

    @property
    def name(self):
        """A name for messages."""
        return f"{self.graph.name}:{self.i}"

    def constant(self):
        """The value if it is already known, else None."""
        if self.graph.fn.spec(self.graph.ids[self.i])[0] is None:
            return None
        return self.graph.fn.constant(self.graph.ids[self.i])

    def _ask(self, what, remedy="sd.py_function runs Python"):
        """Records where the actual value was needed, and what to write instead; raises Untraceable."""
        where = _trace.place(3)
        self.graph.asked = self.graph.asked or f"{where}: needs {what}; {remedy}"
        raise _trace.Untraceable(
            f"{what} of a symbolic value is unknown while the function is traced ({where}); "
            "use sd.where or sd.cond to choose, sd.py_function to run Python"
        )

    def __bool__(self):
        c = self.constant()
        c = _paths.choose() if c is None else c
        return bool(c) if c is not None else self._ask("the truth value", _CHOOSE)

    def __int__(self):
        c = self.constant()
        return int(c) if c is not None else self._ask("the number", _CAST)

    __index__ = __int__

    def __float__(self):
        c = self.constant()
        return float(c) if c is not None else self._ask("the number", _CAST)

    def __array__(self, dtype=None, copy=None):
        return self._ask("the array", _OPERATIONS)

    def numpy(self):
        """The array itself; an error while tracing."""
        return self._ask("the array")

    def __bytes__(self):
        return self._ask("the bytes")

    def decode(self, *args):
        """For symbolic strings: TraceError, so the function runs as Python."""
        return self._ask("the text")

    def __contains__(self, item):
        return self._ask("the content", _COMPARE)

    def __len__(self):
        if self.shape is None or not self.shape or self.shape[0] is None:
            return self._ask("the length", _SHAPE)
        return self.shape[0]

    def __iter__(self):
        if self.shape is None or not self.shape or self.shape[0] is None:
            return self._some_items() if _paths.is_following() else self._ask("the items", _WHOLE)
        return (self[i] for i in range(self.shape[0]))

    def _some_items(self):
        for i in range(2):
            if not _paths.choose():
                return
            yield self[i]

    def __format__(self, spec):
        return self._ask("the text")

    def __repr__(self):
        if self.dtype is None:
            return f"<dataset of {self.graph.name}>"
        return f"<value of {self.graph.name}: shape={self.shape}, dtype={self.dtype.name}>"


class _IsTensor(type):
    def __instancecheck__(cls, value):
        return isinstance(value, (Value, np.ndarray, np.generic))


class Tensor(metaclass=_IsTensor):
    """For annotations and isinstance(): symbolic values, arrays, scalars, and a pipeline's bytes."""

    def __new__(cls, *args, **kwargs):
        raise TypeError("sd.constant makes a value; sd.Tensor is for annotations and isinstance()")


def number_in(graph, value):
    """The number of a value in the graph: its own, a captured outer one, or a constant."""
    if isinstance(value, Value):
        if value.graph is graph:
            return value.i
        outer = graph.parent
        while outer is not None and outer is not value.graph:
            outer = outer.parent
        if outer is None:
            raise _trace.TraceError("a symbolic value was used outside of the function that it belongs to")
        if graph.parent is not value.graph:
            value = Value(graph.parent, number_in(graph.parent, value))
        return graph.capture(value)
    return graph.constant(value)


def spec_of(value):
    """TensorSpec of a symbolic value or array."""
    return TensorSpec(
        value.shape,
        (
            value.dtype
            if not isinstance(value, np.ndarray) or value.dtype.kind not in "OSU"
            else "bytes"
        ),
    )
