# SPDX-License-Identifier: Apache-2.0
"""Sound: WAV files, frames, windows, Fourier transforms, mel scales, like tf.audio and tf.signal. There are no complex
numbers: a transform's values are a pair of arrays, `real` and `imag`, which abs() and math.angle() take."""

import numpy as np

from ..core import _dtypes
from ..core._call import convert, run, static_ints
from ._ops import do, attribute, cast, publish
from ..core._trace import TraceError
from ..errors import InvalidArgumentError

_F32 = np.dtype("float32")


class Complex:
    """Complex values as two arrays: real and imag. amount: a function that computes their magnitudes; by default from
    both."""

    def __init__(self, real, imag, amount=None):
        self.real, self.imag, self._amount = real, imag, amount

    @property
    def shape(self):
        """The shape of both."""
        return self.real.shape

    def __abs__(self):
        if self._amount:
            return self._amount()
        squares = do.add(do.square(self.real), do.square(self.imag))
        return do.sqrt(squares)

    @property
    def dtype(self):
        """complex64 or complex128."""
        return _dtypes.DType(np.dtype("complex128" if self.real.dtype == np.float64 else "complex64"))

    def get_shape(self):
        """The device of both."""
        return self.shape

    def numpy(self):
        """One array of complex64, outside pipelines."""
        return np.asarray(self.real) + 1j * np.asarray(self.imag)

    def __getitem__(self, key):
        return Complex(self.real[key], self.imag[key])

    def __repr__(self):
        return f"Complex(real={self.real!r}, imag={self.imag!r})"


_abs = do.abs


@publish("abs,math.abs")
def abs(x, name=None):
    """The absolute value, also of complex values."""
    return x.__abs__() if isinstance(x, Complex) else _abs(x)


@publish("math.angle")
def angle(input, name=None):
    """The angle of complex values, in radians; for real ones 0, or pi if negative."""
    if isinstance(input, Complex):
        return do.atan2(input.imag, input.real)
    x = convert(input)
    return do.atan2(do.zeros_like(x), x)


@publish("math.real")
def real(input, name=None):
    """The real part."""
    return input.real if isinstance(input, Complex) else convert(input)


@publish("math.imag")
def imag(input, name=None):
    """The imaginary part: 0 for real values."""
    return input.imag if isinstance(input, Complex) else do.zeros_like(convert(input))


@publish("audio.decode_wav")
def decode_wav(contents, desired_channels=-1, desired_samples=-1, name=None):
    """(audio, sample_rate) of a WAV file with 16 bits a sample: float32 (samples, channels), int32."""
    attrs = {
        "desired_channels": int(attribute(desired_channels, "desired_channels")),
        "desired_samples": int(attribute(desired_samples, "desired_samples")),
    }
    return tuple(run("decode_wav", [convert(contents, _dtypes.string)], attrs))


def _size(v, what):
    known = static_ints(v)
    if known is None or known[0] < 1:
        raise InvalidArgumentError(f"{what} is a positive number that is known beforehand")
    return known[0]


@publish("signal.frame")
def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    """Overlapping parts of the last dimension: (..., frames, frame_length)."""
    x, length, step = convert(signal), _size(frame_length, "frame_length"), _size(frame_step, "frame_step")
    if x.shape is None or axis not in (-1, len(x.shape) - 1):
        raise TraceError("frame: along the last axis of a value whose rank is known")
    x = _padded(x, length, step, pad_value) if pad_end else x
    return run("frame", [x], {"frame_length": length, "frame_step": step})[0]


def _padded(x, length, step, pad_value=0):
    """Pads the end of the last dimension, so that a frame starts at every step."""
    n = do.shape(x)[-1]
    count = do.floordiv(n + np.int32(step - 1), np.int32(step))
    missing = do.maximum((count - 1) * np.int32(step) + np.int32(length) - n, np.int32(0))
    rows = [[0, 0]] * (len(x.shape) - 1)
    pads = do.stack([*[np.zeros(2, np.int32) for _ in rows], do.stack([np.int32(0), missing])])
    return do.pad(x, pads, constant_values=pad_value)


