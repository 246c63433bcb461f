# SPDX-License-Identifier: Apache-2.0
"""Random pipelines for test_soak.py: a source and stages, made with threads and without, beside a
model of them in plain Python lists.

An element is a row that follows from a number: {"i": number, "s": its digits, "x": four floats of
it}, so that a value torn, stale or swapped shows. A model is (numbers, order): order is "exact",
"any" (a permutation of the numbers) or "none" (which numbers come depends on the order before).
"""

import os
import random
import struct

import numpy as np

import stoker.data as sd

EXACT, ANY, NONE = "exact", "any", "none"


def floats(i):
    return np.array([i % 1000, i % 7, -(i % 100), 1], np.float32)


def row(i):
    """The row of a number, traced."""
    f = lambda v: sd.cast(v, "float32")
    x = sd.stack([f(i % 1000), f(i % 7), f(-(i % 100)), f(i) * 0 + 1])
    return {"i": i, "s": sd.as_string(i), "x": x}


def python_row(i):
    return {"i": np.int64(i), "s": b"%d" % i, "x": floats(i)}


def number(r):
    """The number of a row, checked against the rest of it."""
    i = int(r["i"])
    if r["s"] != b"%d" % i or not np.array_equal(r["x"], floats(i)):
        raise AssertionError(f"a row that does not agree with itself: {r!r}")
    return i



