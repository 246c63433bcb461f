# SPDX-License-Identifier: Apache-2.0
"""TensorFlow operations composed of others."""

import collections

import numpy as np

from ..core import _call, _dtypes, _trace
from ..core._call import convert, is_symbolic, run, same, static_ints
from ._ops import do, attribute, cast, ensure_shape, partly_shaped, publish
from ..core._function import numpy_function
from ..core._sparse import RaggedTensor
from ..core._spec import TensorSpec
from ..core._trace import TraceError
from ..core._value import Value
from ..errors import InvalidArgumentError

_table_reshape, _table_as_string = do.reshape, do.as_string


@publish("strings.join")
def join(inputs, separator="", name=None):
    """Joins the strings of several values, with a separator in between."""
    parts = [convert(v, _dtypes.string) for v in inputs]
    out = parts[0]
    for p in parts[1:]:
        out = do.add(do.add(out, separator) if separator else out, p)
    return out


def _letters(op, input, encoding):
    """Changes the case of letters: ASCII natively, all of Unicode in Python for each element."""
    if encoding not in ("", None, "utf-8"):
        raise InvalidArgumentError(f"encoding is 'utf-8', or '' for ASCII letters only, not {encoding!r}")
    text = convert(input, _dtypes.string)
    if not encoding:
        return run(op, [text], {})[0]
    cased = str.lower if op == "string_lower" else str.upper

    def one(b):
        return cased(bytes(b).decode("utf-8", "replace")).encode()

    def letters(values):
        if isinstance(values, bytes):
            return one(values)
        return np.array([one(b) for b in values.ravel()] + [None], object)[:-1].reshape(values.shape)

    letters.__name__ = op
    return numpy_function(letters, [text], TensorSpec(text.shape, _dtypes.string))


@publish("strings.lower")
def lower(input, encoding="", name=None):
    """Lowercase: ASCII letters, or with encoding="utf-8" all, in Python."""
    return _letters("string_lower", input, encoding)


@publish("strings.upper")
def upper(input, encoding="", name=None):
    """Uppercase: ASCII letters, or with encoding="utf-8" all, in Python."""
    return _letters("string_upper", input, encoding)


def _parts(op, input, attrs):
    """A string's parts as a vector; for a vector of strings, a RaggedTensor."""
    input = convert(input, _dtypes.string)
    if input.shape is None or len(input.shape) > 1:
        raise NotImplementedError(f"{op} of more than a vector of strings")
    out = run(op, [input], attrs)
    return RaggedTensor(out[0], out[1:]) if len(input.shape) else out[0]


@publish("strings.split")
def split(input, sep=None, maxsplit=-1, name=None):
    """The parts between separators (white space by default, runs of it as one)."""
    attrs = {"sep": sep or None, "maxsplit": int(attribute(maxsplit, "maxsplit"))}
    return _parts("string_split", input, {k: v for k, v in attrs.items() if v is not None})


@publish("strings.bytes_split")
def bytes_split(input, name=None):
    """The bytes of a string, each as a string."""
    return _parts("string_bytes", input, {})


def _utf8(encoding, errors="replace", replacement_char=0xFFFD):
    if str(encoding).upper().replace("_", "-") not in ("UTF-8", "UTF8"):
        raise NotImplementedError(f"encoding {encoding!r}; UTF-8 is supported")
    if errors != "replace" or replacement_char != 0xFFFD:
        raise NotImplementedError("errors other than 'replace' by U+FFFD")


@publish("strings.unicode_split")
def unicode_split(
    input, input_encoding, errors="replace", replacement_char=0xFFFD, name=None
):
    """The characters of a string, each as a string."""
    _utf8(input_encoding, errors, replacement_char)
    return _parts("unicode_split", input, {})


@publish("strings.unicode_decode")
def unicode_decode(
    input,
    input_encoding,
    errors="replace",
    replacement_char=0xFFFD,
    replace_control_characters=False,
    name=None,
):
    """The code points of a string's characters, int32."""
    _utf8(input_encoding, errors, replacement_char)
    if replace_control_characters:
        raise NotImplementedError("unicode_decode with replace_control_characters")
    return _parts("unicode_decode", input, {})


