# SPDX-License-Identifier: Apache-2.0
"""Operations on sparse and ragged values. Some convert to dense values: use them only for small ones."""

import numpy as np

from ..core import _call, _dtypes, _sparse
from ..core._call import convert, run
from ..core._sparse import RaggedTensor, SparseTensor
from ..errors import InvalidArgumentError
from ._compose import _rank
from ._ops import attribute, cast, do, publish


@publish("sparse.from_dense")
def sparse_from_dense(tensor, name=None):
    """A SparseTensor of the nonzero values."""
    x = convert(tensor)
    is_text = x.dtype == _dtypes.string or x.dtype == object
    zero = np.asarray(b"" if is_text else 0, object if is_text else _dtypes.as_dtype(x.dtype))
    at = do.where(do.not_equal(x, zero if not is_text else b""))
    known = None if x.shape is None else tuple(x.shape)
    return SparseTensor(at, do.gather_nd(x, at), do.shape(x, "int64"), known)


def _sparse_by_dense(names, f, doc):
    """An operation on sparse values through dense ones: only for small values."""

    def op(sp_input, *args, **kwargs):
        kwargs.pop("name", None)
        return f(do_dense(sp_input), *args, **kwargs)

    op.__name__ = op.__qualname__ = names.split(",")[0].split(".")[-1]
    op.__doc__ = doc
    publish(names)(op)


def do_dense(v):
    """The dense form of a sparse or dense value."""
    return _sparse.to_dense(v) if hasattr(v, "dense_shape") else convert(v)


def _back_sparse(f):
    return lambda x, *args, **kwargs: sparse_from_dense(f(x, *args, **kwargs))


_sparse_by_dense("sparse.reduce_sum", lambda x, axis=None, keepdims=False, output_is_sparse=False: do.reduce_sum(x, axis, keepdims), "Sums over axes, dense.")
_sparse_by_dense("sparse.reduce_max", lambda x, axis=None, keepdims=False, output_is_sparse=False: do.reduce_max(x, axis, keepdims), "The largest over axes, dense; places without a value count as 0.")
_sparse_by_dense("sparse.reorder", _back_sparse(lambda x: x), "In order of the places.")
_sparse_by_dense("sparse.slice", _back_sparse(lambda x, start, size: do.slice(x, start, size)), "A part, sparse.")
_sparse_by_dense("sparse.transpose", _back_sparse(lambda x, perm=None: do.transpose(x, perm)), "Dimensions in another order.")
_sparse_by_dense("sparse.reshape", _back_sparse(lambda x, shape: do.reshape(x, shape)), "In another shape.")
_sparse_by_dense("sparse.expand_dims", _back_sparse(lambda x, axis=-1: do.expand_dims(x, axis)), "With another dimension.")
_sparse_by_dense("sparse.sparse_dense_matmul", lambda x, b, adjoint_a=False, adjoint_b=False: do.matmul(x, do_dense(b), adjoint_a, adjoint_b), "A sparse matrix times a dense one.")


@publish("sparse.map_values")
def sparse_map_values(op, *args, **kwargs):
    """op on the values of SparseTensors with the same indices."""
    first = next(a for a in args if isinstance(a, SparseTensor))
    values = op(*[a.values if isinstance(a, SparseTensor) else a for a in args], **kwargs)
    return SparseTensor(first.indices, values, first.dense_shape, first.shape)


@publish("sparse.retain")
def sparse_retain(sp_input, to_retain):
    """The values where to_retain is true."""
    at, values = (do.boolean_mask(v, to_retain) for v in (sp_input.indices, sp_input.values))
    return SparseTensor(at, values, sp_input.dense_shape, sp_input.shape)


@publish("sparse.to_indicator")
def to_indicator(sp_input, vocab_size, name=None):
    """Rows of vocab_size bools, true at the row's values."""
    rows, n = sp_input.dense_shape[0], np.int64(attribute(vocab_size, "vocab_size"))
    at = do.stack([sp_input.indices[:, 0], cast(sp_input.values, "int64")], axis=1)
    return do.greater(do.scatter_nd(at, do.ones_like(at[:, 0]), do.stack([rows, n])), np.int64(0))


@publish("sparse.concat")
def sparse_concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    """Concatenates SparseTensors along an axis."""
    return sparse_from_dense(do.concat([do_dense(v) for v in sp_inputs], axis))