class Files:
    """Files of the numbers 0..n-1 in every format, made when first asked for."""

    def __init__(self, folder):
        self.folder, self.made = folder, {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def get(self, kind, n):
        key = f"{kind}.{n}"
        if key not in self.made:
            self.made[key] = self.path(key)
            getattr(self, "make_" + kind)(self.made[key], n)
        return self.made[key]

    def make_plain(self, path, n, codec=None, damaged=()):
        with sd.TFRecordWriter(path, options=codec) as w:
            for i in range(n):
                w.write(sd.io.Example({"i": i, "s": b"%d" % i, "x": list(map(float, floats(i)))}))

    def make_gzip(self, path, n):
        self.make_plain(path, n, "GZIP")

    def make_zlib(self, path, n):
        self.make_plain(path, n, "ZLIB")

    def make_damaged(self, path, n):
        """Every ninth record has a wrong checksum of its data."""
        self.make_plain(path, n)
        with open(path, "r+b") as f:
            data, at, k = bytearray(f.read()), 0, 0
            while at < len(data):
                size = struct.unpack_from("<Q", data, at)[0]
                if k % 9 == 4:
                    data[at + 12 + size] ^= 1
                at, k = at + 16 + size, k + 1
            f.seek(0)
            f.write(data)

    def make_text(self, path, n):
        with open(path, "w") as f:
            f.writelines(f"{i}\n" for i in range(n))

    def make_csv(self, path, n):
        with open(path, "w") as f:
            f.writelines(f'{i},"{i}"\n' for i in range(n))

    def make_fixed(self, path, n):
        np.arange(n, dtype="<i8").tofile(path)

    def make_npy(self, path, n):
        with open(path, "wb") as f:
            np.save(f, np.arange(n, dtype=np.int64))

    def make_indexed(self, path, n):
        sd.Dataset.range(n).map(row).save(path)

    def make_tar(self, path, n):
        import io
        import tarfile

        with tarfile.open(path, "w") as tar:
            for i in range(n):
                info = tarfile.TarInfo(f"{i:06d}.i")
                info.size = 8
                tar.addfile(info, io.BytesIO(struct.pack("<q", i)))


FEATURES = {
    "i": lambda: sd.io.FixedLenFeature([], "int64"),
    "s": lambda: sd.io.FixedLenFeature([], "bytes"),
    "x": lambda: sd.io.FixedLenFeature([4], "float32"),
}


def parse(r):
    return sd.io.parse_single_example(r, {k: f() for k, f in FEATURES.items()})


class Pipeline:
    """One random pipeline. build(threaded) makes it; numbers and order say what it holds."""

    def __init__(self, seed, files):
        self.rng, self.files, self.seed = random.Random(seed), files, seed
        self.steps, self.is_damaged = [], False
        self.has_python = self.has_processes = False
        self.numbers, self.order = self.source()
        for _ in range(self.rng.randint(0, 6)):
            if len(self.numbers) < 20000:
                self.stage()

    def __repr__(self):
        return " -> ".join(name for name, _ in self.steps)

    def build(self, threaded, folder):
        """folder: where this one's file caches go."""
        rng = random.Random(self.seed + 1)
        parallel = lambda: rng.choice([None, 1, 2, 4, sd.AUTOTUNE]) if threaded else None
        ds = None
        for k, (_, make) in enumerate(self.steps):
            ds = make(ds, parallel, threaded, os.path.join(folder, str(k)))
        return ds

    def add(self, name, make):
        self.steps.append((name, make))

    # Sources

    def source(self):
        rng = self.rng
        n = rng.choice([0, 1, 7, 64, 257, 1500])
        kind = rng.choice(
            "range slices tensors generator plain gzip zlib damaged text csv fixed npy indexed tar".split()
        )
        self.add(f"{kind}({n})", getattr(self, "source_" + kind, None) or self.source_file(kind, n))
        if hasattr(self, "source_" + kind):
            make = getattr(self, "source_" + kind)
            self.steps[-1] = (f"{kind}({n})", lambda ds, p, t, f: make(n))
        if kind == "tensors":
            return [n], EXACT
        if kind == "damaged":
            self.is_damaged = True
            return [i for i in range(n) if i % 9 != 4], EXACT
        if kind == "csv" and n == 0:
            return [], EXACT
        return list(range(n)), EXACT

    @staticmethod
    def source_range(n):
        return sd.Dataset.range(n).map(row)

    @staticmethod
    def source_tensors(n):
        return sd.Dataset.from_tensors(python_row(n))

    @staticmethod
    def source_slices(n):
        x = np.stack([floats(i) for i in range(n)]) if n else np.zeros((0, 4), np.float32)
        s = np.array([b"%d" % i for i in range(n)], object)
        return sd.Dataset.from_tensor_slices({"i": np.arange(n), "s": s, "x": x})

    @staticmethod
    def source_generator(n):
        spec = {
            "i": sd.TensorSpec((), "int64"),
            "s": sd.TensorSpec((), "bytes"),
            "x": sd.TensorSpec((4,), "float32"),
        }
        return sd.Dataset.from_generator(lambda: map(python_row, range(n)), output_signature=spec)

    def source_file(self, kind, n):
        def make(ds, parallel, threaded, folder):
            path = self.files.get(kind, n)
            if kind in ("plain", "damaged", "gzip", "zlib"):
                codec = {"gzip": "GZIP", "zlib": "ZLIB"}.get(kind)
                return sd.TFRecordDataset(path, codec).map(parse, parallel())
            if kind == "text":
                lines = sd.TextLineDataset(path)
                return lines.map(lambda s: row(sd.strings.to_number(s, "int64")), parallel())
            if kind == "csv":
                rows = sd.CsvDataset(path, [np.int64, "bytes"])
                return rows.map(lambda i, s: row(i), parallel())
            if kind == "fixed":
                raw = sd.FixedLengthRecordDataset(path, 8)
                return raw.map(lambda r: row(sd.io.decode_raw(r, "int64")[0]), parallel())
            if kind == "npy":
                return sd.NpyDataset(path).map(row, parallel())
            if kind == "tar":
                tar = sd.TarDataset(path, suffixes=["i"])
                return tar.map(lambda d: row(sd.io.decode_raw(d["i"], "int64")[0]), parallel())
            return sd.Dataset.load(path)

        return make

    # Stages

    def stage(self):
        names = [n[6:] for n in dir(self) if n.startswith("stage_")]
        name = self.rng.choice(names)
        x = self.rng.randint(1, 40)
        make, numbers, order = getattr(self, "stage_" + name)(x)
        self.add(f"{name}({x})", make)
        self.numbers, self.order = numbers, order

    def positional(self, make, numbers):
        """A stage that chooses by position."""
        return make, numbers, EXACT if self.order == EXACT else NONE

    def each(self, make, f):
        return make, [f(i) for i in self.numbers], self.order

    def stage_map(self, x):
        make = lambda ds, p, t, d: ds.map(lambda r: row(r["i"] * 3 % 100003 + x), p())
        return self.each(make, lambda i: i * 3 % 100003 + x)

    def stage_map_deep(self, x):
        def make(ds, p, t, d):
            for _ in range(3):
                ds = ds.map(lambda r: row(r["i"] + x), p())
            return ds

        return self.each(make, lambda i: i + 3 * x)

    def stage_python_map(self, x):
        self.has_python = True
        if len(self.numbers) > 3000:
            return self.stage_map(x)

        def f(i):
            return np.int64(int(i) + x)

        def make(ds, p, t, d):
            call = lambda i: sd.ensure_shape(sd.numpy_function(f, [i], sd.int64), [])
            return ds.map(lambda r: row(call(r["i"])), p())

        return self.each(make, lambda i: i + x)

    def stage_process_map(self, x):
        if len(self.numbers) > 300 or self.rng.random() < 0.8:
            return self.stage_map(x)
        self.has_python = self.has_processes = True

        def make(ds, p, t, d):
            return ds.map(lambda r: python_row(int(r["i"]) + x), processes=2 if t else None)

        return self.each(make, lambda i: i + x)

    def stage_filter(self, x):
        k = x % 5 + 2
        make = lambda ds, p, t, d: ds.filter(lambda r: r["i"] % k != 1)
        return make, [i for i in self.numbers if i % k != 1], self.order

    def stage_take(self, x):
        n = 10 * x
        return self.positional(lambda ds, p, t, d: ds.take(n), self.numbers[:n])

    def stage_skip(self, x):
        return self.positional(lambda ds, p, t, d: ds.skip(x), self.numbers[x:])

    def stage_shard(self, x):
        n = x % 4 + 1
        i = x % n
        return self.positional(lambda ds, p, t, d: ds.shard(n, i), self.numbers[i::n])

    def stage_repeat(self, x):
        n = x % 3 + 1
        make = lambda ds, p, t, d: ds.repeat(n)
        return make, self.numbers * n, self.order

    def stage_shuffle(self, x):
        size = x if x < 35 else 100000
        make = lambda ds, p, t, d: ds.shuffle(size, seed=x)
        return make, self.numbers, ANY if self.order != NONE else NONE

    def stage_prefetch(self, x):
        make = lambda ds, p, t, d: ds.prefetch(x % 6 - 1 or 1) if t else ds
        return make, self.numbers, self.order

    def stage_cache(self, x):
        return (lambda ds, p, t, d: ds.cache()), self.numbers, self.order

    def stage_cache_file(self, x):
        return (lambda ds, p, t, d: ds.cache(d)), self.numbers, self.order

    def stage_snapshot(self, x):
        return (lambda ds, p, t, d: ds.snapshot(d)), self.numbers, self.order

    def stage_batch(self, x):
        def make(ds, p, t, d):
            ds = ds.batch(x, num_parallel_calls=p())
            return ds.map(lambda b: dict(b, i=b["i"] + 0), p()).unbatch()

        return make, self.numbers, self.order

    def stage_padded_batch(self, x):
        return (lambda ds, p, t, d: ds.padded_batch(x).unbatch()), self.numbers, self.order

    def stage_drop_remainder(self, x):
        n = len(self.numbers) // x * x
        make = lambda ds, p, t, d: ds.batch(x, drop_remainder=True).unbatch()
        return self.positional(make, self.numbers[:n])

    def stage_window(self, x):
        size, shift = x % 5 + 1, x % 3 + 1
        numbers = [
            i for k in range(0, len(self.numbers), shift) for i in self.numbers[k : k + size]
        ]

        def make(ds, p, t, d):
            windows = ds.window(size, shift)
            join = lambda w: sd.Dataset.zip({k: w[k] for k in w}).batch(size)
            return windows.flat_map(join).unbatch()

        return self.positional(make, numbers)

    def stage_flat_map(self, x):
        k = x % 3 + 1

        def make(ds, p, t, d):
            f = lambda r: sd.Dataset.range(r["i"] % k).map(lambda j: row(r["i"] + j))
            return ds.flat_map(f)

        return make, [i + j for i in self.numbers for j in range(i % k)], self.order

    def stage_interleave(self, x):
        k, cycle, block = x % 3 + 2, x % 5 + 1, x % 2 + 1
        numbers = self.interleaved([[i + j for j in range(i % k)] for i in self.numbers], cycle, block)

        def make(ds, p, t, d):
            f = lambda r: sd.Dataset.range(r["i"] % k).map(lambda j: row(r["i"] + j))
            return ds.interleave(f, cycle, block, p())

        return make, numbers, self.order

    @staticmethod
    def interleaved(lists, cycle, block):
        """As tf.data takes turns: a dataset that has ended costs its place a turn."""
        source, out, slots = iter(lists), [], [None] * cycle
        at, taken, has_more = 0, 0, True
        while has_more or any(s is not None for s in slots):
            if slots[at] is None and has_more:
                slots[at] = next(source, None)
                has_more = slots[at] is not None
                continue
            if slots[at]:
                out.append(slots[at].pop(0))
                taken += 1
            else:
                slots[at], taken = None, block
            if taken == block:
                at, taken = (at + 1) % cycle, 0
        return out

    def stage_concatenate(self, x):
        make = lambda ds, p, t, d: ds.concatenate(sd.Dataset.range(x).map(row, p()))
        order = self.order
        return make, self.numbers + list(range(x)), order

    def stage_zip(self, x):
        n = 10 * x

        def make(ds, p, t, d):
            return sd.Dataset.zip((ds, sd.Dataset.range(n))).map(lambda r, k: dict(r), p())

        return self.positional(make, self.numbers[:n])

    def stage_enumerate(self, x):
        def make(ds, p, t, d):
            return ds.enumerate().map(lambda k, r: row(r["i"] + k % 2), p())

        return self.positional(make, [i + k % 2 for k, i in enumerate(self.numbers)])

    def stage_take_while(self, x):
        numbers = []
        for i in self.numbers:
            if i % 50 == x:
                break
            numbers.append(i)
        return self.positional(
            lambda ds, p, t, d: ds.take_while(lambda r: r["i"] % 50 != x), numbers
        )

    def stage_scan(self, x):
        numbers, total = [], 0
        for i in self.numbers:
            total = (total + i) % 1009
            numbers.append(total)

        def make(ds, p, t, d):
            def f(state, r):
                new = (state + r["i"]) % 1009
                return new, row(new)

            return ds.scan(np.int64(0), f)

        return self.positional(make, numbers)

    def stage_group(self, x):
        def make(ds, p, t, d):
            grouped = ds.group_by_window(
                lambda r: r["i"] % 3, lambda k, w: w.batch(x), window_size=x
            )
            return grouped.unbatch()

        return make, self.numbers, ANY if self.order != NONE else NONE

    def stage_sample(self, x):
        def make(ds, p, t, d):
            other = sd.Dataset.range(x).map(row, p())
            return sd.Dataset.sample_from_datasets([ds, other], [0.5, 0.5], seed=x)

        return make, self.numbers + list(range(x)), ANY if self.order != NONE else NONE

    def stage_choose(self, x):
        numbers = [i for i in self.numbers for _ in (0,)]

        def make(ds, p, t, d):
            choice = sd.Dataset.range(2).repeat()
            other = sd.Dataset.range(10000).map(lambda k: row(k * 0 + x), p())
            return sd.Dataset.choose_from_datasets([ds, other], choice)

        return self.positional(make, [k for i in numbers for k in (i, x)])

    def stage_resample(self, x):
        def make(ds, p, t, d):
            kept = ds.rejection_resample(
                lambda r: sd.cast(r["i"] % 2, "int32"), [0.3, 0.7], [0.5, 0.5], seed=x
            )
            return kept.map(lambda c, r: r)

        return make, self.numbers, NONE

    def stage_ignore_errors(self, x):
        return (lambda ds, p, t, d: ds.ignore_errors()), self.numbers, self.order
