# SPDX-License-Identifier: Apache-2.0
"""Variable: a value that changes between calls; a pipeline sees it as it was when the function was traced."""

import numpy as np

from ..core import _call, _dtypes
from . import _ops


class Variable:
    """A value with assign(). A function that uses one sees the value at tracing time, as a constant: assign before
    making the dataset, or make it again."""

    __array_priority__ = 100  # makes NumPy arrays defer to this class's operators

    def __init__(self, initial_value, trainable=None, validate_shape=True, caching_device=None,
                 name=None, variable_def=None, dtype=None, import_scope=None, constraint=None,
                 synchronization=0, aggregation=0, shape=None):  # fmt: skip
        value = initial_value() if callable(initial_value) else initial_value
        dtype = None if dtype is None else _dtypes.as_dtype(dtype)
        self._value = np.array(_call.convert(value, dtype))
        self.name, self.trainable = name or "Variable", bool(trainable)

    @property
    def dtype(self):
        """NumPy's dtype."""
        return _call.dtype_of(self._value)

    @property
    def shape(self):
        """Sizes of the dimensions."""
        return self._value.shape

    def numpy(self):
        """The value: an array, or a scalar."""
        return self._value.copy()[()]

    def value(self):
        """The value."""
        return _ops.constant(self._value.copy())

    read_value = value

    def _set(self, value):
        value = np.asarray(_call.convert(value, self.dtype))
        if value.shape != self.shape:
            raise ValueError(f"{self.name} has shape {self.shape}, not {value.shape}")
        self._value = value.copy()
        return self

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Sets another value of the same shape and type."""
        return self._set(value)

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """Adds to the value."""
        return self._set(_ops.add(self._value, delta))

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """Subtracts from the value."""
        return self._set(_ops.subtract(self._value, delta))

    def __array__(self, dtype=None, copy=None):
        return self._value.astype(self._value.dtype if dtype is None else dtype)

    def __bool__(self):
        return bool(self._value)

    def __int__(self):
        return int(self._value)

    __index__ = __int__

    def __float__(self):
        return float(self._value)

    def __len__(self):
        return len(self._value)

    def __getitem__(self, key):
        return self.value()[key]

    def __repr__(self):
        return f"<Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, numpy={self._value!r}>"


def _operator(name, swapped=False):
    def method(self, other):
        f = getattr(_ops, name)
        a, b = self._value.copy(), other._value.copy() if isinstance(other, Variable) else other
        return f(b, a) if swapped else f(a, b)

    return method


for _method, _op in (
    ("add", "add"),
    ("sub", "subtract"),
    ("mul", "multiply"),
    ("truediv", "truediv"),
    ("floordiv", "floordiv"),
    ("mod", "floormod"),
    ("pow", "pow"),
    ("matmul", "matmul"),
):
    setattr(Variable, f"__{_method}__", _operator(_op))
    setattr(Variable, f"__r{_method}__", _operator(_op, True))
for _method, _op in (
    ("lt", "less"),
    ("le", "less_equal"),
    ("gt", "greater"),
    ("ge", "greater_equal"),
):
    setattr(Variable, f"__{_method}__", _operator(_op))
