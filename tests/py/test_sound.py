#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sound files by the package soundfile: FLAC, WAV, MP3 and Ogg against the package itself, resampling against
torchaudio where it is installed and against a sine of the other rate, damage, resuming, pickling. Without the
package, the error that names it."""

import importlib.util
import io
import math
import os
import pickle
import subprocess
import sys
import tempfile

import checks as c
import numpy as np
import stoker.data as sd

D = sd.Dataset
HAS = importlib.util.find_spec("soundfile") is not None
FOLDER = tempfile.TemporaryDirectory()
RATE = 22050


def path(name):
    return os.path.join(FOLDER.name, name)


def sine(rate, seconds=0.5, channels=2):
    t = np.arange(int(rate * seconds)) / rate
    return np.stack([0.5 * np.sin(2 * np.pi * (440 + 110 * k) * t) for k in range(channels)], 1).astype(np.float32)


def encoded(kind, rate=RATE, channels=2, **more):
    import soundfile

    out = io.BytesIO()
    soundfile.write(out, sine(rate, channels=channels, **more), rate, format=kind)
    return out.getvalue()


def lacks():
    if not HAS:
        c.skip("soundfile is not installed")
    return not HAS


def test_without_the_package():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "soundfile.py"), "w") as f:
            f.write("raise ImportError('hidden')")
        for call in ("sd.audio.decode(b'')", "sd.Dataset.from_tensors(b'').map(sd.audio.decode_file)"):
            env = dict(os.environ, PYTHONPATH=f"{folder}:{os.environ['PYTHONPATH']}")
            p = subprocess.run([sys.executable, "-c", f"import stoker.data as sd\n{call}"], env=env, capture_output=True, text=True)
            c.true(p.returncode == 1 and "needs the package soundfile: pip install soundfile" in p.stderr, p.stderr)


def test_formats():
    if lacks():
        return
    import soundfile

    for kind in ("FLAC", "WAV", "MP3", "OGG"):
        if kind not in soundfile.available_formats():
            continue
        data = encoded(kind)
        want, rate = soundfile.read(io.BytesIO(data), dtype="float32", always_2d=True)
        with open(path(kind), "wb") as f:
            f.write(data)
        ds = D.from_tensors(data).repeat(3).map(lambda b: sd.audio.decode(b), 2)
        c.same(ds.element_spec, (sd.TensorSpec([None, None], "float32"), sd.TensorSpec([], "int32")))
        for samples, r in ds:
            c.true(np.allclose(samples, want, 0, 1e-6) and r == rate == RATE, kind)
        samples, r = sd.audio.decode_file(path(kind), channels=1)
        c.true(np.allclose(samples, want.mean(1, keepdims=True), 0, 1e-6) and samples.shape[1] == 1, f"{kind}: at once, mixed")
    mono = encoded("FLAC", channels=1)
    c.same(sd.audio.decode(mono, channels=2)[0][:, 1], sd.audio.decode(mono)[0][:, 0], "a channel repeated")
    one = next(iter(D.from_tensors(mono).map(lambda b: sd.audio.decode(b, sample_rate=16000, channels=1))))
    c.true(one[0].shape == (8000, 1) and one[1] == 16000, f"{one[0].shape}")
    c.true("soundfile" in D.from_tensors(mono).map(sd.audio.decode).explain(), "explain")


def test_resample():
    for before, after in ((22050, 16000), (44100, 16000), (8000, 44100), (48000, 24000), (16000, 16000)):
        x = sine(before)
        have, want = sd.audio.resample(x, before, after), sine(after)
        c.same(have.shape[0], math.ceil(len(x) * after / before), f"{before} to {after}")
        inner = slice(200, min(len(have), len(want)) - 200)
        c.true(np.abs(have[inner] - want[inner]).max() < 3e-3, f"{before} to {after}: {np.abs(have[inner] - want[inner]).max()}")
        traced = next(iter(D.from_tensors(x).map(lambda v: sd.audio.resample(v, before, after))))
        c.same(traced, have, "in a function")
        if importlib.util.find_spec("torchaudio") and importlib.util.find_spec("torch"):
            import torch
            import torchaudio

            theirs = torchaudio.functional.resample(torch.from_numpy(x.T.copy()), before, after).numpy().T
            c.true(have.shape == theirs.shape and np.abs(have - theirs).max() < 1e-5, f"torchaudio: {before} to {after}")
    c.same(sd.audio.resample(np.zeros((0, 1), np.float32), 8000, 16000).shape, (0, 1))
    c.raises(ValueError, lambda: sd.audio.resample(x, 0, 8000), "positive")
    c.raises(TypeError, lambda: sd.audio.resample(x[:, 0], 8, 4), "(samples, channels)")


def test_damage():
    """A damaged file is an error of its element that has the file's name; the others come."""
    if lacks():
        return
    flac, wav = encoded("FLAC"), encoded("WAV")
    for name, data, kind in (
        ("cut.flac", flac[: len(flac) // 2], sd.errors.OpError),
        ("cut.wav", wav[: len(wav) // 2], sd.errors.DataLossError),
        ("noise.mp3", bytes(range(256)) * 40, sd.errors.InvalidArgumentError),
        ("empty.flac", b"", sd.errors.InvalidArgumentError),
        ("missing.flac", None, sd.errors.NotFoundError),
    ):
        if data is not None:
            with open(path(name), "wb") as f:
                f.write(data)
        with open(path("good.flac"), "wb") as f:
            f.write(flac)
        names = np.array([path(n).encode() for n in ("good.flac", name, "good.flac")], object)
        for calls in (None, 2):
            made = c.all_of(iter(D.from_tensor_slices(names).map(lambda f: sd.audio.decode_file(f), calls)))
            c.true(len(made) == 3 and issubclass(made[1], kind) and not isinstance(made[0], type) and not isinstance(made[2], type), f"{name}: {made[1]}")
        c.raises(kind, lambda: sd.audio.decode_file(path(name)), name)
    c.same(len(list(D.from_tensor_slices(names).map(sd.audio.decode_file, 2).ignore_errors())), 2)
    e = c.raises(sd.errors.InvalidArgumentError, lambda: list(D.from_tensors(b"xyz").map(sd.audio.decode)), "the sound", "test_sound.py")
    c.true(e is not None, "a line")
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.audio.decode(flac, channels=3), "2 channels")
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.audio.decode(flac, sample_rate=0), "sample_rate")
    c.raises(TypeError, lambda: D.from_tensor_slices(names).batch(2).map(sd.audio.decode), "before batch")
    c.raises(sd.errors.UnimplementedError, lambda: sd.audio.decode_file("s3://bucket/x.flac"), "remote.fetch")


def test_resume_and_pickle():
    if lacks():
        return
    for k in range(12):
        with open(path(f"{k}.flac"), "wb") as f:
            f.write(encoded("FLAC", channels=1, seconds=0.1 + k / 100))
    names = np.array([path(f"{k}.flac").encode() for k in range(12)], object)
    ds = D.from_tensor_slices(names).shuffle(12, seed=5).map(lambda f: sd.audio.decode_file(f, 16000, 1), 2).prefetch(2)
    lengths = lambda it: [len(s) for s, _ in it]
    it = iter(ds)
    for k in range(12):
        state = it.state()
        c.same(len(lengths(ds.iterator(state=state))), 12 - k, f"from {k}")
        c.same(next(it)[0], next(ds.iterator(state=state))[0], f"resumed at {k}")
    plain = D.from_tensor_slices(names).map(lambda f: sd.audio.decode_file(f, 16000, 1))
    c.same(lengths(pickle.loads(pickle.dumps(plain))), lengths(plain), "pickled")


if __name__ == "__main__":
    c.main(globals())
