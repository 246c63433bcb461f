# SPDX-License-Identifier: Apache-2.0
"""Image augmentation compared with torchvision and TensorFlow, if installed; properties that don't need them; WebP
and sound."""

import importlib.util
import io
import os
import wave

import numpy as np

import checks as c
import stoker.data as sd

rng = np.random.default_rng(3)
IMAGE = rng.integers(0, 256, (24, 32, 3)).astype(np.uint8)
SMOOTH = np.stack([np.add.outer(np.arange(24) * a, np.arange(32) * b) % 200 for a, b in ((3, 2), (1, 4), (5, 1))], -1)
SMOOTH = SMOOTH.astype(np.uint8)


def native(value, f):
    ds = sd.Dataset.from_tensors(value).map(f)
    c.true(ds._function.is_native, f"native: {ds._function.why}")
    return next(iter(ds))


def test_identities():
    """What leaves an image as it is, turns it by right angles, or empties it."""
    for x in (IMAGE, (IMAGE / 255).astype("f4")):
        c.same(sd.image.rotate(x, 0.0), x)
        c.same(sd.image.affine(x, 0.0, (0, 0), 1.0, (0, 0), "bilinear"), x)
        c.same(sd.image.rotate(x[:, :24], 90.0), np.rot90(x[:, :24]).copy())
        turned = sd.image.rotate(x[:, :24], -90.0, "bilinear").astype(float)
        c.true(np.abs(turned - np.rot90(x[:, :24], -1)).max() < 1e-4, "by right angles")
        moved = sd.image.affine(x, translate=(3, 2))
        c.same(moved[2:, 3:], x[:-2, :-3])
        c.same((moved[:2], moved[:, :3]), (np.zeros_like(moved[:2]), np.zeros_like(moved[:, :3])))
        corners = [(0, 0), (31, 0), (31, 23), (0, 23)]
        c.true(np.abs(sd.image.perspective(x, corners, corners).astype(float) - x).max() <= 1e-3 * (1 if x.dtype == np.float32 else 1000), "perspective")
        c.same(sd.image.gaussian_blur(x, 1), x)
        c.same(sd.image.adjust_sharpness(x, 1.0), x)
        c.same(sd.image.solarize(x, 1e9), x)
        c.same(sd.image.invert(sd.image.invert(x)), x)
        stack = np.stack([x, x[::-1]])
        c.same(sd.image.rotate(stack, 30.0)[0], sd.image.rotate(x, 30.0))
        c.same(sd.image.gaussian_blur(stack, 3)[0], sd.image.gaussian_blur(x, 3))
    c.same(sd.image.posterize(IMAGE, 8), IMAGE)
    c.same(sd.image.posterize(IMAGE, 0), np.zeros_like(IMAGE))
    c.same(sd.image.posterize(IMAGE, 3), IMAGE & 0xE0)
    flat = np.full((5, 6, 3), 7, np.uint8)
    c.same((sd.image.autocontrast(flat), sd.image.equalize(flat)), (flat, flat))
    for f in (
        lambda v: sd.image.rotate(v, 20.0, "bilinear", fill=9.0),
        lambda v: sd.image.affine(v, 20.0, (1.5, 2), 1.1, (3, 4)),
        lambda v: sd.image.gaussian_blur(v, (5, 3), 1.2),
        lambda v: sd.image.autocontrast(v),
        lambda v: sd.image.adjust_sharpness(v, 2.5),
        lambda v: sd.image.equalize(v),
    ):
        c.same(native(SMOOTH, f), f(SMOOTH), "as outside of a pipeline")
    angles = sd.Dataset.from_tensor_slices(np.float32([0, 90])).map(lambda a: sd.image.rotate(SMOOTH[:, :24], a))
    c.same(list(angles), [SMOOTH[:, :24], np.rot90(SMOOTH[:, :24]).copy()])
    c.raises(TypeError, lambda: sd.image.rotate(IMAGE.astype("i4"), 3.0), "uint8 or floats")
    c.raises(ValueError, lambda: sd.image.rotate(IMAGE, 3.0, "cubic"), "nearest")
    c.raises(ValueError, lambda: sd.image.gaussian_blur(IMAGE, 4), "odd")
    c.raises(ValueError, lambda: sd.image.perspective(IMAGE, [(0, 0)], [(0, 0)]), "four start points")
    c.raises(ValueError, lambda: sd.ops.image_warp(IMAGE, np.zeros(8, "f4"), fill_mode="mirror"), "fill_mode")


