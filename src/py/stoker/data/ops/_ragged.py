# SPDX-License-Identifier: Apache-2.0
"""Batches of elements that differ in length: sparse and ragged values, and dense ones of unknown shape. The engine's
ragged_batch makes components; a traced function makes the values from them."""

import numpy as np

from ..core import _arguments as _arg
from ..core import _call, _dtypes, _spec
from ..core._dataset import Dataset, method
from ..core._sparse import RaggedTensor, SparseTensor
from ..core._spec import DatasetSpec, RaggedTensorSpec, SparseTensorSpec, TensorSpec
from ._ops import cast, do


def _last_unknown(leaf):
    """The last dimension of unknown length in a dense leaf; -1: none."""
    if leaf.shape is None:
        return -1
    return max((i for i, d in enumerate(leaf.shape) if d is None), default=-1)


def _modes(leaf, is_ragged):
    """How the engine batches each of the leaf's components: see ragged_batch."""
    if isinstance(leaf, DatasetSpec):
        raise TypeError("batches of datasets are not possible")
    if isinstance(leaf, SparseTensorSpec):
        return [0, 0, -1]
    if isinstance(leaf, RaggedTensorSpec):
        return [0] * len(leaf.parts())
    return [_last_unknown(leaf) if is_ragged else -1]


def _sparse(parts, leaf):
    indices, splits, values, _, shapes = parts
    places, dense = _call.run("sparse_batch", [indices, splits, shapes], {})
    rank = leaf.shape
    shape = None if rank is None else (None,) + tuple(rank)
    return SparseTensor(places, values, dense, shape)


def _ragged(parts, leaf):
    """parts: flat values and their splits, then for each level its row_splits and each element's start in them."""
    values, outer, nested = parts[0], None, []
    for i in range(leaf.ragged_rank):
        first, merged = _call.run("ragged_nest", [parts[2 + 2 * i], parts[3 + 2 * i]], {})
        outer = first if outer is None else outer
        nested.append(merged)
    return RaggedTensor(values, [outer] + nested)


def _leaf(parts, leaf, mode, dtype):
    if isinstance(leaf, SparseTensorSpec):
        return _sparse(parts, leaf)
    if isinstance(leaf, RaggedTensorSpec):
        return _ragged(parts, leaf)
    if mode < 0:
        return parts[0]
    return RaggedTensor(parts[0], [cast(s, dtype) for s in parts[1:]])


def _batched(ds, args, row_splits_dtype=None):
    """ds.batch for elements with sparse and ragged values; with row_splits_dtype, ds.ragged_batch.

    args: batch_size and drop_remainder, in the engine's form.
    """
    is_ragged = row_splits_dtype is not None
    if is_ragged and row_splits_dtype not in (np.dtype("int32"), np.dtype("int64")):
        raise TypeError(f"row_splits_dtype is int32 or int64, not {row_splits_dtype}")
    leaves = _spec.flatten(ds.element_spec)
    modes = [_modes(leaf, is_ragged) for leaf in leaves]
    flat = [m for leaf in modes for m in leaf]
    # the engine determines the components; here only their number matters
    raw = tuple(TensorSpec() for m in flat for _ in range(m + 2))
    made = ds._then("ragged_batch", dict(args, ragged=("ints", flat)), raw)

    def assemble(*parts):
        it = iter(parts)
        ways = iter(modes)

        def leaf(s):
            own = next(ways)
            taken = [next(it) for m in own for _ in range(m + 2)]
            return _leaf(taken, s, own[0], row_splits_dtype)

        return _spec.map_structure(leaf, ds.element_spec)

    return made.map(assemble)


def _at_least(n, limit):
    """The limit; n above it is an error of the element."""
    room = do.zeros(do.stack([np.int64(limit) - n]), "bool")
    return do.shape(room, out_type="int64")[0] + n