def _window(length, a, periodic, dtype):
    if length == 1:
        return np.ones(1, _dtypes.as_dtype(dtype))
    n = length + (1 if periodic and length % 2 == 0 else 0) - 1  # odd lengths as in TensorFlow
    turn = np.arange(length) * (2 * np.pi / n)
    return (a - (1 - a) * np.cos(turn)).astype(_dtypes.as_dtype(dtype))


@publish("signal.hann_window")
def hann_window(window_length, periodic=True, dtype="float32", name=None):
    """Weights of a Hann window."""
    return _window(_size(window_length, "window_length"), 0.5, periodic, dtype)


@publish("signal.hamming_window")
def hamming_window(window_length, periodic=True, dtype="float32", name=None):
    """Weights of a Hamming window."""
    return _window(_size(window_length, "window_length"), 0.54, periodic, dtype)


@publish("signal.rfft")
def rfft(input_tensor, fft_length=None, name=None):
    """Fourier transforms along the last dimension of real values: Complex (..., fft_length / 2 + 1)."""
    x = cast(convert(input_tensor), _F32)
    known = x.shape[-1] if x.shape else None
    length = known if fft_length is None else _size(fft_length, "fft_length")
    if length is None:
        raise TraceError("rfft: the last dimension must be known, or fft_length given")
    return _transform("rfft_parts", [x], {"fft_length": int(length)})


def _transform(op, inputs, attrs):
    """Real and imaginary parts, or magnitudes if requested: an operation computes either."""
    parts = run(op, inputs, attrs)[0]
    return Complex(parts[..., 0], parts[..., 1], lambda: run(op, inputs, {**attrs, "absolute": 1})[0])


@publish("signal.stft")
def stft(signals, frame_length, frame_step, fft_length=None, window_fn=hann_window, pad_end=False,
         name=None):  # fmt: skip
    """Fourier transforms of windows of signals (..., samples): Complex (..., frames, bins).

    fft_length: by default the next power of two at or above frame_length. abs() of the result is a spectrogram.
    """
    length, step = _size(frame_length, "frame_length"), _size(frame_step, "frame_step")
    x = cast(convert(signals), _F32)
    if x.shape is None:
        raise TraceError("stft: of signals whose rank is known")
    inputs = [_padded(x, length, step) if pad_end else x]
    if window_fn is not None:
        inputs.append(convert(window_fn(length, dtype=_F32), _F32))
    enclosing = 1 << (length - 1).bit_length()
    transformed = enclosing if fft_length is None else _size(fft_length, "fft_length")
    attrs = {"frame_length": length, "frame_step": step, "fft_length": transformed}
    return _transform("stft_parts", inputs, attrs)


@publish("signal.linear_to_mel_weight_matrix")
def linear_to_mel_weight_matrix(num_mel_bins=20, num_spectrogram_bins=129, sample_rate=8000,
                                lower_edge_hertz=125.0, upper_edge_hertz=3800.0, dtype="float32",
                                name=None):  # fmt: skip
    """(num_spectrogram_bins, num_mel_bins): multiply a spectrogram by it to get mel bins."""
    def mel(hertz):
        return 1127.0 * np.log1p(np.asarray(hertz, np.float64) / 700.0)

    if not 0 <= lower_edge_hertz < upper_edge_hertz <= sample_rate / 2:
        raise InvalidArgumentError("0 <= lower_edge_hertz < upper_edge_hertz <= sample_rate / 2")
    bins = mel(np.linspace(0.0, sample_rate / 2, num_spectrogram_bins)[1:])[:, None]
    edges = np.linspace(mel(lower_edge_hertz), mel(upper_edge_hertz), num_mel_bins + 2)
    low, middle, high = edges[:-2], edges[1:-1], edges[2:]
    weights = np.maximum(0, np.minimum((bins - low) / (middle - low), (high - bins) / (high - middle)))
    return np.pad(weights, [[1, 0], [0, 0]]).astype(_dtypes.as_dtype(dtype))