def test_policies():
    """They keep shape and type, draw again for each element, and repeat with the seed."""
    for f in (
        lambda v: sd.image.rand_augment(v),
        lambda v: sd.image.trivial_augment(v),
        lambda v: sd.image.random_erasing(v, p=1.0),
    ):
        for x in (IMAGE, (IMAGE / 255).astype("f4")):
            ds = sd.Dataset.from_tensors(x).repeat(30).map(f, 3)
            c.true(ds._function.is_native, f"{ds._function.why}")
            c.same((tuple(ds.element_spec.shape), ds.element_spec.dtype), (x.shape, x.dtype))
            options = sd.Options()
            options.seed = 4
            a, b = (list(ds.with_options(options)) for _ in range(2))
            c.same(a, list(ds.with_options(options)))
            c.true(len({v.tobytes() for v in a}) > 10, "many changes")
            del b
    erased = list(sd.Dataset.from_tensors(np.full((40, 40, 3), 5, np.uint8)).repeat(200).map(lambda v: sd.image.random_erasing(v, value=9)))
    share = np.array([(v == 9).mean() for v in erased])
    c.true(0.3 < (share > 0).mean() < 0.7, "half of them")
    c.true(share[share > 0].min() > 0.015 and share.max() < 0.36, f"of that area: {share[share > 0].min()} {share.max()}")
    c.raises(ValueError, lambda: sd.image.rand_augment(IMAGE, magnitude=40), "magnitude")


def test_mixes():
    images = np.stack([np.full((16, 16, 3), v, np.float32) for v in (0, 1, 2, 3)])
    labels = np.arange(4)
    ds = sd.Dataset.from_tensors((images, labels)).repeat(40)
    for x, y in ds.map(lambda x, y: sd.image.mixup(x, y, alpha=0.5, num_classes=4)):
        c.true(abs(y.sum(1) - 1).max() < 1e-5, "shares")
        share = y[1, 1]
        c.true(np.allclose(x[1], share * 1 + (1 - share) * 0, atol=1e-5) and np.allclose(y[1, 0], 1 - share, atol=1e-5), "pixels and labels agree")
    sides = set()
    for x, y in ds.map(lambda x, y: sd.image.cutmix(x, sd.one_hot(y, 4))):
        own = (x[2] == 2).mean()
        sides.add(round(float(own), 3))
        c.true(np.isclose(own, y[2, 2], atol=1e-5) and np.isclose(1 - own, y[2, 1], atol=1e-5), f"{own} {y[2]}")
        c.true(set(np.unique(x[2])) <= {1.0, 2.0}, "of two images")
    c.true(len(sides) > 10, "boxes of many sizes")
    c.raises(ValueError, lambda: sd.image.mixup(images, labels), "num_classes")


def test_weighted_picks():
    ds = sd.Dataset.from_tensor_slices((np.arange(4) * 10, np.array([b"a", b"b", b"c", b"d"], object)))
    out = list(ds.pick([3, 0, 3]))
    c.same([(int(x), y) for x, y in out], [(30, b"d"), (0, b"a"), (30, b"d")])
    c.same([int(x) for x, _ in ds.pick(sd.Dataset.range(2))], [0, 10])
    drawn = [int(x) for x, _ in ds.sample_by_weight([1, 0, 3, 0], 4000, seed=2)]
    c.true(set(drawn) == {0, 20} and abs(drawn.count(20) / 4000 - 0.75) < 0.03, f"{drawn.count(20)}")
    c.same(len(list(ds.sample_by_weight([1, 1, 1, 1]))), 4)
    w = ds.sample_by_weight([1, 2, 3, 4], 50)
    options = sd.Options()
    options.seed = 1
    first = [int(x) for x, _ in w.with_options(options)]
    it = iter(w.with_options(options))
    for _ in range(20):
        next(it)
    c.same([int(x) for x, _ in w.iterator(state=it.state())], first[20:], "resumed")
    once = [int(x) for x, _ in ds.sample_by_weight([1, 1, 0, 5], 3, replacement=False, seed=3)]
    c.same(sorted(once), [0, 10, 30])
    c.raises(ValueError, lambda: ds.filter(lambda x, y: x > 0).pick([0]), "by position")
    c.raises(ValueError, lambda: ds.sample_by_weight([1, 2]), "4")
    c.raises(ValueError, lambda: list(ds.pick([7])), "position 7 of 4")
    c.same(next(it_behind(ds)), 0)


