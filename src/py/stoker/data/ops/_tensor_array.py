# SPDX-License-Identifier: Apache-2.0
"""TensorArray: values by index, for code that loops.

Indices known while tracing write into a list. If an index varies by element, or the array is a variable of while_loop
or cond, the values share one buffer whose first dimension is their index. Then their shape must be known, from
element_shape or from the first value. Where nothing was written for an element, it is the shape of what the function
writes on its other ways (core/_paths.py)."""

import sys

import numpy as np

from ..core import _dtypes, _paths, _trace
from ..core._call import convert, run, static_ints
from ..core._spec import TensorSpec, as_shape
from ..core._trace import TraceError
from ..errors import InvalidArgumentError
from ._ops import attribute, cast, do

_I64 = np.dtype("int64")


_SEEN = {}  # where an array is made, see _place -> the shape of what is written to it; None: several


def _place():
    """(file, line, instruction) of the program that makes an array."""
    frame = sys._getframe(2)
    while frame and not _trace.is_of_program(frame.f_code.co_filename):
        frame = frame.f_back
    return frame and (*_trace.where(frame), frame.f_lasti)


def _see(place, shape):
    shape = as_shape(shape)
    _SEEN[place] = shape if _SEEN.get(place, shape) == shape else None


class TensorArraySpec:
    """The spec of a TensorArray."""

    def __init__(self, dtype, element_shape, is_dynamic):
        self.dtype, self.element_shape, self.is_dynamic = dtype, element_shape, is_dynamic

    @property
    def shape(self):
        """The shape of the buffer."""
        return as_shape((None, *self.element_shape))

    def parts(self):
        """The spec of the buffer."""
        return [TensorSpec(self.shape, self.dtype)]

    def make(self, parts):
        """A TensorArray over a buffer."""
        out = TensorArray(self.dtype, 0, self.is_dynamic, element_shape=self.element_shape)
        out._buffer, out._items = parts[0], None
        return out

    def __repr__(self):
        return f"TensorArraySpec(element_shape={self.element_shape}, dtype={self.dtype.name})"


class TensorArray:
    """Values by index."""

    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None,
                 flow=None, infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None):  # fmt: skip
        self._dtype, self._is_dynamic, self._buffer = _dtypes.as_dtype(dtype), bool(dynamic_size), None
        self.element_shape = None if element_shape is None else as_shape(element_shape)
        known = static_ints(0 if size is None else size)
        self._items = [None] * known[0] if known is not None else None
        self._wanted = None if known is not None else size
        self._place = _place()

    @property
    def dtype(self):
        """The dtype of the values."""
        return _dtypes.public(self._dtype)

    @property
    def flow(self):
        """The array itself."""
        return self

    @property
    def dynamic_size(self):
        """Can it grow?"""
        return self._is_dynamic

    def parts(self):
        """The buffer, in a list."""
        if self._buffer is None:
            full = [v for v in self._items or () if v is not None]
            if full:
                self._buffer = self.stack()
            else:
                shape = self.element_shape if self.element_shape is not None else _SEEN.get(self._place)
                if shape is None or not shape.is_fully_defined():
                    raise TraceError(self._unknown())
                n = len(self._items) if self._items is not None else cast(self._wanted, "int32")
                zero = np.asarray(b"" if self._dtype == _dtypes.string else 0, object if self._dtype == _dtypes.string else self._dtype)
                self._buffer = do.fill(do.stack([n, *shape]), zero)
            self._items = None
        return [self._buffer]

    def _unknown(self):
        return (
            f"TensorArray: nothing was written yet, so the shape of its values isn't known; give element_shape, with all dimensions, "
            f"where it is made ({_trace.shown(self._place)})"
        )

    def spec(self):
        """Its TensorArraySpec."""
        buffer = self.parts()[0]
        shape = self.element_shape if buffer.shape is None else tuple(buffer.shape)[1:]
        return TensorArraySpec(self._dtype, shape, self._is_dynamic)

    def _of(self, buffer):
        return self.spec().make([buffer])

    def write(self, index, value, name=None):
        """The array with the value at an index."""
        value, known = convert(value, self._dtype), static_ints(index)
        if _paths.is_following():
            _see(self._place, value.shape)
        if self._items is None or known is None:
            if self.element_shape is None and value.shape is not None:
                self.element_shape = value.shape
            return self._written(index, value)
        i = known[0]
        if i >= len(self._items):
            if not self._is_dynamic:
                raise InvalidArgumentError(f"TensorArray: number {i} of {len(self._items)}")
            self._items.extend([None] * (i + 1 - len(self._items)))
        self._items[i] = value
        return self

    def _written(self, index, value):
        buffer, at = self.parts()[0], cast(index, _I64)
        if self._is_dynamic:
            room = do.maximum(at + np.int64(1) - do.shape(buffer, "int64")[0], np.int64(0))
            pads = do.stack([do.stack([np.int64(0), room]), *[np.zeros(2, np.int64)] * (len(buffer.shape) - 1)])
            buffer = do.pad(buffer, pads)
        return self._of(run("scatter", [buffer, do.reshape(at, [1]), do.expand_dims(value, 0)], {"mode": "update"})[0])

    def read(self, index, name=None):
        """The value at an index."""
        known = static_ints(index)
        if self._items is None or known is None:
            return do.gather(self.parts()[0], index)
        if self._items[known[0]] is None:
            raise InvalidArgumentError(f"TensorArray: nothing was written at {known[0]}")
        return self._items[known[0]]

    def size(self, name=None):
        """How many values there are."""
        return do.shape(self._buffer)[0] if self._items is None else np.int32(len(self._items))

    def stack(self, name=None):
        """Stacks all values along a new first dimension."""
        if self._items is None:
            return self.parts()[0]
        full = [v for v in self._items if v is not None]
        if not full:
            return self.parts()[0]
        return do.stack([do.zeros_like(full[0]) if v is None else v for v in self._items])

    def concat(self, name=None):
        """Concatenates all values along their first dimension."""
        full = [v for v in self._items or () if v is not None]
        if full:
            return do.concat([do.zeros_like(full[0]) if v is None else v for v in self._items], 0)
        if self._items is not None:
            self.parts()
        sizes = do.shape(self._buffer)
        return do.reshape(self._buffer, do.concat([sizes[:1] * sizes[1:2], sizes[2:]], 0))

    def gather(self, indices, name=None):
        """Stacks the values at indices."""
        return do.gather(self.stack(), indices)

    def unstack(self, value, name=None):
        """The array of a value's slices."""
        self._buffer, self._items = convert(value, self._dtype), None
        return self

    def scatter(self, indices, value, name=None):
        """The array with a value's slices at indices."""
        at = cast(convert(indices), _I64)
        return self._of(run("scatter", [self.parts()[0], at, convert(value, self._dtype)], {"mode": "update"})[0])

    def split(self, value, lengths, name=None):
        """The array with parts of a value, of those lengths."""
        self._items = list(do.split(convert(value, self._dtype), attribute(lengths, "lengths")))
        return self

    def identity(self):
        """The array."""
        return self

    def grad(self, *args, **kwargs):
        """There are no gradients here."""
        raise NotImplementedError("gradients")

    def close(self, name=None):
        """Accepted."""

