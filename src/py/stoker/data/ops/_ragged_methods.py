# SPDX-License-Identifier: Apache-2.0
"""RaggedTensor methods that need operations: constructors and conversions."""

import numpy as np

from ..core import _call, _dtypes
from ..core._sparse import RaggedTensor, SparseTensor
from ._ops import do


def _method(f):
    function = getattr(f, "__func__", f)
    function.__qualname__ = f"RaggedTensor.{function.__name__}"
    setattr(RaggedTensor, function.__name__, f)
    return function


@_method
@classmethod
def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
    """From values and the length of each row."""
    lengths = _call.convert(row_lengths)
    lengths = do.cast(lengths, "int64")
    return cls(_call.convert(values), [do.concat([np.zeros(1, np.int64), do.cumsum(lengths)], 0)])


@_method
@classmethod
def from_value_rowids(cls, values, value_rowids, nrows=None, name=None, validate=True):
    """From values and each one's row number (sorted)."""
    return cls(_call.convert(values), [do.ragged.segment_ids_to_row_splits(value_rowids, nrows)])


@_method
@classmethod
def from_row_starts(cls, values, row_starts, name=None, validate=True):
    """From values and each row's start."""
    values = _call.convert(values)
    ends = do.shape(values, "int64")[:1]
    return cls(values, [do.concat([do.cast(row_starts, "int64"), ends], 0)])


@_method
@classmethod
def from_uniform_row_length(cls, values, uniform_row_length, nrows=None, validate=True, name=None):
    """From values and the common length of all rows."""
    values = _call.convert(values)
    count = do.floordiv(do.shape(values, "int64")[0], np.int64(uniform_row_length))
    return cls(values, [do.range(count + np.int64(1)) * np.int64(uniform_row_length)])


@_method
@classmethod
def from_tensor(cls, tensor, lengths=None, padding=None, ragged_rank=1, name=None, row_splits_dtype="int64"):
    """From a dense value: rows of those lengths, or without the padding at their ends."""
    x = _call.convert(tensor)
    if ragged_rank != 1:
        raise NotImplementedError("RaggedTensor.from_tensor with ragged_rank other than 1")
    size = do.shape(x, "int64")
    places = do.range(size[1])
    if lengths is None and padding is not None:
        is_value = do.not_equal(x, _call.convert(padding, _call.dtype_of(x)))
        lengths = do.reduce_max(do.where(is_value, places + np.int64(1), np.int64(0)), axis=1)
    elif lengths is None:
        lengths = do.fill(size[:1], size[1])
    lengths = do.cast(lengths, "int64")
    mask = do.less(places, do.expand_dims(lengths, 1))
    splits = do.concat([np.zeros(1, np.int64), do.cumsum(lengths)], 0)
    return cls(do.boolean_mask(x, mask), [do.cast(splits, row_splits_dtype)])


@_method
@classmethod
def from_sparse(cls, st_input, name=None, row_splits_dtype="int64"):
    """From a sparse matrix whose rows have their values on the left."""
    rows = do.cast(st_input.dense_shape[0], "int32")
    splits = do.ragged.segment_ids_to_row_splits(st_input.indices[:, 0], rows)
    return cls(st_input.values, [do.cast(splits, row_splits_dtype)])


@_method
def to_sparse(self, name=None):
    """A SparseTensor of the values at their indices."""
    at, shape = _call.run("ragged_places", [do.cast(s, "int64") for s in self.nested_row_splits], {})
    return SparseTensor(at, self.flat_values, shape, (None,) * (self.ragged_rank + 1))


@_method
def nrows(self, out_type=None, name=None):
    """The number of rows."""
    return do.shape(self.row_splits, out_type or "int64")[0] - _call.convert(1, _dtypes.as_dtype(out_type or "int64"))


@_method
def value_rowids(self, name=None):
    """The row number of each value."""
    return do.ragged.row_splits_to_segment_ids(self.row_splits)


@_method
def row_starts(self, name=None):
    """Each row's start."""
    return self.row_splits[:-1]


@_method
def row_limits(self, name=None):
    """Each row's end."""
    return self.row_splits[1:]


@_method
def bounding_shape(self, axis=None, name=None, out_type=None):
    """The sizes of to_tensor()."""
    out = out_type or "int64"
    lengths = do.concat([do.cast(self.row_lengths(), out), _call.convert([0], _dtypes.as_dtype(out))], 0)
    sizes = do.concat([do.stack([self.nrows(out), do.reduce_max(lengths)]), do.shape(self.flat_values, out)[1:]], 0)
    return sizes if axis is None else do.gather(sizes, axis)
