# SPDX-License-Identifier: Apache-2.0
"""Writes values at indices: scatter_nd, segment sums, partitions, histograms. Composed of the engine's scatter, gather
and bincount, so they are native."""

import numpy as np

from ..core import _call, _dtypes
from ..core._call import convert, run, static_ints
from ..core._trace import TraceError
from ._compose import _joined, _rank, _shape
from ._ops import attribute, cast, do, ensure_shape, publish

_I64 = np.dtype("int64")


def _rows_of(indices, dims, drops):
    """Row numbers in the flattened leading dimensions for indices (n, k); an index outside is an error, or (drops)
    skipped."""
    at = cast(convert(indices), _I64)
    k = at.shape[-1]
    linear, fits = np.int64(0), None
    for i in range(k):
        n, part = cast(dims[i], _I64), at[..., i]
        inside = do.logical_and(do.greater_equal(part, np.int64(0)), do.less(part, n))
        fits = inside if fits is None else do.logical_and(fits, inside)
        linear = do.add(do.multiply(n, linear), part)
    outside = np.int64(-1) if drops else np.int64(2**62)
    return do.reshape(do.where(fits, linear, outside), [-1])


def _strings_at(value, rows, updates, count):
    """Replaces rows of strings: gathers from both, by numbers that are scattered instead."""
    n = do.shape(updates)[0]
    numbers = run("scatter", [cast(do.range(count), _I64), rows, cast(do.range(n), _I64) + cast(count, _I64)], {"mode": "update"})[0]
    return do.gather(do.concat([value, updates], 0), numbers)


def _changed(value, indices, updates, mode):
    """The value with updates at indices into its k leading dimensions."""
    x, at = convert(value), convert(indices)
    updates = convert(updates, x.dtype) if not _call.is_typed(updates) else convert(updates)
    k = at.shape[-1] if at.shape else None
    if k is None:
        raise TraceError("scatter: the last dimension of indices must be known")
    dims = _shape(x)
    rows, rest = _rows_of(at, dims, False), dims[k:]
    count = do.reduce_prod(dims[:k])
    flat = do.reshape(x, _joined(do.stack([count]), rest))
    new = do.reshape(updates, _joined(do.stack([do.reduce_prod(_shape(at)[:-1])]), rest))
    if x.dtype == _dtypes.string or x.dtype == object:
        if mode != "update":
            raise TraceError("scatter: strings are set, not added")
        out = _strings_at(flat, rows, new, count)
    else:
        half = x.dtype in (np.dtype("float16"), _dtypes.bfloat16)
        parts = [cast(v, "float32") for v in (flat, new)] if half else [flat, new]
        out = run("scatter", [parts[0], rows, parts[1]], {"mode": mode})[0]
        out = cast(out, x.dtype) if half else out
    out = do.reshape(out, dims)
    return ensure_shape(out, x.shape) if _call.is_symbolic(out) and x.shape is not None else out


@publish("scatter_nd")
def scatter_nd(indices, updates, shape, name=None):
    """Zeros of that shape with the updates added at indices (the last dimension of indices)."""
    updates = convert(updates)
    zero = b"" if updates.dtype == _dtypes.string or updates.dtype == object else 0
    if updates.dtype == np.bool_:
        return cast(scatter_nd(indices, cast(updates, "int32"), shape), bool)
    base = do.fill(shape, convert(zero, _call.dtype_of(updates)))
    return _changed(base, indices, updates, "update" if zero == b"" else "add")


def _tensor_scatter(name, mode, words):
    def f(tensor, indices, updates, name=None):
        return _changed(tensor, indices, updates, mode)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"The value, {words} updates at places (the last dimension of indices)."
    publish(name)(f)


for _name, _mode, _words in (
    ("update", "update", "set to"), ("add", "add", "with added"), ("sub", "subtract", "less"),
    ("max", "maximum", "at most over"), ("min", "minimum", "at least under"),
):  # fmt: skip
    _tensor_scatter(f"tensor_scatter_nd_{_name}", _mode, _words)


def _segments(data, segment_ids, num_segments, mode, start):
    """(rows of start changed by each segment's data, the flattened segment ids)."""
    x, ids = convert(data), convert(segment_ids)
    k = _rank(ids, "segments")
    rest = _shape(x)[k:]
    n = convert(num_segments)
    rows = do.reshape(cast(ids, _I64), [-1])
    flat = do.reshape(x, _joined(do.stack([do.reduce_prod(_shape(ids))]), rest))
    base = do.fill(_joined(do.stack([cast(n, "int32")]), rest), convert(start, x.dtype))
    half = x.dtype in (np.dtype("float16"), _dtypes.bfloat16)
    parts = [cast(v, "float32") for v in (base, flat)] if half else [base, flat]
    out = run("scatter", [parts[0], rows, parts[1]], {"mode": mode})[0]
    return cast(out, x.dtype) if half else out, rows


