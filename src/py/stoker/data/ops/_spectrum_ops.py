# SPDX-License-Identifier: Apache-2.0
"""Complex values and their transforms: tf.complex, tf.signal.fft and related functions, inverse stft, dct.

A complex value is a pair of arrays (_signal.Complex), with arithmetic added here. Its transform uses the engine's
transform of real values: fft(a + ib) = fft(a) + i fft(b), and the second half of a real value's transform mirrors the
first. ifft(x) is the conjugate of fft(conj(x)) over n.
"""

import numpy as np

from ..core import _call, _dtypes
from ..core._call import convert, static_ints
from ..core._trace import TraceError
from . import _signal
from ._compose import _rank, _shape
from ._ops import attribute, cast, do, publish
from ._signal import Complex


@publish("complex,dtypes.complex")
def _complex(real, imag, name=None):
    """Complex values from two arrays."""
    return Complex(*_call.same(real, imag))


def as_complex(v):
    """A complex value from one, from a real one, or from an array of complex numbers."""
    if isinstance(v, Complex):
        return v
    a = np.asarray(v) if not _call.is_symbolic(v) else None
    if a is not None and a.dtype.kind == "c":
        part = np.float64 if a.dtype == np.complex128 else np.float32
        return Complex(a.real.astype(part), a.imag.astype(part))
    x = convert(v)
    x = x if x.dtype.kind == "f" else cast(x, "float32")
    return Complex(x, do.zeros_like(x))


def _add(a, b):
    return Complex(do.add(a.real, b.real), do.add(a.imag, b.imag))


def _sub(a, b):
    return Complex(do.subtract(a.real, b.real), do.subtract(a.imag, b.imag))


def _mul(a, b):
    real = do.subtract(do.multiply(a.real, b.real), do.multiply(a.imag, b.imag))
    return Complex(real, do.add(do.multiply(a.real, b.imag), do.multiply(a.imag, b.real)))


def _div(a, b):
    size = do.add(do.square(b.real), do.square(b.imag))
    top = _mul(a, b.conj())
    return Complex(do.truediv(top.real, size), do.truediv(top.imag, size))


def _operator(f, swapped=False):
    def method(self, other):
        other = as_complex(other) if not isinstance(other, (int, float)) else _number(self, other)
        return f(other, self) if swapped else f(self, other)

    return method


def _number(like, v):
    real = convert(v, like.real.dtype)
    return Complex(real, np.zeros((), _dtypes.as_dtype(like.real.dtype)))


for _name, _f in {"add": _add, "sub": _sub, "mul": _mul, "truediv": _div}.items():
    setattr(Complex, f"__{_name}__", _operator(_f))
    setattr(Complex, f"__r{_name}__", _operator(_f, True))
Complex.conj = lambda self: Complex(self.real, do.negative(self.imag))
Complex.__neg__ = lambda self: Complex(do.negative(self.real), do.negative(self.imag))
Complex.__array_priority__ = 100


def _moved(x, axis, back=False):
    """Moves the axis to the end, or back."""
    rank = _rank(x, "fft")
    axis %= rank
    order = [i for i in range(rank) if i != axis] + [axis]
    order = [order.index(i) for i in range(rank)] if back else order
    return x if order == list(range(rank)) else do.transpose(x, order)


def _whole(x):
    """The whole transform of a real value along its last dimension."""
    n = _shape(x)[-1]
    half = _signal.rfft(x)
    last = (n - 1) // 2 + 1
    places = slice(1, last)
    mirrored = [do.reverse(p[..., places], [-1]) for p in (half.real, half.imag)]
    return Complex(do.concat([half.real, mirrored[0]], -1), do.concat([half.imag, do.negative(mirrored[1])], -1))


def _fft_last(x):
    a, b = _whole(x.real), _whole(x.imag)
    return Complex(do.subtract(a.real, b.imag), do.add(a.imag, b.real))


def _ifft_last(x):
    y = _fft_last(x.conj())
    n = cast(_shape(y.real)[-1], y.real.dtype)
    return Complex(do.truediv(y.real, n), do.negative(do.truediv(y.imag, n)))


def _along(f, x, axes):
    for axis in axes:
        x = f(Complex(_moved(x.real, axis), _moved(x.imag, axis)))
        x = Complex(_moved(x.real, axis, True), _moved(x.imag, axis, True))
    return x


