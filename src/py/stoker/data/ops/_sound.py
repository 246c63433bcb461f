# SPDX-License-Identifier: Apache-2.0
"""Sound files (FLAC, MP3, Ogg, WAV) through libsndfile and the package soundfile; resampling by a windowed sinc filter,
like torchaudio.functional.resample.

Limits: a file is decoded as a whole. soundfile releases the GIL while it decodes, and NumPy while it resamples.
"""

import functools
import io
import math
import os

import numpy as np

from ..core import _call, _dtypes
from ..core._arguments import local
from ..core._packages import need
from ..core._spec import TensorSpec
from ..errors import DataLossError, InvalidArgumentError, NotFoundError, OpError, PermissionDeniedError
from ._many import by_many
from ._ops import publish

_ZEROS, _ROLLOFF = 6, 0.99  # of the filter: zero crossings on each side, share of the band passed


def _soundfile(what):
    try:
        return need("soundfile", what)
    except OSError as e:  # the package is installed, but its library isn't
        raise ImportError(f"{what} needs libsndfile: {e}") from e


@functools.lru_cache(16)
def _kernel(before, after):
    """(filter for each of `after` samples that replace `before`, samples it reaches to the left)."""
    base = min(before, after) * _ROLLOFF
    width = math.ceil(_ZEROS * before / base)
    t = np.arange(0, -after, -1)[:, None] / after + np.arange(-width, width + before) / before
    t = np.clip(t * base, -_ZEROS, _ZEROS)
    window = np.cos(t * np.pi / _ZEROS / 2) ** 2
    return (np.sinc(t) * window * (base / before)).astype(np.float32).T.copy(), width


def resampled(samples, before, after):
    """float32 (samples, channels), resampled."""
    if before == after or not len(samples):
        return samples
    common = math.gcd(before, after)
    before, after = before // common, after // common
    kernel, width = _kernel(before, after)
    size, out = math.ceil(after * len(samples) / before), []
    for channel in samples.T:
        padded = np.pad(channel, (width, width + before))
        rows = np.lib.stride_tricks.sliding_window_view(padded, 2 * width + before)[::before]
        out.append((np.ascontiguousarray(rows) @ kernel).ravel()[:size])
    return np.stack(out, 1)


class _Decoder:
    """Decodes a block's files, given by content or by name."""

    def __init__(self, what, sample_rate, channels, is_name):
        self.what, self.sample_rate, self.channels, self.is_name = what, sample_rate, channels, is_name

    def __call__(self, n, column):
        package, samples, rates = _soundfile(self.what), [], []
        for value in column:
            try:
                s, rate = self.one(package, value)
            except OpError as e:
                return len(samples), [samples, rates], e
            samples.append(s)
            rates.append(np.array(rate, np.int32))
        return n, [samples, rates], None

    def one(self, package, value):
        value = bytes(np.asarray(value, object)[()])
        name, data = (local(value), None) if self.is_name else ("the sound", value)
        try:
            if data is None:
                with open(name, "rb") as f:
                    data = f.read()
            samples, rate = self.decoded(package, data, name)
        except FileNotFoundError:
            raise NotFoundError(f"{self.what}: there is no file {name}") from None
        except PermissionError:
            raise PermissionDeniedError(f"{self.what}: {name} may not be read") from None
        except (package.LibsndfileError, OSError) as e:
            text = str(e).split(": ")[-1].rstrip(".")
            raise InvalidArgumentError(f"{self.what}: {name} cannot be decoded: {text}") from e
        samples = self.mixed(samples, name)
        if self.sample_rate is not None:
            samples, rate = resampled(samples, rate, self.sample_rate), self.sample_rate
        return np.ascontiguousarray(samples), rate

    def decoded(self, package, data, name):
        whole = _riff_bytes(data)
        if whole > len(data):
            raise DataLossError(f"{self.what}: {name} has {len(data)} of the {whole} bytes that its header says")
        with package.SoundFile(io.BytesIO(data)) as f:
            samples = f.read(dtype="float32", always_2d=True)
            if len(samples) < f.frames:
                raise DataLossError(f"{self.what}: {name} ends after {len(samples)} of {f.frames} samples")
            return samples, f.samplerate

    def mixed(self, samples, name):
        have = samples.shape[1]
        if self.channels in (None, have):
            return samples
        if self.channels == 1:
            return samples.mean(1, keepdims=True, dtype=np.float32)
        if have == 1:
            return np.repeat(samples, self.channels, 1)
        raise InvalidArgumentError(f"{self.what}: {name} has {have} channels, which don't become {self.channels}")


def _riff_bytes(data):
    """Total bytes of a WAV file by its header; 0: not a WAV file, or written as a stream."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        return 0
    size = int.from_bytes(data[4:8], "little")
    return 0 if size in (0, 0xFFFFFFFF) else size + 8


def _positive(value, name, what):
    if value is not None and (not isinstance(value, (int, np.integer)) or value < 1):
        raise InvalidArgumentError(f"{what}: {name} is a positive integer, not {value!r}")
    return None if value is None else int(value)


def _run(what, value, sample_rate, channels, is_name):
    _soundfile(what)
    sample_rate, channels = _positive(sample_rate, "sample_rate", what), _positive(channels, "channels", what)
    decoder = _Decoder(what, sample_rate, channels, is_name)
    value = _call.convert(os.fsencode(value) if isinstance(value, os.PathLike) else value, _dtypes.string)
    if value.shape not in ((), None):
        raise TypeError(f"{what} takes one string, not shape {value.shape}; map it before batch")
    specs = [TensorSpec([None, channels], "float32"), TensorSpec([], "int32")]
    return tuple(by_many(decoder, [value], specs, f"{what}: runs in the package soundfile"))


@publish("audio.decode")
def decode(contents, sample_rate=None, channels=None, name=None):
    """(samples, rate) of a FLAC, MP3, Ogg or WAV file's bytes: float32 (samples, channels) from -1 to 1, int32.

    sample_rate: resamples to it. channels: 1 mixes them, more repeat a single one. Needs the package soundfile.
    """
    return _run("audio.decode", contents, sample_rate, channels, False)


@publish("audio.decode_file")
def decode_file(filename, sample_rate=None, channels=None, name=None):
    """The same for a file's name, which its errors include."""
    return _run("audio.decode_file", filename, sample_rate, channels, True)


@publish("audio.resample")
def resample(samples, sample_rate, to_rate, name=None):
    """Resamples (samples, channels) to another rate, by a windowed sinc filter. Rates are integers."""
    before, after = (_positive(r, "rate", "audio.resample") for r in (sample_rate, to_rate))
    x = _call.convert(samples, np.dtype("float32"))
    if x.shape is not None and len(x.shape) != 2:
        raise TypeError(f"audio.resample takes (samples, channels), not shape {x.shape}")
    channels = None if x.shape is None else x.shape[1]
    spec = TensorSpec([None, channels], "float32")
    return by_many(_Resampler(before, after), [x], [spec], "audio.resample: runs in NumPy")[0]


class _Resampler:
    def __init__(self, before, after):
        self.rates = before, after

    def __call__(self, n, column):
        return n, [[resampled(np.asarray(x), *self.rates) for x in column]], None