def _counts(rows, num_segments, like):
    """The number of values in each segment, with a result's type and rank."""
    kept = do.boolean_mask(rows, do.greater_equal(rows, np.int64(0)))
    n = do.math.bincount(cast(kept, "int32"), minlength=num_segments, maxlength=num_segments)
    return do.reshape(cast(n, like.dtype), do.stack([do.shape(n)[0]] + [1] * (len(like.shape) - 1)))


def _start(dtype, mode):
    """The initial value of a reduction: TensorFlow's for empty segments."""
    if mode in ("add", "multiply"):
        return np.asarray(mode == "multiply", dtype)
    if dtype.kind == "f" or dtype.name == "bfloat16":
        limit = float(_dtypes.public(dtype).min if mode == "maximum" else _dtypes.public(dtype).max)
        return np.asarray(limit, dtype)
    return np.asarray(np.iinfo(dtype).min if mode == "maximum" else np.iinfo(dtype).max, dtype)


_MODES = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}


def _reduced(data, ids, n, how):
    x = convert(data)
    if how in _MODES:
        return _segments(x, ids, n, _MODES[how], _start(_dtypes.as_dtype(x.dtype), _MODES[how]))[0]
    total, rows = _segments(x, ids, n, "add", np.asarray(0, x.dtype))
    count = do.maximum(_counts(rows, n, total), 1)
    return do.truediv(total, do.sqrt(count) if how == "sqrt_n" else count)


def _unsorted(how):
    def f(data, segment_ids, num_segments, name=None):
        return _reduced(data, segment_ids, num_segments, how)

    f.__name__ = f.__qualname__ = f"unsorted_segment_{how}"
    f.__doc__ = f"The {how} of the slices of each number, below num_segments; those of negative numbers are left out."
    publish(f"math.unsorted_segment_{how}")(f)


def _sorted(how):
    def f(data, segment_ids, name=None):
        ids = convert(segment_ids)
        n = do.where(do.size(ids) > 0, do.reduce_max(do.concat([cast(ids, "int32"), [-1]], 0)) + 1, 0)
        x = convert(data)
        out = _reduced(x, ids, n, how)
        if how in ("sum", "mean"):
            return out
        # empty segments give 0, or 1 for products
        rows = do.reshape(cast(ids, _I64), [-1])
        has = do.greater(_counts(rows, n, out), convert(0, out.dtype))
        return do.where(has, out, do.fill(do.shape(out), convert(how == "prod" and 1 or 0, out.dtype)))

    f.__name__ = f.__qualname__ = f"segment_{how}"
    f.__doc__ = f"The {how} of the slices of each number; the numbers are sorted."
    publish(f"math.segment_{how}")(f)


for _how in ("sum", "prod", "max", "min", "mean", "sqrt_n"):
    _unsorted(_how)
    if _how != "sqrt_n":
        _sorted(_how)


@publish("dynamic_partition")
def dynamic_partition(data, partitions, num_partitions, name=None):
    """A list of num_partitions values: the slices of data for each partition."""
    x, numbers = convert(data), convert(partitions)
    count = int(attribute(num_partitions, "num_partitions"))
    return [do.boolean_mask(x, do.equal(numbers, np.asarray(k, numbers.dtype))) for k in range(count)]


@publish("dynamic_stitch,parallel_dynamic_stitch")
def dynamic_stitch(indices, data, name=None):
    """One value from the slices of several, at the positions in indices; later ones win."""
    flat, rows = [], []
    for at, x in zip(indices, data):
        at, x = convert(at), convert(x)
        rest = _shape(x)[_rank(at, "dynamic_stitch") :]
        rows.append(do.reshape(cast(at, _I64), [-1]))
        flat.append(do.reshape(x, _joined(do.stack([do.reduce_prod(_shape(at))]), rest)))
    places, values = do.concat(rows, 0), do.concat(flat, 0)
    n = do.reduce_max(places) + np.int64(1)
    numbers = run("scatter", [do.fill(do.stack([cast(n, "int32")]), np.int64(0)), places, cast(do.range(do.shape(places)[0]), _I64)], {"mode": "update"})[0]
    return do.gather(values, numbers)


