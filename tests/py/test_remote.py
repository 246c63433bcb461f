# SPDX-License-Identifier: Apache-2.0
"""Remote files: over HTTP from a server that drops, stalls, shortens, refuses and changes objects, and from a
local S3 server. The result equals that of a local file, and every failure has its error."""

import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

import checks as c
import object_server
import stoker.data as sd

try:
    import aiohttp  # noqa: F401
    import fsspec  # noqa: F401
except ImportError as e:
    fsspec = None
    c.skip(f"{e.name} is not installed: pip install fsspec aiohttp s3fs 'moto[server]'")

ROOT = tempfile.mkdtemp(prefix="remote-")
HERE = os.path.dirname(os.path.abspath(__file__))


class Served:
    """A server, and an empty cache."""

    def __init__(self, **settings):
        self.server = object_server.Objects()
        self.folder = tempfile.mkdtemp(dir=ROOT)
        self.cache = os.path.join(self.folder, "cache")
        sd.remote.configure(
            **{"cache": self.cache, "cache_bytes": 1 << 30, "block_bytes": 4096, "timeout": 1, "retries": 5, **settings}
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def local(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as f:
            f.write(data)
        return path

    def records(self, name, first, count=200):
        """A file of records, served; the URL."""
        path = os.path.join(self.folder, name)
        with sd.TFRecordWriter(path) as w:
            for k in range(first, first + count):
                w.write(b"%d " % k * 20)
        with open(path, "rb") as f:
            return self.server.put(name, f.read())


def values(ds):
    return [int(v.split()[0]) for v in ds]


def test_sources():
    with Served() as s:
        text = s.local("a.txt", b"".join(b"line %d\n" % k for k in range(3000)))
        rows = s.local("a.csv", b"".join(b"%d,%f\n" % (k, k / 3) for k in range(2000)))
        np.save(os.path.join(s.folder, "a.npy"), np.arange(9000, dtype="f4").reshape(-1, 3))
        sd.Dataset.range(500).save(os.path.join(s.folder, "saved"))
        tar = os.path.join(s.folder, "a.tar")
        for k in range(30):
            s.local(f"{k:03}.txt", b"sample %d" % k)
        subprocess.run(["tar", "cf", tar, "-C", s.folder, *[f"{k:03}.txt" for k in range(30)]], check=True)
        url = s.records("a.tfrecord", 0)

        def served(path):
            with open(path, "rb") as f:
                return s.server.put(os.path.basename(path), f.read())

        local = lambda url: os.path.join(s.folder, os.path.basename(url))
        for make, name in (
            (sd.TFRecordDataset, url),
            (sd.TextLineDataset, served(text)),
            (lambda n: sd.data.experimental.CsvDataset(n, ["int32", "float32"]), served(rows)),
            (lambda n: sd.FixedLengthRecordDataset(n, 10), served(text)),
            (sd.NpyDataset, served(os.path.join(s.folder, "a.npy"))),
            (sd.TarDataset, served(tar)),
            (lambda n: sd.TFRecordDataset([n, n], num_parallel_reads=2), url),
            (lambda n: sd.TFRecordDataset(sd.Dataset.from_tensor_slices([n]).map(sd.remote.fetch)), url),
            (lambda n: sd.Dataset.from_tensor_slices([n, n]).map(sd.remote.fetch).interleave(sd.TFRecordDataset), url),
        ):
            c.same(list(make(name)), list(make(local(name))))
        before = s.server.requests["GET"]
        c.same(values(sd.TFRecordDataset(url)), list(range(200)))
        c.same(s.server.requests["GET"], before, "a copy is read again")
        ds = pickle.loads(pickle.dumps(sd.TFRecordDataset([url]).batch(7)))
        c.same(len(list(ds)), 29)


def test_faults():
    """A fifth of the answers is wrong in some way."""
    with Served(timeout=0.5) as s:
        urls = [s.records(f"{k}.tfrecord", 1000 * k, 1000) for k in range(6)]
        rng = random.Random(5)
        hurt = []

        def fault(method, path, start):
            if method == "GET" and rng.random() < 0.2:
                hurt.append(rng.choice(["drop", "short", 503, 500, 429, "whole"] + ["stall"] * (len(hurt) % 9 == 0)))
                return hurt[-1]
            return None

        s.server.fault = fault
        c.same(values(sd.TFRecordDataset(urls)), list(range(6000)))
        c.true(len({str(h) for h in hurt}) >= 6, f"{len(hurt)} faults")


def test_what_is_there_stays():
    with Served(retries=1, connections=1) as s:
        url = s.records("a.tfrecord", 0, 2000)
        size = len(s.server.objects["/a.tfrecord"])
        s.server.fault = lambda method, path, start: 503 if start > size // 2 else None
        c.raises(sd.errors.UnavailableError, lambda: list(sd.TFRecordDataset(url)), "failed 2 times", "a.tfrecord")
        s.server.fault, before = lambda *_: None, s.server.sent
        c.same(values(sd.TFRecordDataset(url)), list(range(2000)))
        c.true(s.server.sent - before < size * 0.6, f"{s.server.sent - before} of {size} bytes again")


def test_refusals():
    with Served() as s:
        url = s.records("a.tfrecord", 0)
        c.raises(sd.errors.NotFoundError, lambda: list(sd.TFRecordDataset(s.server.url + "none")), "no such object")
        for status in (401, 403):
            s.server.fault, before = lambda *_: status, sum(s.server.requests.values())
            c.raises(
                sd.errors.PermissionDeniedError,
                lambda: list(sd.TFRecordDataset(url + "?key=secret")),
                "renew the credentials",
                "a.tfrecord?...",
            )
            c.true(sum(s.server.requests.values()) - before <= 2, "asked once, by HEAD and GET")
        s.server.fault = lambda *_: None
        c.raises(
            ImportError,
            lambda: sd.TFRecordDataset("gs://bucket/x") if not has("gcsfs") else need_none(),
            "pip install fsspec gcsfs",
        )
        ds = sd.TFRecordDataset([url, s.server.url + "none", url])
        it, seen = iter(ds), 0
        for _ in range(200):
            next(it)
            seen += 1
        c.raises(sd.errors.NotFoundError, lambda: next(it), "none")
        c.same(values(it), list(range(200)), "the files after it")


def has(package):
    try:
        __import__(package)
        return True
    except ImportError:
        return False


def need_none():
    raise ImportError("pip install fsspec gcsfs")


def test_changes():
    with Served(connections=1) as s:
        url = s.records("a.tfrecord", 0)
        path, old = "/a.tfrecord", s.server.objects["/a.tfrecord"]

        def fault(method, path, start):
            if start > len(old) // 2:
                s.server.versions[path] = 7
            return None

        s.server.fault = fault
        c.raises(
            sd.errors.DataLossError, lambda: list(sd.TFRecordDataset(url)), "changed while it was read", '"1"', '"7"'
        )
        s.server.fault = lambda *_: None
        c.raises(
            sd.errors.FailedPreconditionError, lambda: list(sd.TFRecordDataset(url)), "changed since", "remote.forget"
        )
        sd.remote.forget(url)
        c.same(values(sd.TFRecordDataset(url)), list(range(200)))
        s.server.versions[path] += 1
        c.raises(sd.errors.FailedPreconditionError, lambda: list(sd.TFRecordDataset(url)), "changed since")


def used(folder):
    return sum(os.lstat(os.path.join(folder, n)).st_size for n in os.listdir(folder))


def test_size_of_the_cache():
    with Served(cache_bytes=600_000, ahead=1) as s:
        urls = [s.server.put(f"{k}.bin", bytes([k]) * 100_000) for k in range(12)]
        ds, most = sd.FixedLengthRecordDataset(urls, 1000), 0
        for k, v in enumerate(ds):
            c.same(v, bytes([k // 100]) * 1000)
            most = max(most, used(s.cache)) if k % 50 == 0 else most
        c.true(most <= 600_000, f"{most} bytes")
        large = s.server.put("large.bin", bytes(700_000))
        c.raises(
            sd.errors.ResourceExhaustedError, lambda: list(sd.FixedLengthRecordDataset(large, 1000)), "cache_bytes"
        )


def test_links():
    with Served() as s:
        url = s.records("a.tfrecord", 0)
        target = s.local("target", b"mine")
        copy = sd.remote.fetch(url)
        c.true(not os.stat(copy).st_mode & 0o077, "for the user alone")
        os.unlink(copy)
        os.symlink(target, copy)
        c.raises(sd.errors.PermissionDeniedError, lambda: sd.remote.fetch(url), "remove it from the cache")
        other = os.path.join(s.folder, "other")
        os.symlink(s.folder, other)
        sd.remote.configure(cache=other)
        c.raises(sd.errors.PermissionDeniedError, lambda: sd.remote.fetch(url), "a link or no folder")
        shared = os.path.join(s.folder, "shared")
        os.mkdir(shared)
        os.chmod(shared, 0o777)
        sd.remote.configure(cache=shared)
        c.raises(sd.errors.PermissionDeniedError, lambda: sd.remote.fetch(url), "writable only by you")
        with open(target, "rb") as f:
            c.same(f.read(), b"mine")


CHILD = """
import sys
import stoker.data as sd
cache, steps, *urls = sys.argv[1:]
sd.remote.configure(cache=cache, block_bytes=4096, connections=2)
it = iter(sd.TFRecordDataset(urls).batch(10))
for k, batch in zip(range(int(steps)), it):
    print(int(batch[0].split()[0]), flush=True)
"""


def test_kill_and_resume():
    """A process that is killed while it copies; another goes on with what is there, and with the elements."""
    with Served() as s:
        urls = [s.records(f"{k}.tfrecord", 1000 * k, 1000) for k in range(3)]
        total = sum(len(v) for v in s.server.objects.values())
        s.server.latency = 0.02
        child = subprocess.Popen([sys.executable, "-c", CHILD, s.cache, "1000", *urls], stdout=subprocess.PIPE)
        while s.server.sent < total // 3:
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        child.wait()
        s.server.latency, before = 0, s.server.sent
        out = subprocess.run(
            [sys.executable, "-c", CHILD, s.cache, "1000", *urls], stdout=subprocess.PIPE, check=True
        ).stdout
        c.same([int(v) for v in out.split()], list(range(0, 3000, 10)))
        c.true(s.server.sent - before < total, f"{s.server.sent - before} of {total} bytes again")
        it = iter(sd.TFRecordDataset(urls).batch(10))
        for _ in range(137):
            next(it)
        state = it.state()
        again = list(sd.TFRecordDataset(urls).batch(10).iterator(state=state))
        c.same(values(np.concatenate(again)), values(np.concatenate(list(it))))


def test_interrupt():
    """Ctrl-C while an object is waited for ends the loop at once."""
    with Served(timeout=60) as s:
        url = s.records("a.tfrecord", 0)
        s.server.latency = 30
        code = f"import stoker.data as sd\nsd.remote.configure(cache={s.cache!r})\nprint('on', flush=True)\nlist(sd.TFRecordDataset({url!r}))\n"
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        child.stdout.readline()
        time.sleep(1.5)
        start = time.monotonic()
        child.send_signal(signal.SIGINT)
        try:
            child.communicate(timeout=15)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
        c.true(time.monotonic() - start < 10, f"{time.monotonic() - start:.1f} s")
        s.server.latency = 0


def test_s3():
    try:
        import s3fs  # noqa: F401
        from moto.server import ThreadedMotoServer
    except ImportError as e:
        c.skip(f"{e.name} is not installed: pip install s3fs 'moto[server]'")
        return
    os.environ.update(AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret", AWS_DEFAULT_REGION="us-east-1")
    moto = ThreadedMotoServer(port=0)
    moto.start()
    host, port = moto.get_host_and_port()
    end = f"http://127.0.0.1:{port}"
    with Served(block_bytes=65536, storage_options={"s3": {"endpoint_url": end}}) as s:
        fs = fsspec.filesystem("s3", endpoint_url=end)
        fs.mkdir("shelf")
        for k in range(3):
            s.records(f"{k}.tfrecord", 1000 * k, 1000)
            fs.put(os.path.join(s.folder, f"{k}.tfrecord"), f"shelf/{k}.tfrecord")
        names = [f"s3://shelf/{k}.tfrecord" for k in range(3)]
        c.same(values(sd.TFRecordDataset(names)), list(range(3000)))
        listed = sd.Dataset.list_files("s3://shelf/*.tfrecord", shuffle=False)
        c.same([n.decode() for n in listed], names)
        c.same(sd.remote.glob("s3://shelf/[12]*"), names[1:])
        c.same(values(sd.TFRecordDataset(names[:1])), list(range(1000)), "from the cache")
        fs.put(os.path.join(s.folder, "1.tfrecord"), "shelf/0.tfrecord")
        c.raises(sd.errors.FailedPreconditionError, lambda: list(sd.TFRecordDataset(names[:1])), "changed since")
        c.raises(sd.errors.NotFoundError, lambda: list(sd.TFRecordDataset("s3://shelf/none")), "no such object")
        s.server.fault = lambda *_: 400
        for name in ("shelf", "shelf/1.tfrecord"):
            s.server.put(name, b"x")
        sd.remote.configure(storage_options={"s3": {"endpoint_url": s.server.url.rstrip("/")}})
        c.raises(sd.errors.PermissionDeniedError, lambda: list(sd.TFRecordDataset(names[1])), "renew the credentials")
    moto.stop()


if fsspec:
    c.main(globals())
else:
    c.main({})
