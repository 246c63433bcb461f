#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sources of files: CSV and tar in all their forms, whole and damaged; what tf.data gives of the
same CSV is recorded here (TensorFlow 2.21)."""

import fcntl
import gzip
import io
import os
import tarfile
import tempfile
import zlib

import checks as c
import numpy as np
import stoker.data as sd


class Folder(tempfile.TemporaryDirectory):
    def __enter__(self):
        folder = super().__enter__()

        def put(name, data):
            path = os.path.join(folder, name)
            with open(path, "wb") as f:
                f.write(data if isinstance(data, bytes) else data.encode())
            return path

        return put


def drain(ds):
    """Elements; errors as "!" and their class."""
    out, it = [], iter(ds)
    for _ in range(10000):
        try:
            e = next(it)
        except StopIteration:
            return out
        except sd.errors.OpError as error:
            out.append("!" + type(error).__name__)
        else:
            out.append(e)
    return out


BAD = "!InvalidArgumentError"


def test_csv():
    cases = [  # text, record_defaults, arguments, elements
        ("1,a\n2,b", [sd.int32, sd.string], {}, [(1, b"a"), (2, b"b")]),
        ("x,y\n1,a\n", [sd.int32, sd.string], {"header": True}, [(1, b"a")]),
        ('"x\ny"\n1\n', [sd.int64], {"header": True}, [(1,)]),
        ("1,2\r\n3,4\r5,6", [sd.int32] * 2, {}, [(1, 2), (3, 4), (5, 6)]),
        ("1,\n", [sd.int32, [7]], {}, [(1, 7)]),
        ("1,NA\n,2\n", [[5], [7]], {"na_value": "NA"}, [(1, 7), (5, 2)]),
        ("1,", [sd.int32, sd.int32], {}, [BAD]),
        ('"a,b","c""d","e\nf"\n', [sd.string] * 3, {}, [(b"a,b", b'c"d', b"e\nf")]),
        ('a"b\n"c"d\nok\n', [sd.string], {}, [BAD, BAD]),
        ('a"b\n', [sd.string], {"use_quote_delim": False}, [(b'a"b',)]),
        ('1\n"2', [sd.int32], {}, [(1,), BAD]),
        ("1;2\n", [sd.float32] * 2, {"field_delim": ";"}, [(1.0, 2.0)]),
        ("1,2,3\n4,5,6\n", [sd.int32] * 2, {"select_cols": [0, 2]}, [(1, 3), (4, 6)]),
        ("1,2,3\n4,5,6\n", [sd.int32] * 2, {"exclude_cols": [1]}, [(1, 3), (4, 6)]),
        ("1,2\n3\n4,5,6\n7,8\n", [sd.int32] * 2, {}, [(1, 2), BAD, BAD, (7, 8)]),
        ("1\n\n2\n", [[9]], {}, [(1,), (9,), (2,)]),
        (" 1 ,0x10, -inf\n", [sd.int32, sd.float64, sd.float32], {}, [(1, 16.0, -np.inf)]),
        ("1.5\n", [sd.int32], {}, [BAD]),
        ("3000000000\n", [sd.int32], {}, [BAD]),
        ("3000000000\n", [sd.int64], {}, [(3000000000,)]),
        ("", [sd.int32], {}, []),
        ("", [sd.int32], {"header": True}, [BAD]),
    ]
    with Folder() as put:
        for text, defaults, args, want in cases:
            for name, data, compression in (
                ("a.csv", text.encode(), None),
                ("a.csv.gz", gzip.compress(text.encode()), "GZIP"),
                ("a.csv.zz", zlib.compress(text.encode()), "ZLIB"),
            ):
                path = put(name, data)
                have = drain(sd.CsvDataset(path, defaults, compression, **args))
                c.same([e if e == BAD else tuple(v.item() if hasattr(v, "item") else v for v in e) for e in have], want, text)


def test_csv_types_and_floats():
    rng = np.random.default_rng(1)
    values = np.concatenate(
        [rng.normal(size=300), 10.0 ** rng.uniform(-320, 308, 300), [0.1, 1 / 3, 5e-324, 1.7e308]]
    )
    texts = [f"{v:.{int(d)}g}" for v, d in zip(values, rng.integers(1, 20, len(values)))]
    with Folder() as put:
        path = put("f.csv", "".join(f"{t},{t}\n" for t in texts))
        have = list(sd.CsvDataset(path, [sd.float64, sd.float32]).batch(len(texts)))[0]
        c.same(have[0].tobytes(), np.array([float(t) for t in texts]).tobytes(), "float64")
        with np.errstate(over="ignore"):
            want = np.array([np.float32(t) for t in texts])
        c.same(have[1].tobytes(), want.tobytes(), "float32")
        ds = sd.CsvDataset(path, [sd.float64, np.float32, ])
        c.same([s.dtype.name for s in ds.element_spec], ["float64", "float32"])
        for bad in (
            lambda: sd.CsvDataset(path, [sd.uint8]),
            lambda: sd.CsvDataset(path, [[1, 2]]),
            lambda: sd.CsvDataset(path, [sd.int32], field_delim="ab"),
            lambda: sd.CsvDataset(path, [sd.int32], field_delim="\n"),
            lambda: sd.CsvDataset(path, [sd.int32], select_cols=[2, 1]),
            lambda: sd.CsvDataset(path, [sd.int32], select_cols=[0, 1]),
            lambda: sd.CsvDataset(path, [sd.int32], select_cols=[0], exclude_cols=[1]),
            lambda: sd.CsvDataset(path, [sd.int32], "LZ4"),
        ):
            c.raises(sd.errors.InvalidArgumentError, bad)
        c.same(drain(sd.CsvDataset(path + "x", [sd.int32])), ["!NotFoundError"])
        e = c.raises(ValueError, lambda: next(iter(sd.CsvDataset(put("e.csv", "1,x\n"), [sd.int32] * 2))))
        c.true("row 1" in str(e) and "'x'" in str(e) and "e.csv" in str(e), str(e))


def test_csv_long_and_resumed():
    """Rows across the ends of what is read at once; a row longer than that; resuming."""
    rows = [f"{i},{'x' * (i % 97)},\"{'y' * (i % 31)}\"\"\"" for i in range(40000)]
    rows.insert(77, "-1," + "z" * 3000000 + ",")
    with Folder() as put:
        ds = sd.CsvDataset(put("l.csv", "\n".join(rows)), [sd.int32, [b""], [b"none"]])
        n = 0
        for i, (a, x, y) in zip([*range(77), -1, *range(77, 40000)], ds):
            want = b"z" * 3000000 if i < 0 else b"x" * (i % 97)
            last = b"none" if i < 0 else b"y" * (i % 31) + b'"'
            n += (int(a), x, y) == (i, want, last)
        c.same(n, 40001)
        for at in (0, 1, 78, 20000, 40000):
            it = iter(ds)
            for _ in range(at):
                next(it)
            rest = ds.iterator(state=it.state())
            c.same([int(next(rest)[0]) for _ in range(min(3, 40001 - at))], [int(e[0]) for e in ds.skip(at).take(3)])
        files = [put(f"p{i}.csv", f"h\n{i}\n{i + 10}\n") for i in range(3)]
        c.same([int(a) for (a,) in sd.CsvDataset(files, [sd.int32], header=True)], [0, 10, 1, 11, 2, 12])
        nested = sd.Dataset.from_tensor_slices(files).interleave(
            lambda f: sd.CsvDataset(f, [sd.int32], header=True), cycle_length=3, num_parallel_calls=2
        )
        c.same([int(a) for (a,) in nested], [0, 1, 2, 10, 11, 12])


def test_decode_csv():
    f = lambda r, d, **a: [v.tolist() if hasattr(v, "tolist") else v for v in sd.io.decode_csv(r, d, **a)]
    c.same(f("1,2.5,x", [[0], [0.0], [""]]), [1, 2.5, b"x"])
    c.same(f([["1,a"], ["2,b"]], [[0], [""]]), [[[1], [2]], [[b"a"], [b"b"]]])
    c.same(f('"a,""b""",', [[""], [3]]), [b'a,"b"', 3])
    c.same(f("1\t2\t3", [[0]], field_delim="\t", select_cols=[1]), [2])
    c.same(f("NA,1", [[4], [5]], na_value="NA"), [4, 1])
    c.same(f("\n1,2\n"[:-1], [[0], [0]]), [1, 2])
    for record, defaults in (
        ("1", [[0], [0]]),
        ("1,2,3", [[0], [0]]),
        ('a"b', [[""]]),
        ('"a"b', [[""]]),
        ('"a', [[""]]),
        ("a\n", [[""]]),
        ("", [np.zeros(0, "int32")]),
        ("x", [[0]]),
    ):
        c.raises(sd.errors.InvalidArgumentError, lambda: f(record, defaults))
    ds = sd.Dataset.from_tensor_slices(["1,a", "2", "3,c"]).map(lambda r: tuple(sd.io.decode_csv(r, [[0], [""]])))
    c.same(drain(ds), [(np.int32(1), b"a"), BAD, (np.int32(3), b"c")])


