# SPDX-License-Identifier: Apache-2.0
"""Products and matrices composed of the engine's matmul: einsum, tensordot, diagonals, norms."""

import collections
import string

import numpy as np

from ..core import _call
from ..core._call import convert, same, static_ints
from ..errors import InvalidArgumentError
from ._compose import _axis, _rank, _shape
from ._ops import attribute, cast, do, ensure_shape, publish


def _product(dims, axes):
    out = np.int32(1)
    for a in axes:
        out = out * dims[a]
    return out


def _known(x, axes):
    return [x.shape[a] for a in axes]


def _kept_shape(out, known):
    return ensure_shape(out, known) if _call.is_symbolic(out) and any(d is not None for d in known) else out


def _batched(x, y, batch, left, right, common):
    """(batch, left, right) of two values summed over common axes; each a list of pairs or of axes."""
    dx, dy = _shape(x), _shape(y)
    bx, by = [a for a, _ in batch], [b for _, b in batch]
    cx, cy = [a for a, _ in common], [b for _, b in common]
    x2 = do.reshape(do.transpose(x, bx + left + cx), do.stack([_product(dx, bx), _product(dx, left), _product(dx, cx)]))
    y2 = do.reshape(do.transpose(y, by + cy + right), do.stack([_product(dy, by), _product(dy, cy), _product(dy, right)]))
    if not batch:
        out = do.matmul(x2[0], y2[0])
    else:
        out = do.matmul(x2, y2)
    sizes = [dx[a] for a in bx + left] + [dy[a] for a in right]
    out = do.reshape(out, do.stack([cast(s, "int32") for s in sizes]) if sizes else np.zeros(0, np.int32))
    return _kept_shape(out, _known(x, bx + left) + _known(y, right))


def _letters(equation, ranks):
    """(labels of each input, of the result) of an einsum equation; "..." becomes capital letters."""
    inputs, arrow, out = equation.replace(" ", "").partition("->")
    inputs = inputs.split(",")
    if len(inputs) != len(ranks):
        raise InvalidArgumentError(f"einsum: {equation!r} names {len(inputs)} inputs, {len(ranks)} were given")
    more = max((r - len(i.replace("...", "")) for i, r in zip(inputs, ranks) if "..." in i), default=0)
    free = [c for c in string.ascii_uppercase if c not in equation][:more]
    labels = []
    for i, r in zip(inputs, ranks):
        n = r - len(i.replace("...", ""))
        labels.append(i.replace("...", "".join(free[more - n :])))
        if len(labels[-1]) != r:
            raise InvalidArgumentError(f"einsum: {i!r} names {len(labels[-1])} dimensions, the value has {r}")
    if not arrow:
        every = "".join(labels)
        out = "..." * (more > 0) + "".join(sorted(c for c in set(every) if every.count(c) == 1 and c not in free))
    return labels, out.replace("...", "".join(free))


def _without_repeats(x, labels):
    """The diagonals for labels that occur twice."""
    for c in dict.fromkeys(labels):
        while labels.count(c) > 1:
            i = labels.index(c)
            j = labels.index(c, i + 1)
            n = _shape(x)[i]
            rest = [k for k in range(len(labels)) if k not in (i, j)]
            y = do.transpose(x, [i, j] + rest)
            at = do.range(n)
            x = do.gather_nd(y, do.stack([at, at], axis=1))
            labels = c + "".join(labels[k] for k in rest)
    return x, labels


def _summed(x, labels, kept):
    gone = [i for i, c in enumerate(labels) if c not in kept]
    return (do.reduce_sum(x, axis=gone) if gone else x), "".join(c for c in labels if c in kept)