def _shape(x):
    """Sizes as an array if known, else a symbolic vector; int32."""
    return do.shape(x)


def _rank(x, what):
    if x.shape is None:
        raise TraceError(f"{what}: the rank must be known")
    return len(x.shape)


def _axis(axis, rank, what):
    """An axis counted from the front."""
    a = int(attribute(axis, "axis"))
    if not -rank <= a < rank:
        raise InvalidArgumentError(f"{what}: axis {a} of a value of rank {rank}")
    return a % rank


def _joined(*parts):
    """One vector of sizes: an array if all are known."""
    return do.concat([np.asarray(p, np.int32) if not is_symbolic(p) else p for p in parts], 0)


@publish("shape")
def shape(input, out_type="int32", name=None):
    """The sizes: an array if all are known, so that result shapes are known as well."""
    x, dtype = convert(input), _dtypes.as_dtype(out_type or "int32")
    if is_symbolic(x) and x.shape is not None and x.shape.is_fully_defined():
        return np.asarray(tuple(x.shape), dtype)
    return run("shape", [x], {"out_type": _dtypes.number(dtype)})[0]


@publish("reshape")
def reshape(tensor, shape, name=None):
    """The same values in another shape; -1 stands for the rest."""
    return partly_shaped(_table_reshape(tensor, shape), shape)


@publish("gather")
def gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    """Slices along an axis, by default the first after the batch_dims leading ones that both share."""
    x, at = convert(params), convert(indices)
    batch = int(attribute(batch_dims, "batch_dims"))
    if batch:
        most = _rank(at, "gather")
        if not -most <= batch <= most:
            raise InvalidArgumentError(f"gather: batch_dims {batch} is not between {-most} and {most}")
        batch += most if batch < 0 else 0
    if batch == 0:
        return run("gather", [x, at], {"axis": 0 if axis is None else attribute(axis, "axis")})[0]
    if axis is not None and _axis(axis, _rank(x, "gather"), "gather") != batch:
        return _gathered_behind(x, at, _axis(axis, _rank(x, "gather"), "gather"), batch)
    dims, places = _shape(x), _shape(at)
    rows, n = do.reduce_prod(dims[:batch]), dims[batch]
    each = do.reduce_prod(places[batch:])
    at = do.reshape(cast(at, "int64"), do.stack([rows, each]))
    first = do.expand_dims(cast(do.range(rows) * n, "int64"), 1)
    is_there = do.logical_and(
        do.greater_equal(at, np.int64(0)), do.less(at, cast(n, "int64"))
    )
    at = do.where(is_there, do.add(at, first), np.int64(-1))  # -1: an error
    flat = do.reshape(x, _joined(do.stack([rows * n]), dims[batch + 1 :]))
    out = do.reshape(
        run("gather", [flat, at], {"axis": 0})[0], _joined(places, dims[batch + 1 :])
    )
    known = tuple(convert(indices).shape) + tuple(x.shape[batch + 1 :])
    return ensure_shape(out, known) if is_symbolic(out) else out


def _gathered_behind(x, at, axis, batch):
    """gather along an axis that doesn't directly follow the shared ones: moves it there, and moves the axes in between
    back."""
    if axis < batch:
        raise InvalidArgumentError(f"gather: batch_dims {batch} is more than axis {axis}")
    rank, n = _rank(x, "gather"), _rank(at, "gather") - batch
    between = list(range(batch, axis))
    front = do.transpose(
        x, [*range(batch), axis, *between, *range(axis + 1, rank)]
    )
    out = gather(front, at, batch_dims=batch)
    first = batch + n
    places = [*range(first, first + len(between)), *range(batch, first)]
    return do.transpose(
        out, [*range(batch), *places, *range(first + len(between), rank + n - 1)]
    )


