# SPDX-License-Identifier: Apache-2.0
"""tf.ragged: values whose rows differ in length, from nested lists and from ranges."""

import numpy as np

from ..core import _dtypes, _eager, _sparse
from ..core._call import convert
from ._ops import publish
from ..errors import InvalidArgumentError


def _rows(value, rank):
    """(flat list, row lengths of each level) of nested lists."""
    lengths = []
    for _ in range(rank):
        if any(not isinstance(v, (list, tuple, np.ndarray)) for v in value):
            raise InvalidArgumentError("ragged.constant: lists are not nested equally deep")
        lengths.append([len(v) for v in value])
        value = [x for v in value for x in v]
    return value, lengths


def _depth(value):
    if not isinstance(value, (list, tuple, np.ndarray)):
        return 0
    return 1 + max((_depth(v) for v in value), default=0)


@publish("ragged.constant")
def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None,
             row_splits_dtype="int64"):  # fmt: skip
    """A RaggedTensor from nested lists whose rows differ in length."""
    depth = _depth(pylist)
    rank = depth - 1 if ragged_rank is None else int(ragged_rank)
    rank -= 0 if inner_shape is None or ragged_rank is not None else len(tuple(inner_shape))
    if not 0 <= rank < max(depth, 1):
        raise InvalidArgumentError(f"ragged.constant: ragged_rank {rank} of lists {depth} deep")
    flat, lengths = _rows(pylist, rank)
    values = convert(flat, None if dtype is None else _dtypes.as_dtype(dtype))
    if not rank:
        return values
    splits = _dtypes.as_dtype(row_splits_dtype)
    ends = [np.concatenate([[0], np.cumsum(n)]).astype(splits) for n in lengths]
    return _sparse.RaggedTensor(_eager.given(values), [_eager.given(e) for e in ends])


@publish("ragged.range")
def ragged_range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype="int64"):
    """Rows of numbers, each from its start up to its limit; with one argument from 0."""
    if limits is None:
        starts, limits = np.zeros_like(np.asarray(starts)), starts
    a, b, d = np.broadcast_arrays(np.atleast_1d(starts), np.atleast_1d(limits), deltas)
    rows = [np.arange(x, y, z).tolist() for x, y, z in zip(a, b, d)]
    return constant(rows, dtype or np.asarray(convert(limits)).dtype, 1, None, None, row_splits_dtype)
