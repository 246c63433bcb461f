# SPDX-License-Identifier: Apache-2.0
"""Operations computed by NumPy, SciPy or Pillow: at once on arrays; in traced functions as Python for each element,
which explain() notes. For rarely used names."""

import importlib

import numpy as np

from ..core import _call, _dtypes, _eager
from ..core._call import convert
from ..core._function import numpy_function
from ..core._spec import TensorSpec
from ..errors import UnimplementedError
from ._ops import publish


def by_python(f, inputs, dtype, shape=None):
    """f over arrays. dtype, shape: of its result, or lists of them for several results; None for unknown dimensions, or
    for an unknown rank."""
    inputs = [convert(v) for v in inputs]
    many = isinstance(dtype, list)
    if not _call.is_symbolic(inputs):
        out = f(*[np.asarray(v) for v in inputs])
        out = [_eager.given(_as(v, d)) for v, d in zip(out if many else [out], dtype if many else [dtype])]
        return out if many else out[0]
    specs = [TensorSpec(s, d) for s, d in zip(shape, dtype)] if many else TensorSpec(shape, dtype)

    def call(*values):
        out = f(*[np.asarray(v, object if isinstance(v, bytes) else None) for v in values])
        return [_as(v, d) for v, d in zip(out, dtype)] if many else _as(out, dtype)

    call.__name__ = call.__qualname__ = getattr(f, "__name__", "function")
    return numpy_function(call, inputs, specs)


def _as(v, dtype):
    dtype = _dtypes.as_dtype(dtype)
    a = np.asarray(v, object) if dtype == _dtypes.string else np.asarray(v).astype(dtype, copy=False)
    return a[()] if a.ndim == 0 else a


def scipy_special(name, what):
    """A function of scipy.special. UnimplementedError: SciPy is not installed."""
    try:
        return getattr(importlib.import_module("scipy.special"), name)
    except ImportError:
        raise UnimplementedError(f"{what} needs the package scipy") from None


def _float(x):
    x = x if _call.is_typed(x) else convert(x, np.dtype("float32"))
    return convert(x)


def _special(names, about, scipy_name, count=1):
    what = names.split(",")[0]

    def one(x, name=None):
        x = _float(x)
        f = scipy_special(scipy_name, what)
        return by_python(lambda v: f(v.astype(np.float64)), [x], x.dtype, x.shape)

    def two(a, x, name=None):
        a, x = _call.same(_float(a), _float(x))
        f = scipy_special(scipy_name, what)
        return by_python(lambda u, v: f(u.astype(np.float64), v.astype(np.float64)), [a, x], x.dtype, _joint(a, x))

    def three(a, b, x, name=None):
        a, b, x = _call.same(_float(a), _float(b), _float(x))
        f = scipy_special(scipy_name, what)
        return by_python(lambda u, v, w: f(*(i.astype(np.float64) for i in (u, v, w))), [a, b, x], x.dtype, _joint(a, b, x))

    op = {1: one, 2: two, 3: three}[count]
    op.__name__ = op.__qualname__ = what.split(".")[-1]
    op.__doc__ = f"{about}, by SciPy."
    publish(names)(op)


def _joint(*values):
    """The broadcast shape of values, if known."""
    shapes = [v.shape for v in values]
    if any(s is None or None in s for s in shapes):
        return None
    return np.broadcast_shapes(*[tuple(s) for s in shapes])


for _names, _about, _scipy in (
    ("math.lgamma", "Logarithm of the amount of the gamma function", "gammaln"),
    ("math.digamma", "Derivative of lgamma", "digamma"),
    ("math.erfinv", "Inverse of erf", "erfinv"),
    ("math.erfcinv", "Inverse of erfc", "erfcinv"),
    ("math.ndtri", "Quantile of the normal distribution", "ndtri"),
    ("math.bessel_i0", "Modified Bessel function of order 0", "i0"),
    ("math.bessel_i0e", "Scaled modified Bessel function of order 0", "i0e"),
    ("math.bessel_i1", "Modified Bessel function of order 1", "i1"),
    ("math.bessel_i1e", "Scaled modified Bessel function of order 1", "i1e"),
):
    _special(_names, _about, _scipy)
for _names, _about, _scipy in (
    ("math.igamma", "Regularized lower incomplete gamma function", "gammainc"),
    ("math.igammac", "Regularized upper incomplete gamma function", "gammaincc"),
    ("math.zeta", "Hurwitz zeta function", "zeta"),
    ("math.polygamma", "Derivatives of digamma", "polygamma"),
):
    _special(_names, _about, _scipy, 2)
_special("math.betainc", "Regularized incomplete beta function", "betainc", 3)


@publish("math.nextafter")
def nextafter(x1, x2, name=None):
    """The next float after x1 toward x2."""
    x1, x2 = _call.same(_float(x1), _float(x2))
    return by_python(np.nextafter, [x1, x2], x1.dtype, _joint(x1, x2))


