# SPDX-License-Identifier: Apache-2.0
"""Calls an operation: on arrays at once, on symbolic values as a node of the function being traced.

Literals are weak: they take the dtype of another operand. Types are never promoted.
"""

import numpy as np

from .. import _engine
from . import _dtypes, _eager, _seeds, _trace
from ._value import Value, number_in


def is_symbolic(v):
    """Is a value, or part of a list of values, symbolic?"""
    return isinstance(v, Value) or isinstance(v, (list, tuple)) and any(is_symbolic(i) for i in v)


def is_typed(v):
    return (
        isinstance(v, (Value, np.ndarray, np.generic)) or is_symbolic(v) or hasattr(v, "__array__")
    )


def dtype_of(v):
    """The dtype of a typed value; for a list that of its first typed item."""
    if isinstance(v, Value):
        return v.dtype
    if isinstance(v, (list, tuple)):
        return next(dtype_of(i) for i in v if is_typed(i))
    return _dtypes.as_dtype(v.dtype if hasattr(v, "dtype") else np.asarray(v).dtype)


def convert(v, dtype=None):
    """A symbolic value or an array, with the given dtype, if any. TypeError: it has another."""
    if isinstance(v, Value):
        if dtype is not None and v.dtype != dtype:
            raise _trace.TraceError(
                f"expected {dtype.name}, got {_name(v.dtype)}: types are never promoted; sd.cast converts"
            )
        return v
    if is_symbolic(v):
        parts = same(*v) if dtype is None else [_item(i, dtype) for i in v]
        return run("stack", parts, {"axis": 0})[0]
    if hasattr(v, "to_tensor") or hasattr(v, "dense_shape"):
        raise _trace.TraceError(f"{type(v).__name__} is not a dense value; convert it first")
    try:
        return _dtypes.array(v, dtype)
    except TypeError as e:
        text = str(e)
        advice = "; sd.cast converts" if "cannot become" in text else ""
        raise _trace.TraceError(text + advice) from e


def _item(v, dtype):
    """An item of a list, whose numbers are converted to the dtype that is wanted of the list, as in TensorFlow."""
    is_other = is_typed(v) and not isinstance(v, (list, tuple)) and dtype_of(v) not in (dtype, None)
    if is_other and dtype.kind in "iuf" and dtype_of(v).kind in "iuf":
        return run("cast", [v], {"dtype": _dtypes.number(dtype)})[0]
    return convert(v, dtype)


def _name(dtype):
    return "a dataset" if dtype is None else dtype.name


def same(*values):
    """The values with one dtype: that of those that have one; literals adapt."""
    typed = [dtype_of(v) for v in values if is_typed(v)]
    if typed:
        dtype = typed[0]
        for other in typed[1:]:
            if other != dtype:
                raise _trace.TraceError(
                    f"{_name(dtype)} with {_name(other)}: types are never promoted; sd.cast converts"
                )
        return [convert(v, dtype) for v in values]
    arrays = [convert(v) for v in values]
    if len({a.dtype for a in arrays}) > 1 and all(a.dtype.kind in "if" for a in arrays):
        return [convert(v, np.dtype("float32")) for v in values]
    return arrays


def run(op, inputs, attrs, is_random=False):
    """Results of an operation, as a list. inputs: symbolic values and arrays."""
    graph = _trace.current()
    if any(isinstance(v, Value) for v in inputs) or is_random and graph is not None:
        if graph is None:
            raise _trace.TraceError(
                "a symbolic value was used outside of the function that it belongs to"
            )
        numbers = [number_in(graph, v) for v in inputs]
        return [Value(graph, i) for i in graph.add(op, numbers, attrs, _trace.place(2))]
    out = _engine.op_call(op, list(inputs), attrs, _seeds.next_seed() if is_random else 0)
    return [_eager.of(v) for v in out] if _trace.is_python() else out


def static_ints(v):
    """A list of ints if the value is known now (or a symbolic constant); else None."""
    if isinstance(v, Value):
        v = v.constant()
        if v is None:
            return None
    if isinstance(v, (list, tuple)) and is_symbolic(v):
        known = [static_ints(i) for i in v]
        return None if None in known else [i for k in known for i in k]
    if v is None:
        return None
    return [-1 if i is None else int(i) for i in np.ravel(np.asarray(v, dtype=object))]
