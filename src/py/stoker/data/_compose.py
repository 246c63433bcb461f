# SPDX-License-Identifier: Apache-2.0
"""Operations of TensorFlow that are made of others."""

import numpy as np

from . import _dtypes
from ._call import convert, run, same
from ._ops import PUBLIC, attribute, cast, publish
from ._trace import TraceError


@publish("strings.join")
def join(inputs, separator="", name=None):
    """Strings of several values, one behind the other, with a separator between."""
    parts = [convert(v, _dtypes.string) for v in inputs]
    out = parts[0]
    for p in parts[1:]:
        out = PUBLIC["add"](PUBLIC["add"](out, separator) if separator else out, p)
    return out


def _ascii(op, input, encoding):
    if encoding not in ("", None):
        raise NotImplementedError("letters beyond ASCII (encoding='utf-8')")
    return run(op, [convert(input, _dtypes.string)], {})[0]


@publish("strings.lower", "string_lower")
def lower(input, encoding="", name=None):
    """ASCII letters made small."""
    return _ascii("string_lower", input, encoding)


@publish("strings.upper", "string_upper")
def upper(input, encoding="", name=None):
    """ASCII letters made capital."""
    return _ascii("string_upper", input, encoding)


def _parts(op, input, attrs):
    """A string's parts as a vector; a RaggedTensor of a vector of strings."""
    from ._sparse import RaggedTensor

    input = convert(input, _dtypes.string)
    if input.shape is None or len(input.shape) > 1:
        raise NotImplementedError(f"{op} of more than a vector of strings")
    out = run(op, [input], attrs)
    return RaggedTensor(out[0], out[1:]) if len(input.shape) else out[0]


@publish("strings.split", "string_split")
def split(input, sep=None, maxsplit=-1, name=None):
    """The parts between separators (white space by default, runs of it as one)."""
    attrs = {"sep": sep or None, "maxsplit": int(attribute(maxsplit, "maxsplit"))}
    return _parts("string_split", input, {k: v for k, v in attrs.items() if v is not None})


@publish("strings.bytes_split", "string_bytes")
def bytes_split(input, name=None):
    """The bytes of a string, each as a string."""
    return _parts("string_bytes", input, {})


def _utf8(encoding, errors="replace", replacement_char=0xFFFD):
    if str(encoding).upper().replace("_", "-") not in ("UTF-8", "UTF8"):
        raise NotImplementedError(f"encoding {encoding!r}; UTF-8 is there")
    if errors != "replace" or replacement_char != 0xFFFD:
        raise NotImplementedError("errors other than 'replace' by U+FFFD")


@publish("strings.unicode_split", "unicode_split")
def unicode_split(
    input, input_encoding, errors="replace", replacement_char=0xFFFD, name=None
):
    """The characters of a string, each as a string."""
    _utf8(input_encoding, errors, replacement_char)
    return _parts("unicode_split", input, {})


@publish("strings.unicode_decode", "unicode_decode")
def unicode_decode(
    input,
    input_encoding,
    errors="replace",
    replacement_char=0xFFFD,
    replace_control_characters=False,
    name=None,
):
    """The numbers of a string's characters, int32."""
    _utf8(input_encoding, errors, replacement_char)
    if replace_control_characters:
        raise NotImplementedError("unicode_decode with replace_control_characters")
    return _parts("unicode_decode", input, {})


@publish("roll")
def roll(input, shift, axis, name=None):
    """Values moved along axes, those beyond the end to the start."""
    shifts = np.atleast_1d(attribute(shift, "shift"))
    for s, a in zip(shifts, np.atleast_1d(attribute(axis, "axis"))):
        before = (slice(None),) * int(a)
        if a < 0:
            raise TraceError("roll: the axis counts from the front")
        n = PUBLIC["shape"](input)[int(a)]
        at = PUBLIC["floormod"](-int(s), PUBLIC["maximum"](n, 1))
        parts = [input[before + (slice(at, None),)], input[before + (slice(None, at),)]]
        input = PUBLIC["concat"](parts, int(a))
    return input


@publish("repeat")
def repeat(input, repeats, axis=None, name=None):
    """Each value `repeats` times (a number), along an axis, or of all values in one row."""
    n = int(attribute(repeats, "repeats"))
    x = convert(input)
    if axis is None:
        x, axis = PUBLIC["reshape"](x, [-1]), 0
    rank = len(x.shape)
    axis = int(axis) % rank
    wide = PUBLIC["tile"](
        PUBLIC["expand_dims"](x, axis + 1), [1] * (axis + 1) + [n] + [1] * (rank - axis - 1)
    )
    shape = PUBLIC["shape"](x)
    sides = [shape[i] * n if i == axis else shape[i] for i in range(rank)]
    return PUBLIC["reshape"](wide, PUBLIC["stack"](sides))


@publish("nn.softmax")
def softmax(logits, axis=-1, name=None):
    """exp(x) over its sum along an axis."""
    x = convert(logits)
    e = PUBLIC["exp"](PUBLIC["subtract"](x, PUBLIC["reduce_max"](x, axis=axis, keepdims=True)))
    return PUBLIC["truediv"](e, PUBLIC["reduce_sum"](e, axis=axis, keepdims=True))


@publish("math.l2_normalize,linalg.l2_normalize,nn.l2_normalize")
def l2_normalize(x, axis=None, epsilon=1e-12, name=None):
    """x over its length along the axes."""
    x = convert(x)
    squares = PUBLIC["reduce_sum"](PUBLIC["square"](x), axis=axis, keepdims=True)
    return PUBLIC["multiply"](x, PUBLIC["math.rsqrt"](PUBLIC["maximum"](squares, epsilon)))


@publish("math.count_nonzero")
def count_nonzero(input, axis=None, keepdims=False, dtype="int64", name=None):
    """How many values are not 0."""
    x = convert(input)
    zero = b"" if x.dtype == _dtypes.string else False if x.dtype == np.bool_ else 0
    return PUBLIC["reduce_sum"](cast(PUBLIC["not_equal"](x, zero), dtype), axis, keepdims)


@publish("meshgrid")
def meshgrid(x, y, indexing="xy", name=None):
    """Coordinates of a grid: two matrices."""
    x, y = same(x, y)
    if indexing == "ij":
        b, a = meshgrid(y, x)
        return a, b
    ones_x, ones_y = PUBLIC["ones_like"](x), PUBLIC["ones_like"](y)
    rows = PUBLIC["multiply"](PUBLIC["expand_dims"](x, 0), PUBLIC["expand_dims"](ones_y, 1))
    cols = PUBLIC["multiply"](PUBLIC["expand_dims"](ones_x, 0), PUBLIC["expand_dims"](y, 1))
    return rows, cols