@publish("strings.unicode_encode")
def unicode_encode(input, output_encoding, errors="replace", replacement_char=65533, name=None):
    """Strings from code points (the last dimension)."""
    codec = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}[output_encoding]
    x = convert(input)

    def encode(v):
        rows = v.reshape(-1, v.shape[-1])
        out = np.empty(len(rows), object)
        out[:] = ["".join(chr(c) if 0 <= c < 0xD800 or 0xE000 <= c < 0x110000 else chr(replacement_char) for c in row).encode(codec) for row in rows]
        return out.reshape(v.shape[:-1])

    return by_python(encode, [x], _dtypes.string, None if x.shape is None else tuple(x.shape)[:-1])


@publish("strings.unicode_transcode")
def unicode_transcode(input, input_encoding, output_encoding, errors="replace", replacement_char=65533,
                      replace_control_characters=False, name=None):  # fmt: skip
    """Converts strings to another encoding."""
    how = {"replace": "replace", "ignore": "ignore", "strict": "strict"}[errors]
    x = convert(input, _dtypes.string)

    def one(b):
        text = bytes(b).decode(input_encoding.lower(), how)
        if replacement_char != 65533:
            text = text.replace("\ufffd", chr(replacement_char))
        if replace_control_characters:
            text = "".join(chr(replacement_char) if ord(c) < 32 and c not in "\t\n\r" else c for c in text)
        return text.encode(output_encoding.lower())

    return by_python(lambda v: _each(one, v), [x], _dtypes.string, x.shape)


def _each(f, v):
    out = np.empty(v.size, object)
    out[:] = [f(b) for b in v.ravel()]
    return out.reshape(v.shape)


@publish("image.draw_bounding_boxes")
def draw_bounding_boxes(images, boxes, colors=None, name=None):
    """Draws frames around boxes (batch, boxes, 4: top, left, bottom, right, from 0 to 1) in float images."""
    images, boxes = convert(images), convert(boxes)
    table = None if colors is None or not np.size(colors) else np.asarray(colors, np.float64)
    default = [[1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1], [0.5, 0.5, 0, 1],
               [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1]]  # fmt: skip
    table = np.asarray(default) if table is None else table

    def draw(x, b):
        out = np.array(x)
        height, width, depth = x.shape[1:]
        for i, rows in enumerate(b):
            for k, box in enumerate(rows):
                color = np.resize(table[k % len(table)], depth) if depth > table.shape[1] else table[k % len(table)][:depth]
                color = [1] if depth == 1 and colors is None else color
                _frame(out[i], box, color, height, width)
        return out

    return by_python(draw, [images, boxes], images.dtype, images.shape)


def _frame(image, box, color, height, width):
    # like TensorFlow's kernel: positions are truncated toward 0, and parts outside are skipped
    top, left = int(np.float32(box[0]) * (height - 1)), int(np.float32(box[1]) * (width - 1))
    bottom, right = int(np.float32(box[2]) * (height - 1)), int(np.float32(box[3]) * (width - 1))
    if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
        return
    rows, columns = slice(max(top, 0), min(bottom, height - 1) + 1), slice(max(left, 0), min(right, width - 1) + 1)
    for at, side in ((top, height), (bottom, height)):
        if 0 <= at < side:
            image[at, columns] = color
    for at, side in ((left, width), (right, width)):
        if 0 <= at < side:
            image[rows, at] = color


@publish("image.non_max_suppression")
def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=-3.4e38, name=None):
    """Indices (int32) of the boxes kept, best score first: none overlaps a better one by more than iou_threshold."""

    def keep(b, s, most):
        low, high = np.minimum(b[:, :2], b[:, 2:]), np.maximum(b[:, :2], b[:, 2:])
        areas, kept = np.prod(high - low, axis=1), []
        for i in np.argsort(-s, kind="stable"):
            if len(kept) >= most or s[i] <= score_threshold:
                break
            sides = np.minimum(high[i], high[kept]) - np.maximum(low[i], low[kept])
            common = np.prod(np.maximum(sides, 0), axis=1)
            union = areas[i] + areas[kept] - common
            if not np.any(common > iou_threshold * union) or not kept:
                kept.append(int(i))
        return np.asarray(kept, np.int32)

    return by_python(keep, [boxes, scores, convert(max_output_size)], np.dtype("int32"), (None,))


@publish("audio.encode_wav")
def encode_wav(audio, sample_rate, name=None):
    """A WAV file with 16 bits a sample: audio (samples, channels) from -1 to 1."""
    import io
    import wave

    def encode(x, rate):
        out = io.BytesIO()
        with wave.open(out, "wb") as w:
            w.setnchannels(x.shape[1])
            w.setsampwidth(2)
            w.setframerate(int(rate))
            w.writeframes(np.clip(np.trunc(x * np.float32(32768)), -32768, 32767).astype("<i2").tobytes())
        return np.asarray(out.getvalue(), object)

    return by_python(encode, [convert(audio, np.dtype("float32")), convert(sample_rate)], _dtypes.string, ())