def _transform(name, f, axes, words):
    def op(input, name=None):
        return _along(f, as_complex(input), axes)

    op.__name__ = op.__qualname__ = name
    op.__doc__ = f"{words} of complex values over the last {len(axes)} dimension{'s' * (len(axes) > 1)}: a pair, real and imag."
    publish(f"signal.{name}")(op)


for _suffix, _axes in (("", [-1]), ("2d", [-1, -2]), ("3d", [-1, -2, -3])):
    _transform(f"fft{_suffix}", _fft_last, _axes, "The Fourier transform")
    _transform(f"ifft{_suffix}", _ifft_last, _axes, "The inverse Fourier transform")


@publish("signal.rfft2d")
def rfft2d(input_tensor, fft_length=None, name=None):
    """The Fourier transform of real values over the last two dimensions."""
    if fft_length is not None:
        raise NotImplementedError("rfft2d with fft_length")
    return _along(_fft_last, _signal.rfft(input_tensor), [-2])


def _irfft_last(x, n):
    """The real value of length n whose transform's first half is x."""
    have = _shape(x.real)[-1]
    wanted = n // 2 + 1
    x = Complex(*[_cut(p, have, wanted) for p in (x.real, x.imag)])
    rest = slice(1, n - wanted + 1)
    mirrored = [do.reverse(p[..., rest], [-1]) for p in (x.real, x.imag)]
    whole = Complex(do.concat([x.real, mirrored[0]], -1), do.concat([x.imag, do.negative(mirrored[1])], -1))
    return _ifft_last(whole).real


def _cut(p, have, wanted):
    """Truncates or zero-pads the last dimension."""
    p = p[..., :wanted]
    room = do.maximum(wanted - have, 0)
    pads = do.stack([*[np.zeros(2, np.int32)] * (len(p.shape) - 1), do.stack([np.int32(0), cast(room, "int32")])])
    return do.pad(p, pads)


@publish("signal.irfft")
def irfft(input_tensor, fft_length=None, name=None):
    """The inverse Fourier transform to real values, from the first half of a transform."""
    x = as_complex(input_tensor)
    n = static_ints(fft_length) if fft_length is not None else None
    if n is None:
        known = x.real.shape[-1]
        if known is None:
            raise TraceError("irfft: fft_length, or the last dimension, must be known")
        n = [2 * (known - 1)]
    return _irfft_last(x, n[-1])


@publish("signal.fftshift")
def fftshift(x, axes=None, name=None):
    """Moves frequency 0 to the middle."""
    return _shifted(x, axes, 1)


@publish("signal.ifftshift")
def ifftshift(x, axes=None, name=None):
    """Undoes fftshift."""
    return _shifted(x, axes, -1)


