# SPDX-License-Identifier: Apache-2.0
"""Sparse and ragged values: the results of VarLenFeature and RaggedFeature."""

import numpy as np

from . import _call, _dtypes, _eager
from ._spec import RaggedTensorSpec, SparseTensorSpec, TensorSpec


def _known(shape):
    return () if shape is None else tuple(shape)


class SparseTensor:
    """Values at indices: indices (n, rank) int64, values (n,), dense_shape (rank,) int64."""

    def __init__(self, indices, values, dense_shape, shape=None):
        indices, dense_shape = (
            _call.convert(v, np.dtype("int64")) if _call.is_symbolic(v) else np.asarray(v, np.int64)
            for v in (indices, dense_shape)
        )
        values = _call.convert(values)
        self.indices, self.values, self.dense_shape, self._shape = (
            indices,
            values,
            dense_shape,
            shape,
        )

    @property
    def dtype(self):
        """Dtype of the values."""
        return _call.dtype_of(self.values)

    @property
    def shape(self):
        """Dimensions, None where unknown: TensorShape."""
        if isinstance(self.dense_shape, np.ndarray):
            return tuple(int(d) for d in self.dense_shape)
        return self._shape

    @property
    def rank(self):
        """The number of dimensions; None: unknown."""
        return None if self.shape is None else len(self.shape)

    def get_shape(self):
        """The shape."""
        return self.shape

    def with_values(self, new_values):
        """Other values at the same indices."""
        return SparseTensor(self.indices, new_values, self.dense_shape, self._shape)

    @classmethod
    def from_value(cls, sparse_tensor_value):
        """A SparseTensor from another's parts."""
        return cls(sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape)

    def parts(self):
        """(indices, values, dense_shape)."""
        return [self.indices, self.values, self.dense_shape]

    def spec(self):
        """Its SparseTensorSpec."""
        return SparseTensorSpec(self.shape, self.dtype)

    def __repr__(self):
        return f"SparseTensor(indices={self.indices!r}, values={self.values!r}, dense_shape={self.dense_shape!r})"


class RaggedTensor:
    """Rows of different lengths: values, and row_splits (rows + 1 offsets into the values) for each ragged dimension,
    the outermost first."""

    def __init__(self, values, nested_row_splits):
        self.flat_values, self.nested_row_splits = values, list(nested_row_splits)

    @classmethod
    def from_row_splits(cls, values, row_splits):
        """From values (n, ...) and the rows' boundaries (rows + 1)."""
        return cls(_call.convert(values), [_call.convert(row_splits)])

    def with_flat_values(self, new_values):
        """The same rows with other values."""
        return RaggedTensor(new_values, self.nested_row_splits)

    def with_values(self, new_values):
        """The same outermost rows with other values."""
        if isinstance(new_values, RaggedTensor):
            return RaggedTensor(new_values.flat_values, [self.row_splits, *new_values.nested_row_splits])
        return RaggedTensor(new_values, [self.row_splits])

    def get_shape(self):
        """The shape."""
        return self.shape

    def numpy(self):
        """An object array of the rows."""
        rows = self.to_list()
        out = np.empty(len(rows), object)
        out[:] = [np.asarray(r) for r in rows]
        return out

    def __getitem__(self, key):
        if isinstance(key, slice) or isinstance(key, tuple):
            raise NotImplementedError("slices of a RaggedTensor; a row by its number, or to_tensor()")
        splits = self.row_splits
        return self.values[splits[key] : splits[key + 1] if key != -1 else None] if self.ragged_rank == 1 else self.values[key]

    @property
    def row_splits(self):
        """Boundaries of the outermost rows: int64 (rows + 1)."""
        return self.nested_row_splits[0]

    @property
    def values(self):
        """The contents of the outermost rows: an array, or a RaggedTensor."""
        if len(self.nested_row_splits) == 1:
            return self.flat_values
        return RaggedTensor(self.flat_values, self.nested_row_splits[1:])

    @property
    def dtype(self):
        """Dtype of the values."""
        return _call.dtype_of(self.flat_values)

    @property
    def ragged_rank(self):
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def shape(self):
        """Dimensions, None where ragged: TensorShape."""
        inner = _known(self.flat_values.shape)[1:]
        rows = _known(self.row_splits.shape)
        first = rows[0] - 1 if rows and rows[0] is not None else None
        return (first,) + (None,) * self.ragged_rank + inner

    def parts(self):
        """(flat values, row splits of each level)."""
        return [self.flat_values] + self.nested_row_splits

    def spec(self):
        """Its RaggedTensorSpec."""
        return RaggedTensorSpec(
            self.shape, self.dtype, self.ragged_rank, _call.dtype_of(self.row_splits)
        )

    def row_lengths(self):
        """The number of values in each row."""
        return self.row_splits[1:] - self.row_splits[:-1]

    def __len__(self):
        return len(self.row_splits) - 1

    def to_list(self):
        """Nested Python lists."""
        rows = self.values.to_list() if self.ragged_rank > 1 else self.flat_values.tolist()
        return [rows[a:b] for a, b in zip(self.row_splits[:-1], self.row_splits[1:])]

    def to_tensor(self, default_value=None, name=None, shape=None):
        """Dense; short rows are padded with default_value (0, empty strings)."""
        if self.ragged_rank != 1:
            raise NotImplementedError("to_tensor of more than one ragged dimension")
        dtype = self.dtype
        fill = default_value if default_value is not None else b"" if dtype == _dtypes.string else 0
        if not _call.is_symbolic(self.parts()):
            rows = _dense_rows(self.flat_values, self.row_splits, _call.convert(fill, dtype)[()])
            return _eager.given(rows)
        return _call.run(
            "ragged_to_tensor", [self.flat_values, self.row_splits, _call.convert(fill, dtype)], {}
        )[0]

    def __repr__(self):
        return f"RaggedTensor(values={self.flat_values!r}, row_splits={self.nested_row_splits!r})"


def _dense_rows(values, splits, fill):
    lengths = np.diff(splits)
    out = np.full(
        (len(lengths), int(lengths.max(initial=0))) + values.shape[1:], fill, dtype=values.dtype
    )
    mask = np.arange(out.shape[1]) < lengths[:, None]
    out[mask] = values[splits[0] : splits[-1]]
    return out


def to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """The dense form of a sparse value, default_value (0, empty strings) elsewhere."""
    dtype = sp_input.dtype
    fill = default_value if default_value is not None else b"" if dtype == _dtypes.string else 0
    parts = sp_input.parts()
    if _call.is_symbolic(parts):
        return _call.run("sparse_to_dense", parts + [_call.convert(fill, dtype)], {})[0]
    out = np.full(tuple(parts[2]), _call.convert(fill, dtype)[()], dtype=parts[1].dtype)
    out[tuple(np.asarray(parts[0]).T)] = parts[1]
    return _eager.given(out)


def component_specs(value):
    return [TensorSpec(p.shape, _call.dtype_of(p)) for p in value.parts()]