@publish("strings.unsorted_segment_join")
def unsorted_segment_join(inputs, segment_ids, num_segments, separator="", name=None):
    """Joins the strings with the same segment id."""

    def join(v, ids, n):
        out = np.empty(int(n), object)
        out[:] = [separator.encode().join(bytes(b) for b in v.ravel()[ids.ravel() == k]) for k in range(int(n))]
        return out

    return by_python(join, [convert(inputs, _dtypes.string), segment_ids, convert(num_segments)], _dtypes.string, (None,))


@publish("edit_distance")
def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """Levenshtein distances of sequences in two SparseTensors: float32, over the leading dimensions."""

    def rows(s):
        found = {}
        for at, v in zip(np.asarray(s[0]), s[1]):
            found.setdefault(tuple(at[:-1]), []).append(v)
        return found

    def distances(hi, hv, hs, ti, tv, ts):
        a, b = rows((hi, hv)), rows((ti, tv))
        out = np.zeros(tuple(np.maximum(hs, ts)[:-1]), np.float32)
        for at in np.ndindex(out.shape):
            x, y = a.get(at, []), b.get(at, [])
            d = _levenshtein(x, y)
            out[at] = d if not normalize else d / len(y) if y else (np.inf if x else 0)
        return out

    return by_python(distances, [*hypothesis.parts(), *truth.parts()], np.dtype("float32"), None)


def _levenshtein(x, y):
    row = list(range(len(y) + 1))
    for i, a in enumerate(x, 1):
        previous, row[0] = row[0], i
        for j, b in enumerate(y, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (a != b))
    return row[-1]


def _matrix(names, f, dtype_of=None, rank=None, doc=""):
    """rank: how the result's shape follows from a's: same, vector (drops the last dimension), scalar."""

    def op(input, name=None):
        x = convert(input)
        s = None if x.shape is None else tuple(x.shape)
        shape = {None: s, "vector": s and s[:-1], "scalar": s and s[:-2]}[rank] if s is not None else None
        return by_python(f, [x], x.dtype, shape)

    op.__name__ = op.__qualname__ = names.split(",")[0].split(".")[-1]
    op.__doc__ = f"{doc}, by NumPy."
    publish(names)(op)


def _expm(a):
    # scaling and squaring of a Taylor series: enough for small float matrices
    n = max(0, int(np.ceil(np.log2(max(np.abs(a).sum(-1).max(initial=0), 1e-30)))) + 1)
    x = a.astype(np.float64) / 2**n
    out = term = np.broadcast_to(np.eye(a.shape[-1]), a.shape)
    for k in range(1, 24):
        term = term @ x / k
        out = out + term
    for _ in range(n):
        out = out @ out
    return out


_matrix("linalg.inv", np.linalg.inv, doc="The inverse of matrices")
_matrix("linalg.det", np.linalg.det, rank="scalar", doc="The determinant of matrices")
_matrix("linalg.cholesky", np.linalg.cholesky, doc="The lower triangular factor of positive matrices")
_matrix("linalg.pinv", np.linalg.pinv, rank=None, doc="The pseudo-inverse of square matrices")
_matrix("linalg.expm", _expm, doc="The exponential of matrices")
_matrix("linalg.eigvalsh", np.linalg.eigvalsh, rank="vector", doc="The eigenvalues of symmetric matrices")
_matrix("linalg.logdet", lambda a: np.linalg.slogdet(a)[1], rank="scalar", doc="The logarithm of the determinant of positive matrices")


@publish("linalg.solve")
def solve(matrix, rhs, adjoint=False, name=None):
    """Solves matrix x = rhs for x, with NumPy."""
    a, b = _call.same(matrix, rhs)
    f = (lambda m, r: np.linalg.solve(np.swapaxes(m, -1, -2), r)) if adjoint else np.linalg.solve
    return by_python(f, [a, b], a.dtype, b.shape)


@publish("linalg.eigh")
def eigh(tensor, name=None):
    """(eigenvalues, eigenvectors) of symmetric matrices, with NumPy."""
    x = convert(tensor)
    s = None if x.shape is None else tuple(x.shape)
    return tuple(by_python(lambda a: tuple(np.linalg.eigh(a)), [x], [x.dtype] * 2, [s and s[:-1], s]))


@publish("linalg.qr")
def qr(input, full_matrices=False, name=None):
    """(q, r) of matrices, with NumPy."""
    x = convert(input)
    mode = "complete" if full_matrices else "reduced"
    rank = None if x.shape is None else (None,) * len(x.shape)
    return tuple(by_python(lambda a: tuple(np.linalg.qr(a, mode)), [x], [x.dtype] * 2, [rank] * 2))


@publish("linalg.svd")
def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    """(s, u, v) of matrices, or only s, with NumPy."""
    x = convert(tensor)
    n = None if x.shape is None else len(x.shape)
    if not compute_uv:
        return by_python(lambda a: np.linalg.svd(a, compute_uv=False), [x], x.dtype, n and (None,) * (n - 1))

    def all_of(a):
        u, s, v = np.linalg.svd(a, full_matrices)
        return s, u, np.swapaxes(v, -1, -2)

    return tuple(by_python(all_of, [x], [x.dtype] * 3, [n and (None,) * (n - 1), n and (None,) * n, n and (None,) * n]))