@publish("histogram_fixed_width_bins")
def histogram_fixed_width_bins(values, value_range, nbins=100, dtype="int32", name=None):
    """The bin number of each value, with nbins equal bins over value_range; those outside count in the outermost."""
    x = convert(values)
    low, high = (do.cast(v, x.dtype) for v in do.unstack(convert(value_range, x.dtype) if not _call.is_typed(value_range) else convert(value_range), num=2))
    scaled = do.truediv(do.subtract(x, low), do.subtract(high, low))
    bins = cast(do.floor(do.multiply(cast(nbins, scaled.dtype), scaled)), "int32")
    bins = do.clip_by_value(bins, 0, cast(nbins, "int32") - 1)
    return cast(bins, dtype)


@publish("histogram_fixed_width")
def histogram_fixed_width(values, value_range, nbins=100, dtype="int32", name=None):
    """The number of values in each of nbins equal bins over value_range."""
    bins = do.reshape(histogram_fixed_width_bins(values, value_range, nbins), [-1])
    n = static_ints(nbins)
    out = do.math.bincount(bins, minlength=nbins, maxlength=nbins, dtype=dtype)
    return ensure_shape(out, n) if _call.is_symbolic(out) and n is not None else out


@publish("unravel_index")
def unravel_index(indices, dims, name=None):
    """Converts flat indices to multi-dimensional ones: (dimensions, ...)."""
    at, sizes = convert(indices), static_ints(dims)
    if sizes is None:
        raise TraceError("unravel_index: dims must be known while the function is traced")
    out, rest = [], at
    for n in reversed(sizes):
        out.insert(0, do.floormod(rest, np.asarray(n, at.dtype)))
        rest = do.floordiv(rest, np.asarray(n, at.dtype))
    return do.stack(out)


@publish("math.invert_permutation")
def invert_permutation(x, name=None):
    """The inverse of a permutation."""
    x = convert(x)
    return cast(do.argsort(x), x.dtype)


@publish("reverse_sequence")
def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None, seq_dim=None, batch_dim=None):
    """Reverses each row's first seq_lengths values."""
    seq, batch = int(seq_axis if seq_axis is not None else seq_dim or 0), int(batch_axis if batch_axis is not None else batch_dim or 0)
    x, lengths = convert(input), cast(convert(seq_lengths), "int32")
    rank = _rank(x, "reverse_sequence")
    order = [batch, seq] + [i for i in range(rank) if i not in (batch, seq)]
    back = [order.index(i) for i in range(rank)]
    y = do.transpose(x, order)
    places = do.range(do.shape(y)[1])
    n = do.expand_dims(lengths, 1)
    at = do.where(do.less(places, n), n - 1 - places, places)
    return do.transpose(do.gather(y, at, batch_dims=1), back)


@publish("math.confusion_matrix")
def confusion_matrix(labels, predictions, num_classes=None, weights=None, dtype="int32", name=None):
    """Counts by label (row) and prediction (column)."""
    a, b = (do.reshape(cast(convert(v), "int32"), [-1]) for v in (labels, predictions))
    n = do.maximum(do.reduce_max(a), do.reduce_max(b)) + 1 if num_classes is None else cast(num_classes, "int32")
    weights = None if weights is None else cast(weights, dtype)
    out = do.math.bincount(a * n + b, weights=weights, minlength=n * n, maxlength=n * n, dtype=dtype)
    return do.reshape(out, do.stack([n, n]))


@publish("math.in_top_k,nn.in_top_k")
def in_top_k(targets, predictions, k, name=None):
    """Is the target of each row among its k largest predictions?"""
    x, targets = convert(predictions), convert(targets)
    of_target = do.reduce_sum(do.multiply(x, do.one_hot(targets, do.shape(x)[-1], dtype=x.dtype)), axis=-1, keepdims=True)
    better = do.reduce_sum(cast(do.greater(x, of_target), "int32"), axis=-1)
    return do.less(better, cast(k, "int32"))


def _setdiff(x, y, index_dtype="int32", name=None):
    """(values of x that aren't in y, their indices)."""
    x, y = _call.same(x, y)
    is_in = do.reduce_any(do.equal(do.expand_dims(x, 1), do.expand_dims(y, 0)), axis=1)
    at = do.where(do.logical_not(is_in))[:, 0]
    return do.gather(x, at), cast(at, index_dtype)