def it_behind(ds):
    """The element after an invalid position."""
    it = iter(ds.pick([9, 0]))
    c.raises(ValueError, lambda: next(it), "position 9")
    return (int(x) for x, _ in it)


def test_webp():
    if not importlib.util.find_spec("PIL"):
        c.skip("Pillow is not installed")
        return
    from PIL import Image

    alpha = np.concatenate([SMOOTH, IMAGE[..., :1]], -1)
    for pixels, mode in ((SMOOTH, "RGB"), (alpha, "RGBA")):
        f = io.BytesIO()
        Image.fromarray(pixels, mode).save(f, "WEBP", lossless=True, exact=True)
        try:
            got = sd.image.decode_image(f.getvalue())
        except sd.errors.InvalidArgumentError as e:
            if "no libwebp" in str(e):
                c.skip("built without libwebp")
                return
            raise
        c.same(got, pixels)
        c.same(native(f.getvalue(), lambda v: sd.image.decode_webp(v, channels=3)), pixels[..., :3].copy())
        c.raises(ValueError, lambda: sd.image.decode_image(f.getvalue()[:60]), "WebP")
        c.raises(ValueError, lambda: sd.image.decode_webp(f.getvalue(), channels=1), "channels")
    f = io.BytesIO()
    Image.fromarray(SMOOTH).save(f, "WEBP", quality=80)
    want = np.asarray(Image.open(io.BytesIO(f.getvalue())).convert("RGB"))
    c.same(sd.image.decode_image(f.getvalue()), want)


def sound(samples, rate=16000):
    f = io.BytesIO()
    with wave.open(f, "wb") as w:
        w.setnchannels(samples.shape[1])
        w.setsampwidth(2)
        w.setframerate(rate)
        w.writeframes(samples.astype("<i2").tobytes())
    return f.getvalue()


def test_wav():
    samples = rng.integers(-32768, 32768, (100, 2))
    file = sound(samples)
    audio, rate = native(file, sd.audio.decode_wav)
    c.same((audio, rate), ((samples / 32768).astype("f4"), np.int32(16000)))
    cut, _ = sd.audio.decode_wav(file, desired_samples=30, desired_channels=1)
    c.same(cut, audio[:30, :1])
    longer, _ = sd.audio.decode_wav(sound(samples[:, :1]), desired_samples=120, desired_channels=2)
    c.same(longer, np.concatenate([np.repeat(audio[:, :1], 2, 1), np.zeros((20, 2), "f4")]))
    extra = file[:12] + b"LIST\x03\0\0\0abc\0" + file[12:]
    c.same(sd.audio.decode_wav(extra)[0], audio)
    for bad, word in ((b"", "RIFF"), (file[:20], "WAV"), (b"RIFF\0\0\0\0WAVEdata\4\0\0\0abcd", "format"), (file[:34] + b"\x08" + file[35:], "16 bits")):
        c.raises(ValueError, lambda: sd.audio.decode_wav(bad), word)


def test_transforms_of_every_length():
    """Beside NumPy's, in double: lengths whose factors are small, and primes."""
    worst = 0
    for n in [*range(1, 260), 263, 509, 512, 1000, 1021, 2 * 1021, 4096, 5000, 8191, 8192, 10007]:
        x = rng.normal(size=(9, n)).astype("f4")
        want = np.fft.rfft(x.astype("f8"))
        away = np.abs(sd.signal.rfft(x).numpy() - want).max(1) / np.sqrt((x.astype("f8") ** 2).sum(1))
        amounts = np.abs(np.asarray(sd.abs(sd.signal.rfft(x))) - np.abs(want)).max(1) / np.sqrt((x.astype("f8") ** 2).sum(1))
        worst = max(worst, away.max(), amounts.max())
    c.true(worst < 3e-6, f"{worst:.2g} of the row's energy")