def _pair(x, a, y, b, kept):
    """Combines two values into one with the labels in kept."""
    x, a = _summed(x, a, kept + b)
    y, b = _summed(y, b, kept + a)
    batch = [c for c in a if c in b and c in kept]
    common = [c for c in a if c in b and c not in kept]
    left, right = [c for c in a if c not in b], [c for c in b if c not in a]
    out = _batched(
        x, y, [(a.index(c), b.index(c)) for c in batch], [a.index(c) for c in left],
        [b.index(c) for c in right], [(a.index(c), b.index(c)) for c in common],
    )  # fmt: skip
    return out, "".join(batch + left + right)


@publish("einsum,linalg.einsum")
def einsum(equation, *inputs, **kwargs):
    """Sums of products given by the equation ("ij,jk->ik"), two inputs at a time from the left."""
    values = same(*inputs)
    labels, out = _letters(equation, [_rank(v, "einsum") for v in values])
    values, labels = zip(*[_without_repeats(v, s) for v, s in zip(values, labels)])
    x, have = values[0], labels[0]
    for k in range(1, len(values)):
        kept = out + "".join(labels[k + 1 :])
        x, have = _pair(x, have, values[k], labels[k], kept)
    x, have = _summed(x, have, out)
    if set(have) != set(out):
        raise InvalidArgumentError(f"einsum: the result names {sorted(set(out) - set(have))}, which no input has")
    return x if have == out else do.transpose(x, [have.index(c) for c in out])


@publish("tensordot,linalg.tensordot")
def tensordot(a, b, axes, name=None):
    """Sums of products over axes: a number (the last of a, the first of b), or a pair of lists."""
    x, y = same(a, b)
    rank_x, rank_y = _rank(x, "tensordot"), _rank(y, "tensordot")
    axes = axes if isinstance(axes, (list, tuple)) else static_ints(axes)
    if len(axes) == 1 and not isinstance(axes[0], (list, tuple)):
        n = int(axes[0])
        of_x, of_y = list(range(rank_x - n, rank_x)), list(range(n))
    else:
        of_x, of_y = (list(np.atleast_1d(static_ints(v))) for v in axes)
    of_x, of_y = [_axis(i, rank_x, "tensordot") for i in of_x], [_axis(i, rank_y, "tensordot") for i in of_y]
    left, right = ([i for i in range(r) if i not in of] for r, of in ((rank_x, of_x), (rank_y, of_y)))
    return _batched(x, y, [], left, right, list(zip(of_x, of_y)))


@publish("linalg.matvec")
def matvec(a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None):
    """Multiplies matrices by vectors."""
    return do.squeeze(do.matmul(a, do.expand_dims(b, -1), transpose_a=transpose_a or adjoint_a), -1)


@publish("linalg.matrix_transpose,linalg.adjoint")
def matrix_transpose(a, name=None, conjugate=False):
    """Swaps the last two dimensions."""
    x = convert(a)
    rank = _rank(x, "matrix_transpose")
    return do.transpose(x, [*range(rank - 2), rank - 1, rank - 2])


def _places(x):
    """(indices of the rows, as a column, and of the columns) of the last two dimensions."""
    dims = _shape(x)
    return do.expand_dims(do.range(dims[-2]), 1), do.range(dims[-1])


@publish("linalg.band_part")
def band_part(input, num_lower, num_upper, name=None):
    """Keeps the matrix within that many diagonals below and above the main one (negative: all), 0 elsewhere."""
    x = convert(input)
    rows, columns = _places(x)
    low, high = (cast(v, "int32") for v in (num_lower, num_upper))
    is_in = do.logical_and(
        do.logical_or(do.less(low, 0), do.less_equal(rows - columns, low)),
        do.logical_or(do.less(high, 0), do.less_equal(columns - rows, high)),
    )
    return do.where(is_in, x, do.zeros_like(x))


@publish("linalg.diag_part,linalg.tensor_diag_part")
def diag_part(input, name=None, k=0, padding_value=0, align="RIGHT_LEFT"):
    """The main diagonal of matrices, or the k-th above it."""
    x = convert(input)
    k = int(attribute(k, "k"))
    dims = _shape(x)
    n = do.minimum(dims[-2] + min(k, 0), dims[-1] - max(k, 0))
    at = do.range(n)
    rank = _rank(x, "diag_part")
    y = do.transpose(x, [rank - 2, rank - 1, *range(rank - 2)])
    y = do.gather_nd(y, do.stack([at - min(k, 0), at + max(k, 0)], axis=1))
    return do.transpose(y, [*range(1, rank - 1), 0])