def tar_of(members, how=tarfile.GNU_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=how) as tar:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


MEMBERS = [(f"d/k{i}.{s}", f"{s}{i}".encode() * (i * 37)) for i in range(9) for s in ("JPG", "cls")]


def samples(ds):
    return [e if isinstance(e, str) else (e["__key__"], e["cls"], e["jpg"]) for e in drain(ds)]


WHOLE = [(f"d/k{i}".encode(), b"cls%d" % i * (i * 37), b"JPG%d" % i * (i * 37)) for i in range(9)]


def test_tar():
    for how, length in (
        (tarfile.USTAR_FORMAT, 60),
        (tarfile.GNU_FORMAT, 4000),
        (tarfile.PAX_FORMAT, 4000),
    ):
        read_whole(how, "n" * 90 + "/" + "m" * length)


def read_whole(how, long):
    members = MEMBERS + [
        ("__meta__", b"?"),
        ("README", b"?"),
        (".hidden", b"?"),
        (long + ".jpg", b"J"),
        (long + ".cls", b"C"),
        (long + ".extra.txt", b"E"),
    ]
    want = WHOLE + [(long.encode(), b"C", b"J")]
    with Folder() as put:
        data = tar_of(members, how)
        for name, bytes_ in (("a.tar", data), ("a.tar.gz", gzip.compress(data)), ("b.tar", data[:-1024])):
            ds = sd.TarDataset(put(name, bytes_), suffixes=["cls", "jpg"])
            c.same(samples(ds.take(9)), WHOLE, name)
            c.same(samples(ds), want, name)
            c.same(list(sd.TarDataset(put(name, bytes_)).element_spec), ["__key__", "cls", "jpg"])
            it = iter(ds)
            next(it), next(it)
            c.same(samples(ds.skip(7)), want[7:])
            c.same([e["__key__"] for e in ds.iterator(state=it.state())], [w[0] for w in want[2:]])
        two = sd.TarDataset(put("x.tar", data)[:-5] + "{x,x}.tar", suffixes=["cls", "jpg"])
        c.same(samples(two), want * 2)
        names = sd.Dataset.from_tensor_slices([put("y.tar", data)]).flat_map(
            lambda f: sd.TarDataset(f, suffixes=["cls", "jpg"])
        )
        c.same(samples(names), want)
        c.same(samples(sd.TarDataset(put("e.tar", tar_of([])), suffixes=["cls", "jpg"])), [])
        big = tar_of([("a.bin", bytes(3 << 20)), ("b.bin", b"1")])
        c.same([len(e["bin"]) for e in sd.TarDataset(put("big.tar", big))], [3 << 20, 1])
        c.same([len(e["bin"]) for e in sd.TarDataset(put("big.tgz", gzip.compress(big, 1)))], [3 << 20, 1])