@method
def sparse_batch(self, batch_size, row_shape, name=None):
    """batch_size elements of any shape within row_shape as one SparseTensor."""
    spec, shape = self.element_spec, _spec.as_shape(row_shape)
    if not isinstance(spec, TensorSpec) or spec.shape is None:
        raise TypeError("sparse_batch takes elements of one dense component whose rank is known")
    if len(spec.shape) != len(shape):
        raise ValueError(f"row_shape {shape} and elements of shape {spec.shape} differ in rank")

    def sparse(v):
        now = do.shape(v, out_type="int64")
        ones = do.ones_like(v, dtype="bool") if v.dtype != _dtypes.string else v == v
        places = do.where(ones)
        most = [now[i] if d is None else _at_least(now[i], d) for i, d in enumerate(shape)]
        return SparseTensor(places, do.reshape(v, [-1]), do.stack(most), tuple(shape))

    return self.map(sparse).batch(_arg.count(batch_size, "batch_size", 1))


def _rows(leaf):
    """The number of a leaf's slices."""
    if isinstance(leaf, SparseTensor):
        return leaf.dense_shape[0]
    if isinstance(leaf, RaggedTensor):
        return cast(do.shape(leaf.row_splits, out_type="int64")[0] - 1, np.dtype("int64"))
    return do.shape(leaf, out_type="int64")[0]


def _sparse_row(leaf, i, spec):
    there = do.equal(leaf.indices[:, 0], i)
    shape = None if spec.shape is None else tuple(spec.shape[1:])
    places = do.boolean_mask(leaf.indices[:, 1:], there)
    values = do.boolean_mask(leaf.values, there)
    return SparseTensor(places, values, leaf.dense_shape[1:], shape)


def _ragged_row(leaf, i):
    splits = leaf.nested_row_splits
    first, end, nested = splits[0][i], splits[0][i + 1], []
    for s in splits[1:]:
        part = s[first : end + 1]
        nested.append(part - part[0])
        first, end = s[first], s[end]
    values = leaf.flat_values[first:end]
    return RaggedTensor(values, nested) if nested else values


def _unbatched(ds):
    """ds.unbatch for elements with sparse and ragged values."""
    specs = _spec.flatten(ds.element_spec)
    spread = type(ds.element_spec) is tuple

    def slices(*element):
        element = element if spread else element[0]
        leaves = _spec.flatten(element)
        counts = [_rows(leaf) for leaf in leaves]

        def row(i):
            def part(leaf, spec):
                if isinstance(leaf, SparseTensor):
                    return _sparse_row(leaf, i, spec)
                if isinstance(leaf, RaggedTensor):
                    return _ragged_row(leaf, i)
                return do.gather(leaf, i)

            it = iter([part(leaf, s) for leaf, s in zip(leaves, specs)])
            return _spec.map_structure(lambda _: next(it), ds.element_spec)

        return Dataset.range(_same_count(counts)).map(row)

    return ds.flat_map(slices)


def _same_count(counts):
    """The number of slices: the most that a leaf has, so a shorter one is an error."""
    return counts[0] if len(counts) == 1 else do.reduce_max(do.stack(counts))


@method
def batch(
    self,
    batch_size,
    drop_remainder=False,
    num_parallel_calls=None,
    deterministic=None,
    name=None,
):
    """Combines batch_size elements into one, with a new first dimension. Shapes must be equal.

    num_parallel_calls and deterministic are accepted without effect.
    """
    _arg.parallel(num_parallel_calls, deterministic)
    args = {
        "batch_size": _arg.count(batch_size, "batch_size", 1),
        "drop_remainder": int(bool(drop_remainder)),
    }
    if any(hasattr(s, "parts") for s in _spec.flatten(self.element_spec)):
        return _batched(self, args)
    spec = _spec.map_structure(lambda s: _arg.batched(s, None), self.element_spec)
    return self._then("batch", args, spec)


@method
def ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype="int64", name=None):
    """Combines batch_size elements into one; components without a fully known shape become RaggedTensors."""
    args = {
        "batch_size": _arg.count(batch_size, "batch_size", 1),
        "drop_remainder": int(bool(drop_remainder)),
    }
    return _batched(self, args, _dtypes.as_dtype(row_splits_dtype))


@method
def unbatch(self, name=None):
    """The slices of each element along the first dimension."""
    if any(hasattr(s, "parts") for s in _spec.flatten(self.element_spec)):
        return _unbatched(self)
    return self._then("unbatch", {}, _spec.map_structure(_arg.sliced, self.element_spec))