@publish("gather_nd")
def gather_nd(params, indices, batch_dims=0, name=None):
    """Slices of params at multi-dimensional indices, given by the last dimension of indices."""
    if int(attribute(batch_dims, "batch_dims")):
        raise NotImplementedError("gather_nd with batch_dims")
    x, at = convert(params), convert(indices)
    k = at.shape[-1] if at.shape else None
    if k is None:
        raise TraceError("gather_nd: the last dimension of indices must be known")
    dims = _shape(x)
    linear, fits = np.int64(0), None
    for i in range(k):
        part, n = cast(at[..., i], "int64"), cast(dims[i], "int64")
        inside = do.logical_and(
            do.greater_equal(part, np.int64(0)), do.less(part, n)
        )
        fits = inside if fits is None else do.logical_and(fits, inside)
        linear = do.add(do.multiply(n, linear), part)
    linear = linear if fits is None else do.where(fits, linear, np.int64(-1))
    count = do.reduce_prod(dims[:k])
    flat = do.reshape(x, _joined(do.stack([count]), dims[k:]))
    out = run("gather", [flat, linear], {"axis": 0})[0]
    lengths = None if x.shape is None else (*at.shape[:-1], *x.shape[k:])
    return out if lengths is None or not isinstance(out, Value) else do.ensure_shape(out, lengths)


@publish("boolean_mask")
def boolean_mask(tensor, mask, axis=None, name="boolean_mask"):
    """The slices where the mask is true; it covers the axes from `axis` (0) on."""
    x, mask = convert(tensor), convert(mask, np.dtype(bool))
    a = 0 if axis is None else _axis(axis, _rank(x, "boolean_mask"), "boolean_mask")
    if a == 0:
        return run("boolean_mask", [x, mask], {})[0]
    end, dims = a + _rank(mask, "boolean_mask"), _shape(x)
    count = do.reduce_prod(dims[a:end])
    flat = do.reshape(x, _joined(dims[:a], do.stack([count]), dims[end:]))
    # numbers of the slices, in the mask's shape; a mask that doesn't fit is an error
    numbers = do.reshape(do.range(count), dims[a:end])
    return run("gather", [flat, run("boolean_mask", [numbers, mask], {})[0]], {"axis": a})[0]


@publish("roll")
def roll(input, shift, axis, name=None):
    """Shifts values along axes, moving those past the end to the start."""
    x = convert(input)
    known, rank = x.shape, _rank(x, "roll")
    for s, a in zip(
        np.atleast_1d(attribute(shift, "shift")), np.atleast_1d(attribute(axis, "axis"))
    ):
        a = _axis(a, rank, "roll")
        n = _shape(x)[a]
        at = do.floormod(-int(s), do.maximum(n, 1))
        before = (slice(None),) * a
        x = do.concat([x[before + (slice(at, None),)], x[before + (slice(None, at),)]], a)
    return ensure_shape(x, known) if is_symbolic(x) else x


def _each_repeated(x, repeats, axis):
    """repeat with a separate count for each value along the axis."""
    ends = do.cumsum(cast(repeats, "int64"))
    places = do.range(do.reduce_sum(cast(repeats, "int64")))
    is_behind = do.greater_equal(do.expand_dims(places, 1), ends)
    at = do.reduce_sum(cast(is_behind, "int64"), axis=1)
    return run("gather", [x, at], {"axis": axis})[0]


@publish("repeat")
def repeat(input, repeats, axis=None, name=None):
    """Each value `repeats` times (one count, or one for each), along an axis, or over the flattened values."""
    x, repeats = convert(input), convert(repeats)
    if axis is None:
        x, axis = do.reshape(x, [-1]), 0
    rank = _rank(x, "repeat")
    axis = _axis(axis, rank, "repeat")
    if _rank(repeats, "repeat"):
        return _each_repeated(x, repeats, axis)
    wide = do.tile(
        do.expand_dims(x, axis + 1),
        do.stack([1] * (axis + 1) + [repeats] + [1] * (rank - axis - 1)),
    )
    sizes = _shape(x)
    sides = [sizes[i] * cast(repeats, "int32") if i == axis else sizes[i] for i in range(rank)]
    return do.reshape(wide, do.stack(sides))


