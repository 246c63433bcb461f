# SPDX-License-Identifier: Apache-2.0
"""External failures: files that vanish, shrink or are slow, full disks, low memory, workers that hang or are killed,
consumers that stop. Errors are clear, and nothing hangs, crashes or stays behind."""

import gc
import gzip
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import numpy as np

import checks as c
import stoker.data as sd

# The tests change directories, and start other interpreters.
os.setpgid(0, 0)  # whose processes are counted
os.environ["PYTHONPATH"] = os.path.abspath(os.path.join(os.path.dirname(sd.__file__), "..", ".."))


def numbers(folder, name, n, size=1000):
    path = os.path.join(folder, name)
    with sd.TFRecordWriter(path) as w:
        for i in range(n):
            w.write(b"%06d" % i * size)
    return path


def rest(it):
    """(elements until the end, errors met), an error standing for one element."""
    got, errors = [], []
    while True:
        try:
            got.append(next(it))
        except StopIteration:
            return got, errors
        except sd.errors.OpError as e:
            errors.append(e)


def test_unequal_batch_costs_itself():
    """Batches before and behind one whose elements differ in shape are given, however many are asked for at once."""
    rows = sd.Dataset.range(40).map(lambda x: sd.cast(sd.range(sd.where(x == 21, 2, 1)), sd.int64) + x)
    for size, bad in ((2, 10), (4, 5), (40, 0)):
        for more in (lambda d: d, lambda d: d.prefetch(3), lambda d: d.map(lambda b: b + 0, num_parallel_calls=2)):
            got = c.all_of(iter(more(rows.batch(size))))
            c.same([i for i, v in enumerate(got) if isinstance(v, type)], [bad], f"batches of {size}")
            c.same(len(got), 40 // size)
            whole = [int(v) for b in got if not isinstance(b, type) for v in b[:, 0]]
            c.same(whole, [v for v in range(40) if v // size != bad])


def test_vanishing():
    with tempfile.TemporaryDirectory() as d:
        files = [numbers(d, f"{k}.tfr", 100) for k in range(3)]
        for parallel in (None, 2):
            for f in files:
                if not os.path.exists(f):
                    numbers(d, os.path.basename(f), 100)
            ds = sd.TFRecordDataset(files, num_parallel_reads=parallel)
            it = iter(ds)
            first = next(it)
            c.same(first[:6], b"000000")
            os.unlink(files[2])
            got, errors = rest(it)
            c.true(len(got) in (199, 299), f"{len(got)} elements beside the missing file's")
            if len(got) == 199:
                c.same([type(e) for e in errors], [sd.errors.NotFoundError])
                c.true(files[2] in str(errors[0]), str(errors[0]))


def test_shrinking_records():
    with tempfile.TemporaryDirectory() as d:
        path = numbers(d, "a.tfr", 2000, 1000)
        it = iter(sd.TFRecordDataset(path))
        c.same(next(it)[:6], b"000000")
        os.truncate(path, 5_000_000)
        got, errors = rest(it)
        c.same([type(e) for e in errors], [sd.errors.DataLossError])
        c.true(all(g[:6] == b"%06d" % (i + 1) for i, g in enumerate(got)), "in order until then")


def test_shrinking_maps():
    """Mapped files that are cut: no SIGBUS, but an error, also for who comes by position."""
    with tempfile.TemporaryDirectory() as d:
        for made in (lambda ds: ds, lambda ds: ds.shuffle(100), lambda ds: ds.batch(2).prefetch(2)):
            folder = os.path.join(d, "saved")
            big = sd.Dataset.range(60).map(lambda i: (i, sd.strings.join([sd.as_string(i)] * 3000)))
            big.save(folder)
            it = iter(made(sd.Dataset.load(folder)))
            kept = [next(it)]
            os.truncate(os.path.join(folder, "elements.stk"), 4096)
            got, errors = rest(it)
            c.true(errors and isinstance(errors[0], sd.errors.DataLossError), f"{errors[:1]}")
            c.true("was truncated" in str(errors[0]), str(errors[0]))
            c.true(len(kept) + len(got) <= 60 and len(errors) <= 60, "ends")
            c.raises(sd.errors.DataLossError, lambda: sd.Dataset.load(folder))
        path = os.path.join(d, "a.npy")
        for made in (lambda ds: ds, lambda ds: ds.shuffle(1000), lambda ds: ds.prefetch(2)):
            np.save(path, np.ones((1000, 4096), np.float32))
            it = iter(made(sd.NpyDataset(path)).batch(10))
            c.same(next(it).shape, (10, 4096))
            os.truncate(path, 8192)
            got, errors = rest(it)
            c.true(errors and isinstance(errors[0], sd.errors.DataLossError), f"{errors[:1]}")


def test_odd_files():
    with tempfile.TemporaryDirectory() as d:
        bad = os.path.join(d, "bad")
        with open(bad, "wb") as f:
            f.write(os.urandom(1000))
        for make in (sd.TFRecordDataset, sd.NpyDataset, sd.IndexedDataset, sd.TarDataset):
            for path in (d, bad, os.path.join(d, "none"), "/dev/null"):
                if make is sd.TFRecordDataset and path == "/dev/null":
                    continue
                c.raises((sd.errors.OpError, OSError), lambda: list(make(path)))
        if os.getuid() != 0:
            os.chmod(bad, 0)
            for make in (sd.TFRecordDataset, sd.TextLineDataset, sd.NpyDataset):
                c.raises(sd.errors.PermissionDeniedError, lambda: list(make(bad)))


def test_slow_disk():
    """A reader that waits for its disk: next() is interrupted, canceling and closing come back."""
    with tempfile.TemporaryDirectory() as d:
        whole = numbers(d, "whole", 10, 10)
        data = open(whole, "rb").read()
        for made in (lambda ds: ds, lambda ds: ds.prefetch(2), lambda ds: ds.map(sd.identity, 2)):
            fifo = os.path.join(d, "fifo")
            if os.path.exists(fifo):
                os.unlink(fifo)
            os.mkfifo(fifo)
            stop = threading.Event()

            def feed():
                with open(fifo, "wb", buffering=0) as f:
                    f.write(data[: len(data) // 2])
                    stop.wait(20)
                    try:
                        f.write(data[len(data) // 2 :])
                    except BrokenPipeError:
                        pass

            t = threading.Thread(target=feed)
            t.start()
            it = iter(made(sd.TFRecordDataset(fifo)))
            threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            start = time.monotonic()
            got = []
            try:
                for _ in range(10):
                    got.append(next(it))
                c.fail("read what is not there yet")
            except KeyboardInterrupt:
                c.quick(start, 3, "interrupted while the disk is slow")
            stop.set()
            t.join()
            got += list(it)
            c.same(len(got), 10, "nothing is lost by an interruption")


def test_disk_that_hangs():
    """Leaving a pipeline whose reader hangs takes a bounded time."""
    with tempfile.TemporaryDirectory() as d:
        fifo = os.path.join(d, "fifo")
        os.mkfifo(fifo)
        text = f"""
import os, time, stoker.data as sd
w = os.open({fifo!r}, os.O_RDWR)
it = iter(sd.TextLineDataset({fifo!r}).prefetch(2))
os.write(w, b"a\\n" * 100000 if False else b"a\\n" * 10)
time.sleep(0.2)
it.cancel()
del it
print("left")
"""
        start = time.monotonic()
        r = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
        c.same((r.stdout, r.returncode), ("left\n", 0), r.stderr)
        c.quick(start, 15, "left")


def test_parts_with_failed_elements():
    """Each element of the source is some part's, or its error is; where rounds must be whole, the last ones are nobody's."""
    def given(ds):
        values, errors, iterator = [], 0, iter(ds)
        while True:
            try:
                values.append(int(next(iterator)))
            except StopIteration:
                return values, errors
            except sd.errors.InvalidArgumentError:
                errors += 1

    for count in (12, 13, 14):
        for bad in range(count):
            source = sd.Dataset.range(count).map(lambda x, bad=bad: x + 0 * (1 // (x - bad)))
            for remainder, most in (("keep", count), ("drop", count // 3 * 3)):
                parts = [given(source.shard(3, index, remainder=remainder)) for index in range(3)]
                values = sorted(value for part, _ in parts for value in part)
                c.same(values, [x for x in range(most) if x != bad], f"{remainder} of {count}, {bad} fails")
                c.same(sum(errors for _, errors in parts), int(bad < most), f"{remainder} of {count}, {bad} fails: errors")


def test_parts_that_are_cancelled():
    """A part that skips others' elements ends soon after it is asked to."""
    vast = sd.Dataset.range(2**60).filter(lambda x: x >= 0).shard(2**40, 0, remainder="drop")
    iterator = iter(vast)
    timer = threading.Timer(0.1, iterator.cancel)
    timer.start()
    c.raises(sd.errors.CancelledError, lambda: next(iterator), "the iterator was canceled")
    timer.join()


def test_full_disk():
    """A file that cannot grow, as on a full disk: said, and nothing of it stays."""
    with tempfile.TemporaryDirectory() as d:
        os.chdir(d)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        ds = sd.Dataset.range(2000).map(lambda i: sd.strings.join([sd.as_string(i)] * 300))
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
        try:
            for made in (ds.cache("c"), ds.snapshot("s")):
                got, errors = rest(iter(made))
                c.true(len(errors) == 1, f"said once: {errors}")
                c.true(len(got) >= 1000, f"the elements go on coming: {len(got)}")
                got, errors = rest(iter(made))
                c.true(len(got) >= 1000 and len(errors) == 1, f"again: {len(got)}, {errors}")
            c.raises(sd.errors.OpError, lambda: ds.save("saved"), "written")

            def write():
                with sd.TFRecordWriter("r") as w:
                    for i in range(1000):
                        w.write(b"x" * 1000)

            c.raises((sd.errors.OpError, OSError), write)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            os.chdir("/")
        left = [f for _, _, fs in os.walk(d) for f in fs if f not in ("r",)]
        c.same(left, [], "half files")


def test_full_disk_keeps_elements():
    """Elements that can't be written are still delivered: each of the source once and in order, plus the error, for
    each transformation that writes, wherever it meets the limit, with errors raised and skipped, of blocks of one and
    of many."""
    n = 5000
    skipping = sd.Options()
    skipping.on_error = "skip"  # a full disk is no element's fault: it is still reported
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    long = sd.Dataset.range(n).map(lambda i: (i, sd.strings.join([sd.as_string(i * i * 7919)] * 60)))
    everything = list(range(n))
    for made_of, want in (
        (lambda d: long.cache(os.path.join(d, "c")), everything),
        (lambda d: long.snapshot(os.path.join(d, "s")), everything),
        (lambda d: long.snapshot(os.path.join(d, "z"), compression="GZIP"), everything),
        (lambda d: long.cache(os.path.join(d, "c")).prefetch(2), everything),
        (lambda d: long.filter(lambda i, t: i % 2 == 0).cache(os.path.join(d, "c")), everything[::2]),
        (lambda d: long.snapshot(os.path.join(d, "s")).skip(100), everything[100:]),
    ):
        for limit in (0, 5000, 100_000):
            for ends in (True, False):
                with tempfile.TemporaryDirectory() as d:
                    made = made_of(d) if ends else made_of(d).with_options(skipping)
                    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
                    try:
                        got, errors = rest(iter(made))
                    finally:
                        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
                    got = [int(i) for i, _ in got]
                    lost = sorted(set(want) - set(got))
                    c.true(got == want, f"at most {limit} bytes: {len(got)} of {len(want)}, without {lost[:3]}")
                    c.same(len(errors), 1, f"at most {limit} bytes: said once: {errors}")
                    c.same([f for _, _, fs in os.walk(d) for f in fs], [], "half files")


def test_files_that_are_no_good():
    """A file that can't be made, or has other content, is reported once under every policy; every element comes, and
    delivered, skipped and filtered elements are those of the source."""
    n = 3000
    skipping = sd.Options()
    skipping.on_error = "skip"
    ds = sd.Dataset.range(n).map(lambda i: (i, 1000 // (i % 100))).filter(lambda i, q: q < 50)
    want = [i for i in range(n) if i % 100 and 1000 // (i % 100) < 50]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with tempfile.TemporaryDirectory() as d:
        cases = [
            ds.cache("/nowhere/at/all/c"),
            ds.cache("/dev/null/c").prefetch(2),
            ds.snapshot("/nowhere/at/all"),
            ds.snapshot("/dev/null/s", compression="GZIP").prefetch(2),
            sd.Dataset.range(1).flat_map(lambda _: ds.snapshot("/nowhere/at/all")),
        ]
        for k, make in enumerate((
            lambda d: ds.cache(os.path.join(d, "c")),
            lambda d: ds.snapshot(d),
            lambda d: ds.snapshot(d, compression="GZIP"),
        )):
            for there in ("full disk", "folder", "others"):
                folder = os.path.join(d, f"{k} {there}")
                os.mkdir(folder)
                cases.append(make(folder))
                if there == "full disk":
                    continue
                list(cases[-1].with_options(skipping))
                (path,) = [os.path.join(b, f) for b, _, fs in os.walk(folder) for f in fs]
                os.unlink(path)
                if there == "folder":
                    os.mkdir(path)
                else:
                    with open(path, "wb") as f:
                        f.write(b"something else" * 1000)
        for made in cases:
            it = iter(made.with_options(skipping))
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
            try:
                got, errors = rest(it)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            c.same(len(errors), 1, f"said once: {errors}")
            c.true([int(i) for i, _ in got] == want, f"{len(got)} of {len(want)} elements")
            c.same(sum(s["skipped"] for s in it.stages()), n // 100, "skipped")


def test_planted_links():
    """Links under the names that are written to first are not followed."""
    ds = sd.Dataset.range(3000)
    for make in (
        lambda d: ds.cache(os.path.join(d, "c")),
        lambda d: ds.snapshot(d),
        lambda d: ds.snapshot(d, compression="GZIP"),
    ):
        with tempfile.TemporaryDirectory() as d:
            list(make(d))
            (made,) = os.listdir(d)
            os.unlink(os.path.join(d, made))
            victim = os.path.join(d, "victim")
            with open(victim, "w") as f:
                f.write("precious")
            for number in range(1, 200):
                os.symlink(victim, os.path.join(d, f"{made}.{os.uname().nodename[:32]}.{os.getpid()}.{number}.part"))
            c.same([int(i) for i in make(d)], list(range(3000)))
            c.same(open(victim, "rb").read(), b"precious", "a link was followed")
            c.true(not os.path.islink(os.path.join(d, made)), "what was written is a link")
            c.same([int(i) for i in make(d)], list(range(3000)), "read again")


def test_recorder_full_disk():
    with tempfile.TemporaryDirectory() as d:
        text = """
import resource, stoker.data as sd
resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
n = sum(1 for _ in sd.Dataset.range(200000).map(lambda x: x + 1).batch(2).prefetch(2))
print(n)
"""
        env = dict(os.environ, STOKER_DATA_RECORD=os.path.join(d, "r.stk"))
        r = subprocess.run(
            [sys.executable, "-c", text], capture_output=True, text=True, timeout=60, env=env
        )
        c.same((r.stdout, r.returncode), ("100000\n", 0), r.stderr)


def test_bombs():
    """Compressed data that expand a thousandfold stay within the budget."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "bomb.gz")
        with gzip.open(path, "wb", 6) as f:
            for _ in range(150):
                f.write(bytes(1 << 20))
        options = sd.Options()
        options.autotune.ram_budget = 32 << 20
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for ds in (
            sd.TextLineDataset(path, "GZIP"),
            sd.TFRecordDataset(path, "GZIP"),
            sd.FixedLengthRecordDataset(path, 250 << 20, compression_type="GZIP"),
        ):
            c.raises(sd.errors.OpError, lambda: list(ds.with_options(options)))
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        c.true(grown < 150, f"memory grew by {grown:.0f} MiB")
        path = os.path.join(d, "claims.tfr")
        with open(path, "wb") as f:
            f.write(struct.pack("<Q", 1 << 60) + bytes(20))
        c.raises(sd.errors.DataLossError, lambda: list(sd.TFRecordDataset(path)))


def peak_of(text, *words, given=b""):
    """(what a program printed, MiB that it took at most)."""
    text += "\nimport resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)"
    r = subprocess.run([sys.executable, "-c", text, *words], capture_output=True, input=given, timeout=300)
    c.same((r.returncode, r.stderr[-300:]), (0, b""))
    *said, peak = r.stdout.decode().splitlines()
    return said, int(peak)


REFUSED = """
import sys
import stoker.data as sd
try:
    {call}
    print("not refused")
except sd.errors.OpError as e:
    print(type(e).__name__, "1 GiB" in str(e))
"""


def test_refusal_takes_no_more_than_the_limit():
    """What is refused at 1 GiB wasn't in memory several times: unpacked data is in pieces, a line or row in its buffer
    and the one before."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "bomb.gz")
        with gzip.open(path, "wb", 6) as f:
            for _ in range(1100):
                f.write(bytes(1 << 20))
        for call, error, most in (
            ("sd.io.decode_compressed(open(sys.argv[1], 'rb').read(), 'GZIP')", "DataLossError", 1500),
            ("next(iter(sd.TextLineDataset(sys.argv[1], 'GZIP')))", "ResourceExhaustedError", 2500),
            ("next(iter(sd.CsvDataset(sys.argv[1], [b''], 'GZIP')))", "ResourceExhaustedError", 2500),
        ):
            said, peak = peak_of(REFUSED.format(call=call), path)
            c.same(said, [f"{error} True"], call)
            c.true(peak < most, f"{call} took {peak} MiB")


def test_files_without_a_size():
    """Pipes and files of the system are read until they end, terminals until the person stops."""
    c.same(np.asarray(sd.io.read_file("/dev/null")).item(), b"")
    with open("/proc/self/maps", "rb") as f:
        c.same(np.asarray(sd.io.read_file("/proc/self/maps")).item()[:12], f.read(12))
    said, peak = peak_of("""if True:
        import stoker.data as sd
        for make in (lambda: sd.io.read_file("/dev/zero"), lambda: list(sd.Dataset.from_tensors("/dev/zero").map(sd.io.read_file))):
            try:
                print(len(make()))
            except sd.errors.ResourceExhaustedError as e:
                print("/dev/zero" in str(e), "more than 16 MiB" in str(e))
    """)
    c.same(said, ["True True"] * 2)
    c.true(peak < 300, f"/dev/zero took {peak} MiB")
    with tempfile.TemporaryDirectory() as d:
        fifo = os.path.join(d, "fifo")
        os.mkfifo(fifo)
        for size in (0, 1, 4095, 4096, 4097, 3_000_001):
            data = np.random.default_rng(size).bytes(size)

            def feed():
                with open(fifo, "wb") as f:
                    f.write(data)

            t = threading.Thread(target=feed)
            t.start()
            c.true(np.asarray(sd.io.read_file(fifo), object).item() == data, f"a pipe of {size} bytes")
            t.join()
            packed = gzip.compress(data)
            c.true(bytes(sd.io.decode_compressed(packed, "GZIP").numpy()) == data, f"{size} bytes unpacked")
    said, _ = peak_of("import stoker.data as sd; print(sd.io.read_file('/dev/stdin').numpy())", given=b"typed")
    c.same(said, ["b'typed'"])


def image_claims(width, height):
    """(name, file) of images whose headers claim that size, and which hold next to nothing."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    yield "png", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(1 << 20)))
    if max(width, height) < 1 << 16:
        for name, mark in (("jpeg", b"\xff\xc0"), ("progressive jpeg", b"\xff\xc2")):
            image = sd.io.encode_jpeg(np.zeros((8, 8, 3), "uint8"), progressive=name != "jpeg")
            jpeg = bytes(np.asarray(image).item())
            at = jpeg.index(mark) + 5
            yield name, jpeg[:at] + struct.pack(">HH", height, width) + jpeg[at + 4 :]
        yield "gif", b"GIF89a" + struct.pack("<HH", width, height) + b"\x80\0\0" + bytes(6) + (
            b"\x2c" + bytes(4) + struct.pack("<HH", width, height) + b"\0\x02\x02\x44\x0a\0\x3b"
        )
    yield "bmp", b"BM" + bytes(8) + struct.pack("<IIiiHH", 54, 40, width, height, 1, 24) + bytes(24)


def test_image_bombs():
    """Images that claim to be huge are refused with a reason; memory stays within the budget."""
    options = sd.Options()
    options.autotune.ram_budget = 32 << 20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for width, height in ((65000, 65000), (65535, 65535), (16000, 16000), (1, 65000), (2**31 - 1, 2**31 - 1)):
        for name, file in image_claims(width, height):
            what = f"{name} of {width} x {height}"
            for decode in (sd.io.decode_image, *DECODERS[name]):
                for calls in (None, 2):
                    ds = sd.Dataset.from_tensors(file).map(decode, calls).with_options(options)
                    try:
                        got = list(ds)
                        c.true(got[0].nbytes < 32 << 20, f"{what}: {got[0].shape}")
                    except sd.errors.OpError as e:
                        c.true(len(str(e)) > 20, f"{what}: {e}")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # which keeps what is freed
        c.true(grown < 100, f"memory grew by {grown:.0f} MiB")


def decode_corner(file):
    return sd.io.decode_and_crop_jpeg(file, [0, 0, 1, 1])


DECODERS = {
    "png": [sd.io.decode_png],
    "jpeg": [sd.io.decode_jpeg, decode_corner],
    "progressive jpeg": [sd.io.decode_jpeg, decode_corner],
    "gif": [],
    "bmp": [],
}


def test_consumer_stops():
    """A consumer that stops does not make the pipeline fill memory."""
    options = sd.Options()
    options.autotune.ram_budget = 64 << 20
    ds = sd.Dataset.range(10**6).map(lambda i: sd.fill([1 << 18], i), sd.AUTOTUNE).prefetch(sd.AUTOTUNE)
    it = iter(ds.with_options(options))
    next(it)
    time.sleep(0.5)
    m = it.memory()
    c.true(m["peak_bytes"] <= 64 << 20, f"{m}")
    c.same(int(next(it)[0]), 1)


def test_left_out_while_python_runs():
    """An error that is left out leaves next() waiting: without the GIL, which the functions need."""
    options = sd.Options()
    options.on_error = "skip"

    def f(v):
        if v % 3 == 1:
            raise ValueError("no")
        return v

    ds = sd.Dataset.range(60).map(lambda x: sd.numpy_function(f, [x], sd.int64), 3)
    for _ in range(40):
        c.same([int(v) for v in ds.with_options(options)], [v for v in range(60) if v % 3 != 1])


def processes():
    """Processes of this one's group, which those that it forks stay in."""
    out = subprocess.run(["ps", "-e", "-o", "pgid=,stat="], capture_output=True, text=True)
    rows = [r.split() for r in out.stdout.splitlines()]
    return sum(int(pgid) == os.getpgid(0) and not stat.startswith("Z") for pgid, stat in rows)


def none_is_left(before):
    gc.collect()
    deadline = time.monotonic() + 60
    while processes() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    c.same(processes(), before, "no worker is left")


def test_hanging_worker():
    def f(i):
        if i == 1:
            time.sleep(1000)
        return i

    before = processes()
    ds = sd.Dataset.range(4).map(f, processes=1)
    it = iter(ds)
    c.same(int(next(it)), 0)
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    c.raises(KeyboardInterrupt, lambda: next(it))
    c.quick(start, 2, "interrupted while a worker hangs")
    start = time.monotonic()
    os.kill(ds._keep[0].function.pool.workers[0].pid, signal.SIGKILL)
    c.raises(sd.errors.UnknownError, lambda: next(it), "SIGKILL", "it was replaced", "element 1")
    c.quick(start, 2, "a killed worker is noticed")
    c.same([int(v) for v in it], [2, 3])
    del it, ds
    none_is_left(before)
    ds = sd.Dataset.range(4).map(f, processes=2, timeout=0.5)
    got, errors = rest(iter(ds))
    c.same([int(v) for v in got], [0, 2, 3])
    c.true(len(errors) == 1 and "0.5 s" in str(errors[0]), f"{errors}")
    del ds, errors  # whose tracebacks hold the workers
    none_is_left(before)


def test_leaving_hanging_workers():
    """Ctrl-C ends a program whose workers hang; one that is killed leaves none behind."""
    text = """if True:
        import os, signal, sys, threading, time
        import stoker.data as sd
        ds = sd.Dataset.range(4).map(lambda i: i if i == 0 else time.sleep(1000) or i, processes=2)
        it = iter(ds)
        print(next(it), flush=True)
        threading.Timer(0.2, lambda: os.kill(os.getpid(), getattr(signal, sys.argv[1]))).start()
        next(it)"""
    before = processes()
    for name in ("SIGINT", "SIGKILL", "SIGTERM"):
        start = time.monotonic()
        r = subprocess.run([sys.executable, "-c", text, name], stdout=subprocess.PIPE, timeout=60,
                           stderr=subprocess.DEVNULL)
        c.same((r.stdout, r.returncode), (b"0\n", -getattr(signal, name)), name)
        c.quick(start, 4.5, f"{name}: left")
        none_is_left(before)


c.main(globals())