def header_at(data, name):
    return next(i for i in range(0, len(data), 512) if data[i : i + len(name) + 1] == name + b"\0")


def test_tar_damage():
    LOST = "!DataLossError"
    data = tar_of(MEMBERS, tarfile.USTAR_FORMAT)

    def read(bytes_):
        return samples(sd.TarDataset(put("d.tar", bytes_), suffixes=["cls", "jpg"]))

    with Folder() as put:
        for i in (1, 4, 8):  # the second header of sample i: it is lost, nothing else is
            at = header_at(data, f"d/k{i}.cls".encode())
            bad = bytearray(data)
            bad[at + 3] ^= 1
            c.same(read(bytes(bad)), WHOLE[:i] + [LOST] + WHOLE[i + 1 :], f"cls {i}")
        for i in (1, 4, 8):  # the first one
            at = header_at(data, f"d/k{i}.JPG".encode())
            bad = bytearray(data)
            bad[at + 130] ^= 1
            c.same(read(bytes(bad)), WHOLE[:i] + [LOST] + WHOLE[i + 1 :], f"jpg {i}")
        end = header_at(data, b"d/k8.cls")
        for cut in range(512, end + 512 + 8 * 37 * 4, 97):
            have = read(data[:cut])
            whole = [w for w in have if w not in (LOST, BAD)]
            c.true(have.count(LOST) + have.count(BAD) <= 1 and whole == WHOLE[: len(whole)], f"cut at {cut}")
            c.true(all(header_at(data, f"d/k{i}.JPG".encode()) + 512 < cut for i in range(len(whole))))
        z = gzip.compress(data)
        have = read(z[: len(z) // 2])
        c.true(have[-1] == LOST and have[:-1] == WHOLE[: len(have) - 1], "gzip cut short")
        c.same(read(tar_of([("a.cls", b"1"), ("b.jpg", b"2"), ("b.cls", b"3")])), [BAD, (b"b", b"3", b"2")])
        c.same(read(tar_of([("a.cls", b"1"), ("a.cls", b"2"), ("a.jpg", b"3")])), [BAD])
        c.same(read(b"x" * 5000), [LOST])
        c.raises(sd.errors.DataLossError, lambda: sd.TarDataset(put("n.tar", b"x" * 5000)))
        c.raises(sd.errors.NotFoundError, lambda: sd.TarDataset("/nowhere.tar"))
        c.raises(sd.errors.InvalidArgumentError, lambda: sd.TarDataset(put("e.tar", tar_of([]))))


def test_npy():
    with Folder() as put:
        rng, parts = np.random.default_rng(3), []
        for i, n in enumerate((5, 0, 7, 1, 300)):
            parts.append(rng.integers(0, 255, (n, 3), dtype=np.uint8))
            path = put(f"{i}.npy", b"")
            np.save(path, parts[-1])
        names = [path[:-5] + f"{i}.npy" for i in range(5)]
        ds, all_rows = sd.NpyDataset(names), np.concatenate(parts)
        c.same(next(iter(ds.batch(1000))), all_rows)
        c.same((len(ds), ds.element_spec), (313, sd.TensorSpec((3,), "uint8")))
        c.same(next(iter(ds.skip(11).take(3).batch(3))), all_rows[11:14])
        mixed = next(iter(ds.shuffle(313, seed=1).batch(1000)))
        c.same(sorted(mixed.tolist()), sorted(all_rows.tolist()))
        c.true(mixed.tolist() != all_rows.tolist(), "shuffled")
        shuffled = ds.shuffle(313, seed=1)
        it = iter(shuffled)
        for _ in range(200):
            next(it)
        rest = shuffled.iterator(state=it.state())
        c.same(np.stack(list(rest)), np.stack(list(it)))
        np.save(put("x.npy", b""), np.zeros((2, 4), np.uint8))
        c.raises(ValueError, lambda: sd.NpyDataset([names[0], names[0][:-5] + "x.npy"]), "x.npy", "(2, 4)")
        c.raises(ValueError, lambda: sd.NpyDataset([]))
        c.raises(ValueError, lambda: sd.NpyDataset(put("bad.npy", b"no array")))
        c.raises(sd.errors.InvalidArgumentError, lambda: sd.NpyDataset(os.path.dirname(names[0])), "irectory")
        whole = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"
        for header in (
            "(" * 5000, "-" * 9000, "{" * 150, "[1,", "{}", "1", "'a'", "\0" * 60, "\xff" * 60, whole.replace("'<f4'", "('<f4',)"),
            whole.replace("<f4", "<f99999999999999999999"), whole.replace("<f4", "|O"),
            whole.replace("(3, 4)", "(1 << 62, 4)"), whole.replace("3, 4", "4611686018427387904, 4"), whole.replace("(3, 4)", "3"),
            whole.replace("3, 4", "-3, 4"), whole.replace("3, 4", "3, " * 100), whole.replace("3, 4", "True, 'a'"), whole[:-9], whole,
        ):
            text = header.encode("latin-1") + b"\n"
            bad = put("h.npy", b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text)
            c.raises(sd.errors.InvalidArgumentError, lambda: sd.NpyDataset(bad), "h.npy", f"bytes 10 to {10 + len(text)}")
        c.raises(sd.errors.InvalidArgumentError, lambda: sd.NpyDataset(put("v.npy", b"\x93NUMPY\7\0" + b"x" * 40)), "v.npy", "header")
        text = whole.replace("'<f4'", "{}").encode() + b"\n"
        bad = put("h.npy", b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text + bytes(100))
        c.raises(sd.errors.InvalidArgumentError, lambda: sd.NpyDataset(bad), "h.npy", "dtype")
        np.savez(put("two.npz", b""), a=np.zeros(3), b=np.zeros(3))
        c.raises(sd.errors.InvalidArgumentError, lambda: sd.NpyDataset(names[0][:-5] + "two.npz"), "two.npz", "archive")
        c.raises(sd.errors.NotFoundError, lambda: sd.NpyDataset("/nowhere.npy"))


def test_empty_files():
    """An empty file has no elements, with any declared compression."""
    with Folder() as put:
        empty, path = put("empty", b""), put("some", b"")
        with sd.TFRecordWriter(path, options="GZIP") as w:
            w.write(b"one")
        for compression in (None, "", "GZIP", "ZLIB"):
            c.same(drain(sd.TFRecordDataset([empty], compression)), [])
            c.same(drain(sd.TextLineDataset(empty, compression)), [])
            c.same(drain(sd.FixedLengthRecordDataset(empty, 4, compression_type=compression)), [])
        c.same(drain(sd.TFRecordDataset([empty, path, empty], "GZIP")), [b"one"])


def test_snapshot_and_cache():
    """Each pipeline has its own snapshot; half-written files don't count."""
    with Folder() as put:
        folder = os.path.dirname(put("x", b""))
        f = lambda ds: [int(x) for x in ds]
        snap = lambda n, k: sd.Dataset.range(n).map(lambda x: x * k).snapshot(folder + "/s")
        c.same(f(snap(3, 2)), [0, 2, 4])
        c.same(f(snap(4, 2)), [0, 2, 4, 6])
        c.same(f(snap(3, 5)), [0, 5, 10])
        c.same(f(snap(3, 2)), [0, 2, 4])
        c.same(len(os.listdir(folder + "/s")), 3)
        calls = []
        seen = lambda x: calls.append(1) or np.int64(x)
        kept = sd.Dataset.range(5).map(lambda x: sd.py_function(seen, [x], "int64")).cache(folder + "/c")
        one, two = iter(kept), iter(kept)
        c.same([int(next(one)), int(next(two)), int(next(two))], [0, 0, 1])
        del one  # given up: leaves nothing
        c.same([int(x) for x in two], [2, 3, 4])
        del two
        n = len(calls)
        c.same((f(kept), len(calls) - n), ([0, 1, 2, 3, 4], 0))
        c.same(sorted(x for x in os.listdir(folder) if x.startswith("c")), ["c.stkidx"])
        whole = open(folder + "/c.stkidx", "rb").read()
        with open(folder + "/c.stkidx", "wb") as half:
            half.write(whole[: len(whole) // 2])
        c.raises(sd.errors.DataLossError, lambda: f(kept))
        options = sd.Options()
        options.on_error = "skip"
        it = iter(kept.with_options(options))
        c.raises(sd.errors.OpError, lambda: next(it), "c.stkidx")
        c.same([int(x) for x in it], [0, 1, 2, 3, 4], "reported once under every policy; the elements come")


def test_missing_folders():
    """What cannot be written says why: no folder, or one that takes no files."""
    with Folder() as put:
        folder = os.path.dirname(put("x", b""))
        ds = sd.Dataset.range(3)
        ways = {
            "cache": lambda f: list(ds.cache(f + "/c")),
            "snapshot": lambda f: list(ds.snapshot(f + "/s")),
            "packed snapshot": lambda f: list(ds.snapshot(f + "/s", compression="GZIP")),
        }
        for way in ways.values():
            c.raises(sd.errors.NotFoundError, lambda: way(folder + "/none"), folder + "/none")
            if os.getuid() != 0:
                os.chmod(folder, 0o500)
                c.raises(sd.errors.PermissionDeniedError, lambda: way(folder), folder)
                os.chmod(folder, 0o700)


def test_packed_snapshot():
    """snapshot(compression="GZIP"): the same elements of all kinds, smaller, in a file of its own."""
    with Folder() as put:
        folder = os.path.dirname(put("x", b"")) + "/s"
        calls = []
        seen = lambda x: calls.append(1) or np.int64(x)

        def element(i):
            i = sd.py_function(seen, [i], "int64")
            i = sd.ensure_shape(i, [])
            return {
                "number": i,
                "text": sd.strings.join([sd.as_string(i), "/", sd.as_string(i * i)]),
                "varied": sd.range(i % 5),
                "image": sd.fill([8, 8, 3], sd.cast(i, "uint8")),
                "none": sd.zeros([0, 3]),
                "words": sd.fill([i % 3], sd.as_string(i)),
            }

        whole = sd.Dataset.range(1000).map(element)
        want = list(whole)
        sizes = {}
        for compression in ("GZIP", None, "NONE", "AUTO"):
            ds = whole.snapshot(folder, compression=compression)
            del calls[:]
            c.same(list(ds), want, compression)
            n = len(calls)
            c.same(list(ds), want, compression)
            c.same(len(calls), n, "read, not made")
            sizes = {x: os.path.getsize(os.path.join(folder, x)) for x in os.listdir(folder)}
        c.same(sorted(x.split(".", 1)[1] for x in sizes), ["stkidx", "stkpack.gz"])
        packed = next(os.path.join(folder, x) for x in sizes if x.endswith("gz"))
        c.true(min(sizes.values()) * 4 < max(sizes.values()), f"{sizes}")
        ds = whole.snapshot(folder, "GZIP")
        it = iter(ds)
        for _ in range(700):
            next(it)
        c.same(list(ds.iterator(state=it.state())), want[700:], "resumed")
        c.same(list(ds.skip(990)), want[990:])
        c.same(list(whole.take(0).snapshot(folder, "GZIP")), [])
        c.same(list(whole.take(0).snapshot(folder, "GZIP")), [])
        data = open(packed, "rb").read()
        half = len(data) // 2
        with_head = data[:half], data[:-4], data[:half] + b"\xff" + data[half + 1 :]
        for damaged in (*with_head, data[:10], b"", b"\x1f\x8b" + data[100:]):
            with open(packed, "wb") as f:
                f.write(damaged)
            got, it = [], iter(ds)
            c.raises(sd.errors.DataLossError, lambda: [got.append(x) for x in it], "stkpack.gz")
            c.same(got, want[: len(got)], "the elements before the damage")
            # What has no head is no file of elements: they come from the input.
            c.same(list(it), [] if damaged in with_head else want, "and none after it")
        c.same([x for x in os.listdir(folder) if "part" in x], [])
    for bad in ("SNAPPY", "ZLIB", "gzip"):
        c.raises(sd.errors.InvalidArgumentError, lambda: sd.Dataset.range(3).snapshot("s", bad), bad)


def test_parts_of_the_dead():
    """What a killed writer left is removed by the next; what others still write is not."""
    with Folder() as put:
        folder = os.path.dirname(put("x", b""))
        own = f"c.stkidx.{os.uname().nodename[:32]}.99999"
        dead = [f"{own}.1.part", "c.stkidx.elsewhere.99999.1.part"]
        names = [f"{own}.2.part", "c.stkidx.elsewhere.99999.2.part", "c.stkidx.other.part", "c.stkidx.other.7.part"]
        for name in dead + names:
            put(name, b"some")
            os.utime(os.path.join(folder, name), (1e9, 1e9))
        os.utime(os.path.join(folder, names[1]))  # young
        with open(os.path.join(folder, names[0])) as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            kept = sd.Dataset.range(5).cache(folder + "/c")
            c.same(drain(kept), [np.int64(i) for i in range(5)])
        c.same(sorted(os.listdir(folder)), sorted(["x", "c.stkidx"] + names))
        one = iter(sd.Dataset.range(5).cache(folder + "/d"))
        next(one)
        part = next(os.path.join(folder, x) for x in os.listdir(folder) if x.startswith("d."))
        os.utime(part, (1e9, 1e9))
        two = sd.Dataset.range(5).cache(folder + "/d")
        c.same(drain(two), [np.int64(i) for i in range(5)])
        c.true(os.path.exists(part), "it is being written")
        c.same([int(x) for x in one], [1, 2, 3, 4])
        c.same(sorted(x for x in os.listdir(folder) if x.startswith("d")), ["d.stkidx"])


def test_remote_paths():
    """Where files of another machine are not read, the error says what is (test_remote.py has the sources)."""
    for scheme in ("s3", "gs", "http", "https", "hdfs"):
        path = f"{scheme}://bucket/train.tfrecord"
        for f in (
            lambda: sd.TFRecordWriter(path),
            lambda: sd.Dataset.load(path),
            lambda: sd.Dataset.range(2).save(path),
            lambda: sd.Dataset.range(2).cache(path),
            lambda: sd.io.gfile.exists(path),
        ):
            c.raises(sd.errors.UnimplementedError, f, "remote paths", f"{scheme}://")
        late = sd.Dataset.from_tensors(path)
        for f in (sd.io.read_file, lambda p: sd.io.read_file(p + "x")):
            c.raises(sd.errors.NotFoundError, lambda: list(late.map(f)), "remote paths are not read")
        c.raises(sd.errors.NotFoundError, lambda: list(late.flat_map(sd.TFRecordDataset)), "remote paths")
    c.raises(sd.errors.NotFoundError, lambda: list(sd.TFRecordDataset("no/such:file")), "no/such:file")


if __name__ == "__main__":
    c.main(globals())