def test_stft():
    x = rng.normal(size=(2, 1000)).astype("f4")
    got = sd.signal.stft(x, 255, 128)
    window = sd.signal.hann_window(255)
    frames = np.stack([x[:, i * 128 : i * 128 + 255] for i in range(6)], 1) * window
    want = np.fft.rfft(frames, 256)
    c.same(got.shape, want.shape)
    c.true(np.allclose(got.real, want.real, atol=1e-3) and np.allclose(got.imag, want.imag, atol=1e-3), "parts")
    c.true(np.allclose(sd.abs(got), np.abs(want), atol=1e-3) and np.allclose(sd.math.angle(got), np.angle(want), atol=0.1), "length")
    inside = native(x, lambda v: sd.abs(sd.signal.stft(v, 255, 128)))
    c.same(inside, sd.abs(got))
    padded = sd.signal.stft(x, 255, 128, fft_length=300, pad_end=True, window_fn=None)
    ends = np.pad(x, [[0, 0], [0, 151]])
    frames = np.stack([ends[:, i * 128 : i * 128 + 255] for i in range(8)], 1)
    c.true(np.allclose(padded.numpy(), np.fft.rfft(frames, 300), atol=1e-3), "filled up at the end")
    c.same(sd.signal.stft(x[:, :100], 255, 128).shape, (2, 0, 129))
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.signal.stft(x, 255, 128, window_fn=lambda n, dtype: np.ones(n - 1, dtype)), "a window of frame_length")
    c.same(sd.signal.frame(np.arange(7), 3, 2), np.array([[0, 1, 2], [2, 3, 4], [4, 5, 6]]))
    c.same(sd.signal.frame(np.arange(6), 3, 2, pad_end=True), np.array([[0, 1, 2], [2, 3, 4], [4, 5, 0]]))