@publish("linalg.diag,linalg.tensor_diag")
def diag(diagonal, name=None, k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT"):
    """Matrices with that diagonal, 0 elsewhere."""
    if int(attribute(k, "k")) or num_rows != -1 or num_cols != -1:
        raise NotImplementedError("diag with k, num_rows or num_cols")
    x = convert(diagonal)
    at = do.range(_shape(x)[-1])
    is_on = do.equal(do.expand_dims(at, 1), at)
    wide = do.expand_dims(x, -1)
    return do.where(is_on, wide, convert(padding_value, x.dtype))


@publish("linalg.set_diag")
def set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT"):
    """Replaces the matrix's main diagonal."""
    if int(attribute(k, "k")):
        raise NotImplementedError("set_diag with k")
    x = convert(input)
    rows, columns = _places(x)
    d = convert(diagonal, x.dtype) if not _call.is_typed(diagonal) else convert(diagonal)
    return do.where(do.equal(rows, columns), _spread_diagonal(d, _shape(x)), x)


def _spread_diagonal(d, dims):
    """The diagonal's values spread along the rows of matrices of those sizes."""
    room = dims[-2] - _shape(d)[-1]
    pads = do.concat([np.zeros((len(d.shape) - 1, 2), np.int32), do.expand_dims(do.stack([np.int32(0), room]), 0)], 0)
    return do.expand_dims(do.pad(d, pads), -1)


@publish("linalg.trace")
def trace(x, name=None):
    """The sum of the main diagonal of matrices."""
    return do.reduce_sum(diag_part(x), axis=-1)


@publish("linalg.cross")
def cross(a, b, name=None):
    """Cross products of vectors of three."""
    x, y = same(a, b)
    one, two = [1, 2, 0], [2, 0, 1]
    at = lambda v, order: do.gather(v, order, axis=len(v.shape) - 1)
    return do.subtract(do.multiply(at(x, one), at(y, two)), do.multiply(at(x, two), at(y, one)))


@publish("linalg.global_norm")
def global_norm(t_list, name=None):
    """The root of the sum of squares over a list of values."""
    squares = [do.reduce_sum(do.square(convert(t))) for t in t_list if t is not None]
    return do.sqrt(do.add_n(squares))


Normalized = collections.namedtuple("Normalized", "normalized norm")


@publish("linalg.normalize")
def normalize(tensor, ord="euclidean", axis=None, name=None):
    """(x over its norm along the axes, the norm)."""
    x = convert(tensor)
    n = do.norm(x, ord, axis, True)
    return Normalized(do.truediv(x, n), n)


@publish("clip_by_norm")
def clip_by_norm(t, clip_norm, axes=None, name=None):
    """Scales x down to that norm along the axes, if it is larger."""
    x = convert(t)
    squares = do.reduce_sum(do.square(x), axis=axes, keepdims=True)
    norm = do.sqrt(do.where(do.greater(squares, 0), squares, do.ones_like(squares)))
    norm = do.where(do.greater(squares, 0), norm, squares)
    limit = cast(clip_norm, x.dtype)
    return do.truediv(do.multiply(x, limit), do.maximum(norm, limit))


@publish("clip_by_global_norm")
def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """(the values scaled down so that their global norm is at most clip_norm, the original norm)."""
    norm = global_norm(t_list) if use_norm is None else use_norm
    scale = do.multiply(convert(clip_norm, norm.dtype), do.minimum(do.truediv(1.0, norm), do.truediv(1.0, convert(clip_norm, norm.dtype))))
    return [None if t is None else do.multiply(convert(t), scale) for t in t_list], norm