@publish("sparse.add")
def sparse_add(a, b, threshold=0):
    """The sum: sparse for two sparse values, else dense."""
    out = do.add(do_dense(a), do_dense(b))
    return sparse_from_dense(out) if hasattr(a, "dense_shape") and hasattr(b, "dense_shape") else out


@publish("sparse.eye")
def sparse_eye(num_rows, num_columns=None, dtype="float32", name=None):
    """A sparse matrix with ones on its diagonal."""
    return sparse_from_dense(do.eye(num_rows, num_columns, dtype=dtype))


@publish("sparse.fill_empty_rows")
def fill_empty_rows(sp_input, default_value, name=None):
    """(a SparseTensor with the default in rows without values, which rows these were)."""
    rows = sp_input.dense_shape[0]
    counts = do.math.bincount(cast(sp_input.indices[:, 0], "int32"), minlength=cast(rows, "int32"), maxlength=cast(rows, "int32"))
    is_empty = do.equal(counts, 0)
    at = do.where(is_empty)
    more = do.concat([at, do.zeros_like(sp_input.indices[:1, 1:]) + do.zeros_like(at)], 1) if sp_input.indices.shape[1] == 2 else None
    if more is None:
        raise NotImplementedError("fill_empty_rows of other than a matrix")
    fill = do.fill(do.shape(at)[:1], convert(default_value, _call.dtype_of(sp_input.values)))
    places, values = do.concat([sp_input.indices, more], 0), do.concat([sp_input.values, fill], 0)
    order = do.argsort(places[:, 0] * (sp_input.dense_shape[1] + np.int64(1)) + places[:, 1], stable=True)
    return SparseTensor(do.gather(places, order), do.gather(values, order), sp_input.dense_shape, sp_input.shape), is_empty


@publish("ragged.map_flat_values")
def map_flat_values(op, *args, **kwargs):
    """op on the values of RaggedTensors with the same rows."""
    first = next(a for a in args if isinstance(a, RaggedTensor))
    values = op(*[a.flat_values if isinstance(a, RaggedTensor) else a for a in args], **kwargs)
    return RaggedTensor(values, first.nested_row_splits)


@publish("ragged.row_splits_to_segment_ids")
def row_splits_to_segment_ids(splits, name=None, out_type=None):
    """The row number of each value."""
    splits = convert(splits)
    at = run("ragged_places", [cast(splits, "int64")], {})[0][:, 0]
    return cast(at, out_type or splits.dtype)


@publish("ragged.segment_ids_to_row_splits")
def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    """The rows' boundaries, from each value's row number (sorted)."""
    ids = convert(segment_ids)
    n = do.reduce_max(do.concat([cast(ids, "int32"), [-1]], 0)) + 1 if num_segments is None else cast(num_segments, "int32")
    counts = do.math.bincount(cast(ids, "int32"), minlength=n, maxlength=n, dtype="int64")
    return cast(do.concat([np.zeros(1, np.int64), do.cumsum(counts)], 0), out_type or "int64")


@publish("ragged.boolean_mask")
def ragged_boolean_mask(data, mask, name=None):
    """The values where the mask is true, row by row: a RaggedTensor."""
    if isinstance(data, RaggedTensor) or _rank(convert(data), "boolean_mask") < 2:
        raise InvalidArgumentError("ragged.boolean_mask takes dense rows; RaggedTensor.to_tensor() gives them")
    x, mask = convert(data), convert(mask, np.dtype(bool))
    lengths = do.reduce_sum(cast(mask, "int64"), axis=-1)
    splits = do.concat([np.zeros(1, np.int64), do.cumsum(lengths)], 0)
    return RaggedTensor(do.boolean_mask(x, mask), [splits])


@publish("ragged.stack")
def ragged_stack(values, axis=0, name=None):
    """Vectors of different lengths as the rows of a RaggedTensor."""
    if axis != 0:
        raise NotImplementedError("ragged.stack along another axis")
    parts = [convert(v) for v in values]
    lengths = do.stack([do.shape(v)[0] for v in parts])
    splits = do.concat([np.zeros(1, np.int32), do.cumsum(lengths)], 0)
    return RaggedTensor(do.concat(parts, 0), [splits])