def test_beside_torchvision():
    if not importlib.util.find_spec("torchvision"):
        c.skip("torchvision is not installed")
        return
    import torch

    try:
        import torchvision.transforms.functional as F
        from torchvision.transforms import InterpolationMode as M
    except (ImportError, RuntimeError) as e:  # built for another torch
        c.skip(f"torchvision cannot be imported: {e}")
        return

    def theirs(f, x):
        t = torch.from_numpy(x.transpose(2, 0, 1).copy())
        return f(t).numpy().transpose(1, 2, 0)

    def near(a, b, what, share=0.0, by=1):
        """All but that share of the values differ by no more than `by` (1/255 for floats)."""
        by = by if b.dtype == np.uint8 else by / 255
        far = np.abs(np.asarray(a, np.float64) - b) > by + 1e-4
        c.true(a.dtype == b.dtype and a.shape == b.shape and far.mean() <= share, f"{what}: {far.mean():.4f} differ")

    i, modes = sd.image, (("nearest", M.NEAREST), ("bilinear", M.BILINEAR))
    start, end = [[0, 0], [31, 0], [31, 23], [0, 23]], [[3, 2], [28, 1], [30, 21], [1, 20]]
    for x in (SMOOTH, (SMOOTH / 255).astype("f4")):
        for name, mode in modes:
            share = 0.01 if name == "nearest" else 0.0  # ties of rounding
            for angle in (17.0, -33.3, 90.0, 180.0):
                near(i.rotate(x, angle, name), theirs(lambda t: F.rotate(t, angle, mode), x), f"rotate {angle} {name}", share)
            # Pixels on the edge: torchvision takes what is inside twice by its share.
            near(i.rotate(x, 17.0, name, 50 if x.dtype == np.uint8 else 0.2),
                 theirs(lambda t: F.rotate(t, 17.0, mode, fill=50 if x.dtype == np.uint8 else 0.2), x),
                 "fill", share if name == "nearest" else 0.08)  # fmt: skip
            near(i.affine(x, 12.0, (3, -2), 1.2, (5.0, -7.0), name),
                 theirs(lambda t: F.affine(t, 12.0, [3, -2], 1.2, [5.0, -7.0], mode), x), f"affine {name}", share)
            near(i.perspective(x, start, end, name), theirs(lambda t: F.perspective(t, start, end, mode), x), f"perspective {name}", 0.02 if name == "nearest" else 0.0)
        for size, sigma in (((5, 5), (1.0, 1.0)), ((3, 7), (0.5, 2.0))):
            near(i.gaussian_blur(x, size, sigma), theirs(lambda t: F.gaussian_blur(t, list(size), list(sigma)), x), "blur")
        near(i.gaussian_blur(x, 5), theirs(lambda t: F.gaussian_blur(t, [5, 5]), x), "blur")
        for factor in (0.0, 0.5, 2.0):
            near(i.adjust_sharpness(x, factor), theirs(lambda t: F.adjust_sharpness(t, factor), x), "sharpness")
        near(i.solarize(x, 100 if x.dtype == np.uint8 else 0.4), theirs(lambda t: F.solarize(t, 100 if x.dtype == np.uint8 else 0.4), x), "solarize", by=0)
        near(i.autocontrast(x), theirs(F.autocontrast, x), "autocontrast")
        near(i.invert(x), theirs(F.invert, x), "invert", by=0)
    for x in (SMOOTH, IMAGE, IMAGE // 8):
        near(i.posterize(x, 3), theirs(lambda t: F.posterize(t, 3), x), "posterize", by=0)
        near(i.equalize(x), theirs(F.equalize, x), "equalize", by=0)
    ours = sd.ops._tone_ops
    for name, f in (("brightness", ours.brightness), ("saturation", ours.colour), ("contrast", ours.contrast)):
        their = getattr(F, f"adjust_{name}")
        for factor in (0.3, 1.7):
            near(f(SMOOTH, factor), theirs(lambda t: their(t, factor), SMOOTH), name)


def test_beside_tensorflow():
    if not importlib.util.find_spec("tensorflow"):
        c.skip("tensorflow is not installed")
        return
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    matrices = np.float32([[1, 0, 0, 0, 1, 0, 0, 0], [0.9, 0.2, 1.5, -0.3, 1.1, 2.25, 0, 0], [1, 0.1, -40, 0.2, 1, 30, 0.002, -0.004]])
    for x in (SMOOTH, (SMOOTH / 255).astype("f4")):
        for m in matrices:
            for method in ("nearest", "bilinear"):
                for mode in ("constant", "nearest", "reflect", "wrap"):
                    want = tf.raw_ops.ImageProjectiveTransformV3(
                        images=x[None], transforms=m[None], output_shape=[20, 40], fill_value=7.0,
                        interpolation=method.upper(), fill_mode=mode.upper())[0].numpy()  # fmt: skip
                    got = sd.ops.image_warp(x, m, size=[20, 40], method=method, fill_mode=mode, fill_value=7.0)
                    far = np.abs(got.astype(float) - want) > (1 if x.dtype == np.uint8 else 1e-3)
                    c.true(far.mean() < 0.01, f"{x.dtype} {method} {mode}: {far.mean()}")
    file = sound(rng.integers(-32768, 32768, (50, 2)))
    for more in ({}, {"desired_channels": 1}, {"desired_samples": 60}, {"desired_samples": 20}):
        a, b = tf.audio.decode_wav(file, **more), sd.audio.decode_wav(file, **more)
        c.same((np.asarray(b[0]), int(b[1])), (a[0].numpy(), int(a[1])))
    x = rng.normal(size=(2, 1000)).astype("f4")
    for args in ((255, 128), (256, 64), (300, 100, 512)):
        want = np.abs(tf.signal.stft(x, *args).numpy())
        c.true(np.allclose(sd.abs(sd.signal.stft(x, *args)), want, atol=1e-3), f"stft {args}")
    padded = tf.signal.stft(x, 255, 128, pad_end=True)
    c.true(np.allclose(sd.abs(sd.signal.stft(x, 255, 128, pad_end=True)), np.abs(padded), atol=1e-3), "pad_end")
    for f in ("hann_window", "hamming_window"):
        for n in (1, 2, 7, 255):
            c.true(np.allclose(getattr(sd.signal, f)(n), getattr(tf.signal, f)(n), atol=1e-5), f"{f} {n}")
    c.true(np.allclose(sd.signal.linear_to_mel_weight_matrix(20, 129, 8000), tf.signal.linear_to_mel_weight_matrix(20, 129, 8000), atol=1e-4), "mel")


c.main(globals())