def _shifted(x, axes, way):
    if isinstance(x, Complex):
        return Complex(_shifted(x.real, axes, way), _shifted(x.imag, axes, way))
    x = convert(x)
    axes = range(_rank(x, "fftshift")) if axes is None else np.atleast_1d(axes)
    for axis in axes:
        n = x.shape[int(axis)]
        if n is None:
            raise TraceError("fftshift: the dimensions must be known")
        x = do.roll(x, n // 2 if way > 0 else -(n // 2), int(axis))
    return x


@publish("signal.overlap_and_add")
def overlap_and_add(signal, frame_step, name=None):
    """Overlap-adds frames (..., frames, length), frame_step apart."""
    x = convert(signal)
    step = int(attribute(frame_step, "frame_step"))
    length, count = x.shape[-1], _shape(x)[-2]
    if length is None or len(x.shape) != 2 or x.shape[-1] is None:
        raise TraceError("overlap_and_add takes frames (frames, length), whose length is known")
    at = do.add(do.expand_dims(do.range(count) * np.int32(step), 1), np.arange(length, dtype=np.int32))
    total = (count - 1) * np.int32(step) + np.int32(length)
    return do.scatter_nd(do.expand_dims(at, -1), x, do.expand_dims(total, 0))


@publish("signal.inverse_stft_window_fn")
def inverse_stft_window_fn(frame_step, forward_window_fn=None, name=None):
    """A window for inverse_stft that undoes the forward one."""
    forward = forward_window_fn or _signal.hann_window

    def inverse(frame_length, dtype="float32"):
        length, step = int(frame_length), int(frame_step)
        window = np.asarray(forward(length, dtype=dtype))
        overlaps = -(-length // step)
        squares = np.pad(np.square(window), (0, overlaps * step - length)).reshape(overlaps, step).sum(0, keepdims=True)
        return (window / np.tile(squares, (overlaps, 1)).reshape(-1)[:length]).astype(_dtypes.as_dtype(dtype))

    return inverse


@publish("signal.inverse_stft")
def inverse_stft(stfts, frame_length, frame_step, fft_length=None, window_fn=None, name=None):
    """The signal of a short-time transform (frames, bins)."""
    x = as_complex(stfts)
    length = int(attribute(frame_length, "frame_length"))
    n = int(attribute(fft_length, "fft_length")) if fft_length is not None else 1 << (length - 1).bit_length()
    frames = irfft(x, [n])[..., :length]
    if n < length:
        frames = do.pad(frames, [[0, 0]] * (len(frames.shape) - 1) + [[0, length - n]])
    window = (window_fn or _signal.hann_window)(length, dtype=frames.dtype)
    return overlap_and_add(do.multiply(frames, np.asarray(window)), frame_step)


def _cosines(n, kind, norm):
    k, i = np.arange(n)[None, :], np.arange(n)[:, None]
    if kind == 2:
        m = 2 * np.cos(np.pi * k * (2 * i + 1) / (2 * n))
        if norm == "ortho":
            m *= np.sqrt(1 / (2 * n))
            m[:, 0] *= np.sqrt(0.5)
        return m
    if kind == 3:
        m = 2 * np.cos(np.pi * i * (2 * k + 1) / (2 * n))
        m[0] *= 0.5
        if norm == "ortho":
            m = _cosines(n, 2, "ortho").T
        return m
    raise NotImplementedError(f"dct of type {kind}; 2 and 3 are supported")


def _cosine_transform(input, kind, n, axis, norm):
    if axis != -1 or norm not in (None, "ortho"):
        raise ValueError("dct is along the last axis, with norm None or 'ortho'")
    x = convert(input)
    if n is not None:
        x = _cut(x, _shape(x)[-1], np.int32(n))
    size = x.shape[-1] if n is None else n
    if size is None:
        raise TraceError("dct: the last dimension must be known")
    rows = do.reshape(x, [-1, size])
    return do.reshape(do.matmul(rows, _cosines(size, kind, norm).astype(_dtypes.as_dtype(x.dtype))), _shape(x))


@publish("signal.dct")
def dct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The cosine transform along the last axis, type 2 or 3."""
    return _cosine_transform(input, type, n, axis, norm)


@publish("signal.idct")
def idct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The inverse of dct, up to a factor, as in TensorFlow."""
    return _cosine_transform(input, {2: 3, 3: 2}.get(type, type), n, axis, norm)


@publish("signal.mfccs_from_log_mel_spectrograms")
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    """Cepstral coefficients of log mel spectrograms."""
    x = convert(log_mel_spectrograms)
    n = x.shape[-1]
    if n is None:
        raise TraceError("mfccs_from_log_mel_spectrograms: the last dimension must be known")
    return do.multiply(dct(x), float(1 / np.sqrt(2.0 * n)))


@publish("signal.kaiser_window")
def kaiser_window(window_length, beta=12.0, dtype="float32", name=None):
    """A Kaiser window."""
    return np.kaiser(int(window_length), float(beta)).astype(_dtypes.as_dtype(dtype))


@publish("signal.vorbis_window")
def vorbis_window(window_length, dtype="float32", name=None):
    """The window of Vorbis."""
    n = int(window_length)
    inner = np.sin(np.pi / n * (np.arange(n) + 0.5))
    return np.sin(np.pi / 2 * inner**2).astype(_dtypes.as_dtype(dtype))


@publish("signal.kaiser_bessel_derived_window")
def kaiser_bessel_derived_window(window_length, beta=12.0, dtype="float32", name=None):
    """A Kaiser-Bessel derived window."""
    half = int(window_length) // 2
    sums = np.cumsum(np.kaiser(half + 1, float(beta)))
    side = np.sqrt(sums[:-1] / sums[-1])
    return np.concatenate([side, side[::-1]]).astype(_dtypes.as_dtype(dtype))