@publish("broadcast_to")
def broadcast_to(input, shape, name=None):
    """Broadcasts values to new dimensions and along those of length 1."""
    x = convert(input)
    there = do.fill(shape, np.bool_(True))
    return do.where(there, x, x)


@publish("sequence_mask")
def sequence_mask(lengths, maxlen=None, dtype="bool", name=None):
    """True at the first `lengths` positions, of maxlen (the largest length)."""
    lengths = convert(lengths)
    most = do.reduce_max(lengths) if maxlen is None else maxlen
    most = cast(most, lengths.dtype) if _is_array(most) else convert(most, lengths.dtype)
    places = do.range(convert(0, lengths.dtype), most, convert(1, lengths.dtype))
    return cast(do.less(places, do.expand_dims(lengths, -1)), dtype)


def _is_array(v):
    return isinstance(v, np.ndarray) or is_symbolic(v)


@publish("eye,linalg.eye")
def eye(num_rows, num_columns=None, batch_shape=None, dtype="float32", name=None):
    """A matrix with ones on its diagonal."""
    if batch_shape is not None:
        raise NotImplementedError("eye with batch_shape")
    rows = do.range(num_rows)
    columns = do.range(num_rows if num_columns is None else num_columns)
    return cast(do.equal(do.expand_dims(rows, 1), columns), dtype)


@publish("stop_gradient")
def stop_gradient(input, name=None):
    """The values: there are no gradients here."""
    return do.identity(input)


@publish("meshgrid")
def meshgrid(*args, indexing="xy", name=None):
    """Coordinates of a grid: for each vector an array with one dimension per vector."""
    if indexing not in ("xy", "ij"):
        raise InvalidArgumentError(f"meshgrid: indexing is 'xy' or 'ij', not {indexing!r}")
    places = list(range(len(args)))
    if indexing == "xy" and len(args) > 1:
        places[:2] = 1, 0
    sides = [
        do.reshape(x, [-1 if i == at else 1 for i in range(len(args))])
        for x, at in zip([convert(v) for v in args], places)
    ]
    out = []
    for i, x in enumerate(sides):
        for other in sides[:i] + sides[i + 1 :]:
            x = do.multiply(x, cast(do.ones_like(other), x.dtype))
        out.append(x)
    return out


@publish("math.divide_no_nan")
def divide_no_nan(x, y, name=None):
    """x / y, 0 where y is 0; integers divide like truediv."""
    x, y = same(x, y)
    if x.dtype.kind in "iu":
        wide = "float64" if x.dtype.itemsize > 2 else "float32"
        x, y = cast(x, wide), cast(y, wide)
    return run("div_no_nan", [x, y], {})[0]


def _best(op):
    def f(input, axis=None, output_type="int64", name=None):
        x = convert(input)
        if x.dtype in (np.dtype("float16"), _dtypes.bfloat16):
            x = cast(x, "float32")
        attrs = {"axis": 0 if axis is None else attribute(axis, "axis")}
        return run(op, [x], dict(attrs, output_type=_dtypes.number(output_type)))[0]

    f.__name__ = f.__qualname__ = op
    f.__doc__ = f"Where the {'largest' if op == 'argmax' else 'smallest'} value along an axis is, the first of equal ones."
    return publish(f"{op},math.{op}")(f)


argmax, argmin = _best("argmax"), _best("argmin")


@publish("strings.as_string,as_string")
def as_string(
    input, precision=-1, scientific=False, shortest=False, width=-1, fill="", name=None
):
    """Numbers as text; strings unchanged."""
    x = convert(input)
    if x.dtype == _dtypes.string or x.dtype == object:
        return do.identity(x)
    return _table_as_string(x, precision, scientific, shortest, width, fill)


@publish("nn.softmax,math.softmax")
def softmax(logits, axis=None, name=None):
    """exp(x) over its sum along an axis, by default the last."""
    x, axis = convert(logits), -1 if axis is None else axis
    e = do.exp(do.subtract(x, do.reduce_max(x, axis=axis, keepdims=True)))
    return do.truediv(e, do.reduce_sum(e, axis=axis, keepdims=True))


