# SPDX-License-Identifier: Apache-2.0
"""Rewrites: the same elements bit for bit with and without them, in any pipeline; and what explain() reports."""

import random

import numpy as np

import checks as c
import stoker.data as sd

MEAN = np.array((0.485, 0.456, 0.406), np.float32)
STD = np.array((0.229, 0.224, 0.225), np.float32)


def scene(seed, h, w, channels=3):
    """(h, w, channels) uint8: smooth shapes and some noise."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:h, 0:w]
    waves = [120 + 60 * np.sin(x / (5 + k) + y / 9 + rng.uniform(0, 6)) for k in range(channels)]
    noise = rng.normal(0, 9, (h, w, channels))
    return np.clip(np.stack(waves, -1) + noise, 0, 255).astype(np.uint8)


def files():
    """JPEG files of many kinds, PNG among them; damaged ones at the end."""
    out = []
    for k in range(14):
        h, w = 40 + 13 * k % 70, 45 + 29 * k % 80
        image = scene(k, h, w, 1 if k == 5 else 3)
        if k % 7 == 3:
            out.append(bytes(sd.io.encode_png(image)))
        else:
            out.append(
                bytes(sd.io.encode_jpeg(image, quality=60 + 2 * k, progressive=k % 5 == 4))
            )
    whole = bytes(sd.io.encode_jpeg(scene(50, 60, 60), quality=90))
    return out, [whole[: len(whole) // 2], whole[:-60] + b"\x55" * 58 + whole[-2:], b"no image"]


GOOD, BAD = files()


def options(rewrites, on_error=None, seed=11):
    o = sd.Options()
    o.seed, o.rewrites, o.on_error = seed, rewrites, on_error
    return o


def elements(ds, rewrites, on_error=None):
    """Elements and errors in order, as bytes."""
    it, out = iter(ds.with_options(options(rewrites, on_error))), []
    while True:
        try:
            v = next(it)
        except StopIteration:
            return out
        except sd.errors.OpError as e:
            out.append(type(e).__name__)
            continue
        parts = v if isinstance(v, tuple) else (v,)
        out.append([(np.asarray(p).dtype.str, np.shape(p), np.asarray(p).tobytes()) for p in parts])


def same(ds, what, on_error=None):
    with_, without = elements(ds, None, on_error), elements(ds, False, on_error)
    c.true(len(without) > 0 and with_ == without, f"{what}: as without rewrites\n{ds.explain()}")


def images(with_bad=True):
    contents = GOOD + (BAD if with_bad else [])
    return sd.Dataset.from_tensor_slices(np.array(contents * 2, object))


def done(ds, title):
    """Was the rewrite made?"""
    plan = ds.explain().split("as it runs")[1]
    c.true(f"* {title}:" in plan, f"{title} is in\n{plan}")


def test_crops():
    decode = lambda x: sd.io.decode_jpeg(x, channels=3)
    crops = {
        "central": lambda x: sd.image.central_crop(decode(x), 0.6),
        "box": lambda x: sd.image.crop_to_bounding_box(decode(x), 3, 5, 20, 24),
        "beyond": lambda x: sd.image.crop_to_bounding_box(decode(x), 30, 5, 20, 90),
        "random": lambda x: sd.image.random_crop(decode(x), [21, 30, 3]),
        "slice": lambda x: sd.slice(decode(x), [2, 3, 0], [17, 11, 3]),
        "accurate": lambda x: sd.image.central_crop(
            sd.io.decode_jpeg(x, channels=1, dct_method="INTEGER_ACCURATE"), 0.5
        ),
    }
    for name, f in crops.items():
        ds = images().map(f)
        done(ds, "crop into decode")
        same(ds, name)
        same(ds, name, "skip")
    done(images().map(crops["random"]), "shape from headers")
    both = images().map(lambda x: (decode(x), sd.image.central_crop(decode(x), 0.5)))
    c.true("crop into decode" not in both.explain(), "an image that is used twice is decoded once")
    same(both, "used twice")
    kept = images().map(lambda x: sd.shape(decode(x)))
    c.true("shape from headers" not in kept.explain(), "nobody else decodes: damage would be lost")
    same(kept, "shape alone")


def test_slices():
    """image[a:b, c:d] as Python has it: clamped, negative, open, empty, computed."""
    decode = lambda x: sd.io.decode_jpeg(x, channels=3)
    i32 = lambda v: sd.cast(v, "int32")
    place = lambda: sd.random.uniform([], 0, 40, dtype="int64")
    slices = {
        "both": lambda im: im[3:20, 5:29],
        "rows": lambda im: im[4:],
        "columns": lambda im: im[:, :-7],
        "channels": lambda im: im[2:9, 1:8, :],
        "dots": lambda im: im[2:9, ...],
        "all dots": lambda im: im[2:9, 1:8, ...],
        "beyond": lambda im: im[10:1000, -1000:1000],
        "negative": lambda im: im[-20:-3, -9:-1],
        "nothing": lambda im: im[5:5, 2:9],
        "no columns": lambda im: im[2:9, 1000:],
        "backwards": lambda im: im[9:2],
        "computed": lambda im: im[place() : place() + 12, place() : place() + 8],
        "one computed": lambda im: im[i32(place()) :, : i32(place())],
        "resized": lambda im: sd.image.resize(im[3:20, 5:29], [8, 8]),
        "computed, resized": lambda im: sd.image.resize(im[place() // 4 :][:30], [8, 8]),
    }
    for name, f in slices.items():
        ds = images().map(lambda x: f(decode(x)))
        done(ds, "crop into decode")
        same(ds, name)
        same(ds, name, "skip")
    same(images().map(lambda x: sd.io.decode_jpeg(x)[3:20, 5:29]), "channels of the file")
    others = {
        "steps": lambda im: im[::2, 3:9],
        "one row": lambda im: im[3, 3:9],
        "a new axis": lambda im: im[None, 3:9],
        "some channels": lambda im: im[3:9, 3:9, :2],
        "the last columns": lambda im: im[..., 3:9, :],
        "all": lambda im: im[:, :],
    }
    for name, f in others.items():
        ds = images().map(lambda x: f(decode(x)))
        c.true("crop into decode" not in ds.explain(), name)
        same(ds, name)


def test_inside_of_functions():
    """Datasets that functions make are rewritten, too: once, and with the same random values."""
    shift = lambda x: x + sd.random.uniform([], 0, 1000, dtype="int64")

    def three(x):
        ds = sd.Dataset.range(x, x + 5).map(lambda v: v * 2).map(shift).skip(0)
        return ds.map(shift).map(lambda v: (v, v % 3)).filter(lambda v, w: v >= 0).batch(2).repeat(1)

    def captured(x):
        return sd.Dataset.range(4).map(lambda v: v + x).map(shift).map(lambda v: v * x).take(x)

    def within(x):
        inner = lambda y: sd.Dataset.range(y).map(shift).map(lambda v: v + y).map(shift)
        return sd.Dataset.range(x % 4).map(lambda v: v + 1).map(lambda v: v * 1).flat_map(inner)

    def joined(x):
        one = sd.Dataset.range(3).map(shift).map(lambda v: v + x)
        return sd.Dataset.zip((one, one)).map(lambda a, b: a + b).map(shift).concatenate(one)

    def shuffled(x):
        ds = sd.Dataset.range(x, x + 9).map(shift).map(lambda v: v - 1).shuffle(4).map(shift).map(shift)
        return ds.repeat(2).map(shift, 2).map(lambda v: v * 2, 2)

    for name, f in {"three": three, "captured": captured, "within": within, "joined": joined, "shuffled": shuffled}.items():
        for how in (
            lambda ds: ds.flat_map(f),
            lambda ds: ds.interleave(f, 3, 2),
            lambda ds: ds.interleave(f, 3, num_parallel_calls=2),
            lambda ds: ds.map(shift).flat_map(f).map(lambda *v: v[0] * 2),
        ):
            ds = how(sd.Dataset.range(7))
            done(ds, "maps in one")
            same(ds, name)
            same(ds, name, "skip")
    plan = sd.Dataset.range(7).flat_map(three).explain().split("as it runs")[1]
    c.same(plan.count("make_dataset map"), 1, plan)
    c.same(plan.count("make_dataset skip"), 0)
    c.true("random_uniform" in plan, "what inner functions do is shown")
    windows = sd.Dataset.range(20).window(5).flat_map(lambda w: w.map(shift).map(shift).batch(5))
    done(windows, "maps in one")
    same(windows, "windows")
    grouped = sd.Dataset.range(20).group_by_window(
        lambda x: x % 2, lambda k, w: w.map(shift).map(lambda v: v + k).batch(5), 5
    )
    same(grouped, "groups")
    contents = np.array(GOOD * 2, object)
    im = sd.Dataset.range(2).flat_map(
        lambda x: sd.Dataset.from_tensor_slices(contents)
        .map(lambda b: sd.io.decode_jpeg(b, channels=3))
        .map(lambda m: sd.image.resize(m, [8, 8]))
        .map(lambda m: sd.image.random_flip_left_right(m) / 255.0)
    )
    for title in ("maps in one", "decode and resize", "mirror into resize"):
        done(im, title)
    same(im, "images")
    it = iter(sd.Dataset.range(7).flat_map(three))
    for _ in range(5):
        next(it)
    state = it.state()
    want = [repr(e) for e in it]
    again = sd.Dataset.range(7).flat_map(three).iterator(state=state)
    c.same([repr(e) for e in again], want, "resumed")


def test_chains():
    def finish(im):
        im = sd.image.random_flip_left_right(im)
        return (im / 255.0 - MEAN) / STD

    whole = lambda x: sd.image.resize(sd.io.decode_jpeg(x, channels=3), [32, 40])
    part = lambda x: sd.image.resize(
        sd.io.decode_and_crop_jpeg(x, [2, 3, 30, 31], channels=3), [20, 16], method="bicubic"
    )
    ds = images().map(whole).map(finish)
    for title in ("maps in one", "decode and resize", "mirror into resize", "arithmetic in one pass"):
        done(ds, title)
    plan = ds.explain().split("as it runs")[1]
    c.true("resize ->" not in plan and "random_image_chain ->" in plan, plan)
    same(ds, "whole")
    same(ds, "whole, errors left out", "skip")
    for parallel in (2, sd.AUTOTUNE):
        same(images().map(whole, parallel).map(finish, parallel), f"{parallel} threads")
    same(images().map(part).map(finish).batch(4), "part")
    same(images().map(lambda x: sd.image.flip_left_right(whole(x)) * 2.0 + 1.0), "mirrored")
    same(
        images().map(
            lambda x: sd.image.random_flip_left_right(whole(x), seed=5) * np.float32(1 / 3)
        ),
        "its own seed",
    )
    same(
        images().map(lambda x: sd.image.resize(whole(x), [32, 40], antialias=True) - 3.0),
        "of its size already",
    )
    same(images().map(lambda x: sd.image.central_crop(whole(x), 0.5) / 7.0), "a crop behind")
    grey = images().map(
        lambda x: 1.0 - sd.image.resize(sd.io.decode_jpeg(x, channels=1), [9, 7], method="area") / 3.0
    )
    same(grey, "grey")
    same(images().map(lambda x: sd.image.resize(whole(x), [5, 4], method="nearest") / 2.0), "nearest")


def random_arithmetic(rng):
    """A function of (3,) float32 and () float32, by chance."""
    steps = [
        (rng.choice("add sub mul div rsub".split()), rng.choice([0.1, 3.0, -7.25, 255.0, 1e-3, "v"]))
        for _ in range(rng.randrange(1, 9))
    ]
    shared = rng.random() < 0.5
    again = [shared and rng.random() < 0.3 for _ in steps]  # drawn here: in f it would run as Python

    def f(x, y):
        twice = []
        for (op, k), is_again in zip(steps, again):
            k = STD if k == "v" else np.float32(k)
            v = {
                "add": lambda: x + k,
                "sub": lambda: x - k,
                "mul": lambda: k * x,
                "div": lambda: x / k,
                "rsub": lambda: k - x,
            }[op]
            x = v()
            if is_again:
                twice.append(x * y)
        for t in twice:
            x = x + t
        return x, sd.cast(y * y + y * y, "float32")

    return f


def test_mirror_first():
    """A flip behind a cast from uint8 is done before it, with the same chances."""
    raw = np.random.default_rng(5).integers(0, 256, (12, 5, 7, 3), np.uint8)
    slices = sd.Dataset.from_tensor_slices(raw)
    scaled = lambda x: (sd.cast(x, "float32") / 255.0 - MEAN) / STD
    for k, flip in enumerate(
        (
            lambda x: sd.image.random_flip_left_right(x),
            lambda x: sd.image.random_flip_up_down(x, seed=3),
            lambda x: sd.image.flip_up_down(sd.image.flip_left_right(x)),
        )
    ):
        for name, wide in (
            ("cast", lambda x: sd.cast(x, "float32")),
            ("converted", lambda x: sd.image.convert_image_dtype(x, "float32")),
            ("scaled", scaled),
        ):
            ds = slices.map(lambda x: sd.image.random_brightness(flip(wide(x)), 0.2) * 2.0)
            done(ds, "mirror before cast")
            same(ds, f"{name}, {k}")
    both = slices.map(lambda x: (lambda w: (sd.image.flip_left_right(w), w))(scaled(x)))
    bytes_ = slices.map(lambda x: sd.cast(sd.image.flip_left_right(x), "float32"))
    for ds in (both, bytes_):
        c.true("mirror before cast" not in ds.explain(), ds.explain())
        same(ds, "left alone")


def test_arithmetic():
    values = np.random.default_rng(3).normal(0, 100, (40, 3)).astype(np.float32)
    values[0] = (0, np.inf, np.nan)
    values[1] = (-0.0, 1e-42, 3e38)
    scalars = values[:, 0].copy()
    for k in range(60):
        ds = sd.Dataset.from_tensor_slices((values, scalars)).map(random_arithmetic(random.Random(k)))
        same(ds, f"arithmetic {k}")
    raw = np.arange(256, dtype=np.uint8).reshape(4, 8, 8, 1)
    ds = sd.Dataset.from_tensor_slices(raw).map(
        lambda x: (sd.cast(x, "float32") / 255.0 - 0.1307) / 0.3081
    )
    done(ds, "arithmetic in one pass")
    same(ds, "cast first")
    same(
        sd.Dataset.from_tensor_slices(raw).map(
            lambda x: sd.image.convert_image_dtype(x, "float32") * 2.0 - 1.0
        ),
        "converted",
    )


def test_brightness():
    """Brightness, bounds and scalars of the element join the arithmetic, and draw what they drew."""
    raw = np.random.default_rng(6).integers(0, 256, (10, 20, 20, 3), np.uint8)
    slices = sd.Dataset.from_tensor_slices((raw, np.arange(10, dtype=np.float32)))
    scaled = lambda x: sd.cast(x, "float32") / 255.0
    cases = {
        "random": lambda x, k: sd.image.random_brightness(scaled(x), 0.3),
        "seeded": lambda x, k: sd.image.random_brightness(scaled(x), 0.3, seed=4),
        "first": lambda x, k: sd.image.random_brightness(sd.cast(x, "float32"), 9.0) / 255.0,
        "twice": lambda x, k: sd.image.random_brightness(sd.image.random_brightness(scaled(x), 1.0), 0.1),
        "by a constant": lambda x, k: sd.image.adjust_brightness(scaled(x), 0.25),
        "by the element": lambda x, k: sd.image.adjust_brightness(scaled(x), k),
        "stateless": lambda x, k: sd.image.stateless_random_brightness(scaled(x), 0.5, seed=(1, 2)),
        "bounded": lambda x, k: sd.clip_by_value(sd.image.random_brightness(scaled(x), 0.9), 0.0, 1.0),
        "mirrored behind": lambda x, k: sd.image.random_flip_left_right(scaled(x) * k),
        "scalars": lambda x, k: (k - (scaled(x) * k + k)) / k,
        "channels": lambda x, k: sd.clip_by_value(scaled(x) - MEAN, MEAN, 1.0),
    }
    for name, f in cases.items():
        ds = slices.map(f)
        done(ds, "arithmetic in one pass")
        plan = ds.explain().split("as it runs")[1]
        c.true("brightness ->" not in plan and "clip_by_value ->" not in plan, f"{name}: {plan}")
        same(ds, name)
        same(ds.batch(3), f"{name}, batches")
    batches = slices.batch(4).map(lambda x, k: sd.image.random_brightness(scaled(x), 0.3))
    c.true("random_brightness ->" not in batches.explain().split("as it runs")[1], "batches are large")
    same(batches, "of batches")
    small = sd.Dataset.from_tensor_slices((raw[:, :4, :4], np.arange(10, dtype=np.float32)))
    for ds, what in (
        (small.map(lambda x, k: sd.image.random_brightness(scaled(x), 0.3)), "a small image"),
        (slices.map(lambda x, k: sd.image.random_brightness(x, 0.3)), "bytes"),
    ):
        c.true("random_brightness ->" in ds.explain().split("as it runs")[1], f"{what} is left alone")
        same(ds, what)


def draw(x):
    return x, sd.random.uniform([3])


def test_stages():
    """Random numbers are those of the pipeline as written, wherever stages went."""
    ds = sd.Dataset.range(30)
    noise = lambda x, u=None: (x, sd.random.normal([2]) if u is None else u + sd.random.normal([3]))
    same(ds.map(draw).map(noise), "two that draw")
    done(ds.map(draw).map(noise), "maps in one")
    same(ds.map(draw).map(noise).map(lambda x, u: (x + 1, u * 2.0)).repeat(3), "three, repeated")
    same(ds.repeat(1).map(draw).take(-1).skip(0).map(noise).prefetch(2).prefetch(4), "stages that pass")
    done(ds.repeat(1).map(draw), "no stage")
    itself = ds.map(lambda x: x)  # cannot be read by position, as what is before it can
    same(itself.shuffle(30, seed=3), "all of it shuffled")
    same(itself.take(20).shuffle(30, seed=3, reshuffle_each_iteration=False), "what is taken shuffled")
    done(itself.batch(4), "no stage")
    same(ds.shuffle(7, seed=3).repeat(1).map(draw).shuffle(5).batch(4), "shuffled")
    same(ds.map(draw, 2).map(noise, 3), "different threads")
    c.true("maps in one" not in ds.map(draw, 2).map(noise, 3).explain(), "2 threads and 3 stay two")
    fails = lambda x: (10 // (x % 7), sd.random.uniform([2]))
    for on_error in (None, "skip"):
        same(ds.map(fails).map(lambda x, u: (x, u + sd.random.uniform([2]))), "errors", on_error)
        same(ds.map(fails).map(lambda x, u: (x, u * 2.0)), "errors, not random", on_error)
    inner = ds.interleave(
        lambda x: sd.Dataset.range(3).map(lambda y: (x, y)).map(lambda a, b: a * 10 + b),
        cycle_length=2,
    )
    same(inner, "within a function")
    cached = ds.map(draw).map(noise).cache()
    same(cached.repeat(2).map(lambda x, u: u), "a cache")
    first = [v.tobytes() for _, v in cached.map(lambda x, u: (x, u))]
    c.same([v.tobytes() for _, v in cached.map(lambda x, u: (x, u))], first, "one cache for all")


def test_filter():
    ds = sd.Dataset.range(40).map(lambda x: (x, sd.cast(x, "float32") * 2.0 + 1.0))
    early = ds.filter(lambda x, y: x % 3 == 0)
    done(early, "filter before map")
    same(early, "filter before map")
    same(early.map(draw_pair), "and what draws after it")
    late = ds.filter(lambda x, y: y > 10.0)
    c.true("filter before map" not in late.explain(), "it looks at what the map made")
    same(late, "filter behind map")
    drawn = sd.Dataset.range(40).map(draw).filter(lambda x, u: x % 3 == 0)
    c.true("filter before map" not in drawn.explain(), "positions count for random numbers")
    same(drawn, "filter behind a random map")


def draw_pair(x, y):
    return x, y + sd.random.uniform([])


def test_resume():
    ds = sd.Dataset.range(50).map(draw).map(lambda x, u: (x, u + sd.random.uniform([3])))
    want = elements(ds, None)
    it = iter(ds.with_options(options(None)))
    for _ in range(17):
        next(it)
    for rewrites in (None, False):
        rest = ds.with_options(options(rewrites)).iterator(state=it.state())
        have = [[(p.dtype.str, p.shape, p.tobytes()) for p in v] for v in rest]
        c.true(have == want[17:], f"resumed, rewrites {rewrites}")


def test_explain():
    ds = sd.Dataset.range(9, output_type="int32").map(lambda x: x * 2).map(lambda x: x + 1, 2)
    text = ds.explain()
    c.true("as written:" in text and "as it runs:" in text and "dtype=int32" in text, text)
    c.true("num_parallel_calls=2" in text and "test_rewrites.py" in text, text)
    c.true("int32 ()" in text.split("as it runs")[1], text)
    off = ds.with_options(options(False)).explain()
    c.true("rewrites are off" in off and "* maps in one" not in off, off)
    o = sd.Options()
    o.experimental_optimization.apply_default_optimizations = False
    c.true("rewrites are off" in ds.with_options(o).explain(), "TensorFlow's switch")
    slow = sd.Dataset.range(3).map(lambda x: sd.numpy_function(np.sin, [x], "float64"))
    c.true("calls Python for each element" in slow.explain(), slow.explain())
    it = iter(ds)
    next(it)
    c.true("tuned so far" in ds.explain(), ds.explain())


if __name__ == "__main__":
    c.main(globals())
