# SPDX-License-Identifier: Apache-2.0
"""The benchmark's files, generated once from a seed: TFRecords of Examples of one size, and photograph-like JPEG
images.

Images: the statistics of natural scenes that matter to an entropy decoder are a power spectrum that falls with the
square of the frequency, and edges. The dead leaves model gives both: discs of all sizes, with numbers proportional to
r^-3, each hiding those below, with 1/f noise for texture and a little sensor noise.
"""

import os
import pathlib
import tarfile

import numpy as np
import stoker.data as sd


def _once(path, make):
    """Calls make(partial name) unless the file exists."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".partial")
        make(partial)
        os.replace(partial, path)
    return path.stat().st_size


def records(folder, name, kind, n, compression, files):
    """n Examples in several files. kind: "raw" or the number of floats in x. Floats are integers divided by 256, like
    values from sensors and quantized features, so GZIP can compress them.
    """
    folder = pathlib.Path(folder)
    width = int(name)
    rng = np.random.default_rng(1)

    def make(path):
        if kind == "raw":
            levels = rng.normal(128, 20, (n // files, width)).clip(0, 255).astype(np.uint8)
        else:
            levels = (rng.integers(0, 256, (n // files, int(kind))) / 256).astype(np.float32)
        with sd.TFRecordWriter(path, options=compression or None) as w:
            for i, row in enumerate(levels):
                w.write(
                    sd.io.Example(
                        {
                            "raw" if kind == "raw" else "x": (
                                row.tobytes() if kind == "raw" else row
                            ),
                            "y": i % 100,
                        }
                    )
                )

    paths = [
        folder / f"{name}{'.gz' if compression else ''}-{n}-{i}-of-{files}.tfrecord"
        for i in range(files)
    ]

    def run():
        stored = sum(_once(p, make) for p in paths)
        payload = 0
        sizes = sd.TFRecordDataset([str(paths[0])], compression or None).map(
            lambda r: sd.strings.length(r)
        )
        payload = files * int(sum(int(s.sum()) for s in sizes.batch(4096)))
        return {
            "files": [str(p) for p in paths],
            "stored": stored,
            "payload": payload,
            "record": payload / n,
        }

    return run


def _scene(rng, h, w):
    """(h, w, 3) uint8."""
    fy, fx = np.fft.fftfreq(h)[:, None], np.fft.rfftfreq(w)[None]
    scale = 1 / np.maximum(np.hypot(fy, fx), 1 / max(h, w))
    noise = np.fft.irfft2(
        scale * (rng.normal(size=(h, fx.size)) + 1j * rng.normal(size=(h, fx.size))), (h, w)
    )
    texture = noise / noise.std()
    out = np.zeros((h, w, 3))
    y, x = np.mgrid[0:h, 0:w]
    radii = np.sort((rng.uniform(size=300) * (1 / 150**2 - 1 / 5**2) + 1 / 5**2) ** -0.5)[::-1]
    base = np.array([120, 115, 105]) + 40 * rng.normal(size=3)
    out[:] = base
    for r in radii:
        cy, cx, colour = (
            rng.uniform(0, h),
            rng.uniform(0, w),
            128 + 55 * rng.normal() + 18 * rng.normal(size=3),
        )
        top, left = max(int(cy - r), 0), max(int(cx - r), 0)
        part = np.s_[top : int(cy + r) + 1, left : int(cx + r) + 1]
        inside = (y[part] - cy) ** 2 + (x[part] - cx) ** 2 < r * r
        out[part][inside] = colour
    gain = rng.uniform(6, 22)
    out += gain * texture[..., None] + rng.normal(0, rng.uniform(2, 6), (h, w, 1))
    return out.clip(0, 255).astype(np.uint8)


def images(folder, n, height=375, width=500, quality=92):
    folder = pathlib.Path(folder)

    def run():
        files = []
        for i in range(n):
            path = folder / f"{i:05}.jpg"

            def make(partial, i=i):
                image = _scene(np.random.default_rng(i), height, width)
                partial.write_bytes(bytes(sd.io.encode_jpeg(image, quality=quality)))

            _once(path, make)
            files.append(str(path))
        return {"files": files, "stored": sum(os.path.getsize(f) for f in files)}

    return run


def raw(folder, n, side_length=256):
    """n images of side_length x side_length x 3 uint8: a .npy file, and the same bytes without its header."""
    folder = pathlib.Path(folder)

    def make_npy(partial):
        scenes = [_scene(np.random.default_rng(i), side_length, side_length) for i in range(n)]
        with open(partial, "wb") as f:
            np.save(f, np.stack(scenes))

    def make_bare(partial):
        np.load(folder / f"raw-{side_length}-{n}.npy", mmap_mode="r").tofile(partial)

    def run():
        paths = [folder / f"raw-{side_length}-{n}{suffix}" for suffix in (".npy", ".bin")]
        stored = _once(paths[0], make_npy)
        _once(paths[1], make_bare)
        return {"npy": str(paths[0]), "bare": str(paths[1]), "stored": stored}

    return run


def tar(path, files):
    """The files as one shard of WebDataset."""
    path = pathlib.Path(path)

    def make(partial):
        with tarfile.open(partial, "w") as t:
            for f in files:
                t.add(f, os.path.basename(f))

    return lambda: {"stored": _once(path, make)}