@publish("math.l2_normalize,linalg.l2_normalize,nn.l2_normalize")
def l2_normalize(x, axis=None, epsilon=1e-12, name=None):
    """x over its norm along the axes."""
    x = convert(x)
    squares = do.reduce_sum(do.square(x), axis=axis, keepdims=True)
    return do.multiply(x, do.math.rsqrt(do.maximum(squares, epsilon)))


@publish("math.count_nonzero")
def count_nonzero(input, axis=None, keepdims=None, dtype="int64", name=None):
    """The number of nonzero values."""
    x = convert(input)
    zero = b"" if x.dtype == _dtypes.string else False if x.dtype == np.bool_ else 0
    return do.reduce_sum(cast(do.not_equal(x, zero), dtype), axis, bool(keepdims))


TopKV2 = collections.namedtuple("TopKV2", "values indices")
Unique = collections.namedtuple("Unique", "y idx")
UniqueWithCounts = collections.namedtuple("UniqueWithCounts", "y idx count")


@publish("math.top_k,nn.top_k")
def top_k(input, k=1, sorted=True, index_type="int32", name=None):
    """(values, indices): the k largest values of each row (the last dimension), the largest first.

    Equal values keep their order. Always sorted, even with `sorted=False`. NaN is less than everything.
    """
    x, places = convert(input), _dtypes.as_dtype(index_type)
    dtype, known = x.dtype, static_ints(k)
    is_half = dtype in (np.dtype("float16"), _dtypes.bfloat16)
    x = cast(x, "float32") if is_half else x
    if known is None:  # it varies by element: sort everything, then take the first ones
        order = (slice(None),) * (_rank(x, "top_k") - 1) + (slice(None, k),)
        values = do.sort(x, direction="DESCENDING")[order]
        at = cast(do.argsort(x, direction="DESCENDING")[order], places)
    else:
        attrs = {"k": known[0], "index_type": _dtypes.number(places)}
        values, at = run("top_k", [x], attrs)
    return TopKV2(cast(values, dtype), at)


def _unique(x, out_idx):
    return run("unique", [convert(x)], {"out_idx": _dtypes.number(_dtypes.as_dtype(out_idx))})


@publish("unique")
def unique(x, out_idx="int32", name=None):
    """(y, idx): a vector's distinct values, in order of first occurrence; and for each value its index in y."""
    return Unique(*_unique(x, out_idx)[:2])


@publish("unique_with_counts")
def unique_with_counts(x, out_idx="int32", name=None):
    """(y, idx, count): the same, and how often each value of y occurs."""
    return UniqueWithCounts(*_unique(x, out_idx))


def _two(v, what):
    v = [int(i) for i in np.ravel(attribute(v, what))]
    if len(v) != 4 or v[0] != 1 or v[3] != 1:
        raise InvalidArgumentError(f"extract_patches: {what} is [1, rows, columns, 1], not {v}")
    return ("ints", v[1:3])


@publish("image.extract_patches")
def extract_patches(images, sizes, strides, rates, padding, name=None):
    """Windows of images, (n, height, width, depth): (n, rows, columns, values of a window).

    sizes, strides, rates: [1, rows, columns, 1]. padding: "VALID", only windows that fit, or "SAME",
    one around every stride-th pixel, with zeros outside.
    """
    if padding not in ("VALID", "SAME"):
        raise InvalidArgumentError(f"padding is 'VALID' or 'SAME', not {padding!r}")
    attrs = {"same": int(padding == "SAME"), "sizes": _two(sizes, "sizes")}
    attrs.update(strides=_two(strides, "strides"), rates=_two(rates, "rates"))
    return run("extract_patches", [convert(images)], attrs)[0]


@publish("is_tensor")
def is_tensor(x):
    """Is it a symbolic value or an array?"""
    return _call.is_typed(x) or hasattr(x, "parts")


@publish("executing_eagerly")
def executing_eagerly():
    """Raises while a function is traced."""
    return _trace.current() is None
