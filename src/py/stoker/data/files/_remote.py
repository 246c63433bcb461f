# SPDX-License-Identifier: Apache-2.0
"""Objects in remote stores, through the package fsspec: each is copied to the cache in blocks, several at once, and the
engine reads the copy. While a file is read, the next ones are copied.

Only stores named by the user are contacted: for an object's size and version, for its blocks, and for its version
again. Transient failures (a connection that breaks or stalls, a short answer, 429 and 5xx) are retried with growing
pauses; a missing object and rejected credentials aren't. An object's version (ETag or similar) is kept for this
process: a different one later, or between two blocks, is an error.

Limits. Reading an object starts when it is complete. For a store without versions, only the size is compared. The time
limit of a block applies to fsspec's asynchronous file systems (s3, gs, az, http, hf)."""

import concurrent.futures
import hashlib
import importlib
import os
import queue
import random
import re
import threading
import time

import numpy as np

from ..core import _arguments, _dtypes
from ..core._arguments import scheme_of
from ..core._function import numpy_function
from ..core._spec import TensorSpec
from ..core._value import Value
from ..errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    UnavailableError,
)
from ._cache import Cache

# packages that fsspec needs for a scheme
PACKAGES = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "az": "adlfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
    "hf": "huggingface_hub",
    "http": "aiohttp",
    "https": "aiohttp",
}
PAUSE, PAUSE_MOST = 0.2, 10.0  # seconds before the first retry, and before any
WHOLE_MOST = 1 << 30  # most bytes of an object that a store can only return whole
ANOTHER = 600  # seconds that another process may take for an object


def need(scheme):
    """fsspec, and what it needs for the scheme. ImportError: one isn't installed."""
    names = ["fsspec"] + ([PACKAGES[scheme]] if scheme in PACKAGES else [])
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as e:
            raise ImportError(f"{scheme}:// paths need the package {name}: pip install {' '.join(names)}") from e
    return importlib.import_module("fsspec")


class Settings:
    """The settings of remote.configure."""

    def __init__(self):
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        self.cache = os.environ.get("STOKER_DATA_CACHE") or os.path.join(base, "stoker", "remote")
        self.cache_bytes = 10 << 30
        self.block_bytes = 8 << 20
        self.connections = 8
        self.ahead = 4
        self.timeout = 30.0
        self.retries = 5
        self.storage_options = {}


def _version(info):
    """Text that changes when the object does."""
    for key in ("ETag", "etag", "generation", "blob_id", "md5Hash", "content_md5", "Content-MD5", "VersionId"):
        if info.get(key):
            return f"{key} {info[key]}"
    for key in ("LastModified", "last_modified", "Last-Modified", "mtime", "updated", "created"):
        if info.get(key):
            return f"{key} {info[key]}, {info.get('size')} bytes"
    return f"{info.get('size')} bytes"


def shown(url):
    """A name for messages, without parts that may be secret (user and password, a signed query)."""
    return re.sub(r"\?.*", "?...", re.sub(r"(://)[^/@]*@", r"\1", url), count=1, flags=re.S)


def _status(e):
    """The HTTP status in an exception, or None."""
    response = getattr(e, "response", None)
    if isinstance(response, dict):  # botocore's
        return (response.get("ResponseMetadata") or {}).get("HTTPStatusCode")
    return getattr(e, "status", None) or getattr(response, "status_code", None)


_DENIED = re.compile(
    "credential|expired|access denied|accessdenied|forbidden|unauthorized|invalidaccesskey|signature", re.I
)


def _final(url, e):
    """The error of a permanent failure; None: it may be transient."""
    if isinstance(e, OpError):
        return e
    if isinstance(e, FileNotFoundError) and isinstance(e.__cause__, Exception):
        e = e.__cause__  # fsspec's HTTP wraps every failure to ask for a size
    status = _status(e) or (_status(e.__cause__) if e.__cause__ else None)
    text = (str(e) or type(e).__name__).replace(url, shown(url))
    url = shown(url)
    if isinstance(e, FileNotFoundError) or status == 404:
        return NotFoundError(f"{url}: no such object")
    if (
        isinstance(e, PermissionError)
        or status in (401, 403)
        or "Credential" in type(e).__name__
        or (status == 400 and (_DENIED.search(text) or url.startswith("s3")))
    ):
        return PermissionDeniedError(
            f"{url}: the store refuses it: {text}; renew the credentials, or give them to remote.configure(storage_options=...)"
        )
    if isinstance(e, ImportError):
        return e
    if (
        (status is not None and status < 500 and status not in (408, 425, 429))
        or isinstance(e, (TypeError, ValueError))
        and not isinstance(e, OSError)
    ):
        return InvalidArgumentError(f"{url}: {text}")
    return None


class _Short(OSError):
    """The answer is shorter than requested."""


class _Threads:
    """Runs calls on several threads that don't keep the interpreter from exiting, unlike an executor's."""

    def __init__(self, count, name):
        self._queue = queue.SimpleQueue()
        for _ in range(count):
            threading.Thread(target=self._work, name=name, daemon=True).start()

    def _work(self):
        while True:
            future, f, args = self._queue.get()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(f(*args))
                except BaseException as e:
                    future.set_exception(e)
            del future, f, args

    def submit(self, f, *args):
        """The Future of f(*args)."""
        future = concurrent.futures.Future()
        self._queue.put((future, f, args))
        return future


class Remote:
    """Connections, cache and known versions of one process."""

    def __init__(self, settings):
        self.settings, self.pid = settings, os.getpid()
        self._lock = threading.Lock()
        self._cache = None
        self._under_way = {}  # url -> Future
        self._versions = {}  # url -> first version read
        self._objects = _Threads(settings.ahead + 1, "stoker-remote")
        self._blocks = _Threads(settings.connections, "stoker-block")

    def cache(self):
        """Created on first use."""
        with self._lock:
            if self._cache is None:
                self._cache = Cache(self.settings.cache, self.settings.cache_bytes)
            return self._cache

    def start(self, url):
        """The Future of the path of a copy."""
        with self._lock:
            future = self._under_way.get(url)
            if future is None:
                future = self._under_way[url] = self._objects.submit(self._copy, url)
                future.add_done_callback(lambda f: self._end(url, f))
            return future

    def _end(self, url, future):
        with self._lock:
            if self._under_way.get(url) is future:
                del self._under_way[url]

    def forget(self, url):
        """Forgets the known version: the next one read becomes it."""
        with self._lock:
            self._versions.pop(url, None)

    def open(self, url):
        """(file system, the object's path in it)"""
        scheme = scheme_of(url)
        options = self.settings.storage_options
        fsspec = need(scheme)
        return fsspec.core.url_to_fs(url, **options.get(scheme, {}))

    def call(self, fs, method, path, **more):
        """Calls a method of a file system, within the time limit."""
        if not getattr(fs, "async_impl", False):
            return getattr(fs, method)(path, **more)

        import asyncio  # 20 ms, only for those who read from a store

        async def limited():
            return await asyncio.wait_for(getattr(fs, "_" + method)(path, **more), self.settings.timeout)

        return importlib.import_module("fsspec.asyn").sync(fs.loop, limited)

    def repeat(self, url, what, f):
        """f(), retried after transient failures."""
        for attempt in range(self.settings.retries + 1):
            try:
                return f()
            except Exception as e:
                final = _final(url, e)
                if final is not None:
                    raise final from (None if final is e else e)
                if attempt == self.settings.retries:
                    stalled = type(e).__name__ == "TimeoutError"  # before Python 3.11 asyncio has its own
                    why = f"no answer within {self.settings.timeout:g} s" if stalled else f"{type(e).__name__}: {e}"
                    raise UnavailableError(
                        f"{shown(url)}: {what} failed {attempt + 1} times; the last time: {why.replace(url, shown(url))}. The parts already read stay in the cache"
                    ) from e
                time.sleep(min(PAUSE * 2**attempt, PAUSE_MOST) * (0.5 + random.random()))
        raise AssertionError("retries is 0 or more")

    def _look(self, fs, path, url):
        info = self.repeat(url, "asking for the object's size", lambda: self.call(fs, "info", path))
        if info.get("type") == "directory":
            raise InvalidArgumentError(f"{shown(url)}: a folder, not an object; remote.glob(pattern) lists objects")
        if info.get("size") is None:
            raise InvalidArgumentError(
                f"{shown(url)}: the server does not tell the object's size; copy it, and name the copy"
            )
        return int(info["size"]), _version(info), info.get("partial", True) is not False

    def _known(self, url, version):
        with self._lock:
            first = self._versions.setdefault(url, version)
        if first != version:
            raise FailedPreconditionError(
                f"{shown(url)}: the object changed since this process read it first (then {first}, now {version}); remote.forget(name) accepts the new one, from the start of an epoch"
            )

    def _copy(self, url):
        while True:
            path = self._copy_once(url)
            if path:  # otherwise it was removed at once, for lack of space
                return path

    def _copy_once(self, url):
        """The path of a complete copy, or None."""
        fs, path = self.open(url)
        size, version, in_parts = self._look(fs, path, url)
        self._known(url, version)
        name = copy_name(url, version)
        cache = self.cache()
        found = cache.find(name, size)
        if found:
            return found
        if not in_parts and size > WHOLE_MOST:
            raise InvalidArgumentError(
                f"{shown(url)}: the server gives {size} bytes only as a whole (no ranges); copy it, and name the copy"
            )
        part = cache.part(name, size, self.settings.block_bytes if in_parts else max(size, 1), ANOTHER)
        if part is None:
            return cache.find(name, size)
        try:
            self._fill(fs, path, url, part)
            again = self._look(fs, path, url)[1]
            if again != version:
                part.drop()
                raise DataLossError(
                    f"{shown(url)}: the object changed while it was read (first {version}, then {again}); start again when it no longer changes"
                )
            return part.finish()
        finally:
            part.close()

    def _fill(self, fs, path, url, part):
        def block(start, end):
            def get():
                data = self.call(fs, "cat_file", path, start=start, end=end)
                if len(data) == part.size and end - start < part.size:
                    data = data[start:end]  # the server doesn't support ranges
                if len(data) != end - start:
                    raise _Short(f"bytes {start} to {end}: got {len(data)}")
                return data

            part.put(start, self.repeat(url, f"reading bytes {start} to {end}", get))

        waiting = [self._blocks.submit(block, a, b) for a, b in part.missing()]
        try:
            for f in concurrent.futures.as_completed(waiting):
                f.result()
        finally:
            for f in waiting:
                f.cancel()
            concurrent.futures.wait(waiting)


def copy_name(url, version):
    """Name of a copy: ends with the object's own name, as engine messages show it."""

    def short(text):
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    last = re.sub(r"[^A-Za-z0-9._-]", "_", url.split("?")[0].rstrip("/").rpartition("/")[2])[-100:]
    return f"{short(url)}-{short(version)}-{last}"


settings = Settings()
_remote = None
_lock = threading.Lock()


def _after_fork():
    """A forked child doesn't have its parent's threads and locks."""
    global _remote, _lock
    _remote, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def remote():
    """The process's Remote."""
    global _remote
    with _lock:
        if _remote is None or _remote.settings is not settings:
            _remote = Remote(settings)
        return _remote


def configure(new):
    """Changes settings from now on."""
    global settings
    settings = new


class Fetch:
    """Maps names to paths of local copies, in a pipeline. names: in the order in which they will be requested, so that
    the next ones can be copied meanwhile. A pickle contains no credentials."""

    def __init__(self, names=()):
        self.names = [os.fsdecode(n) for n in names]
        self._places = {n: i for i, n in enumerate(self.names)}

    def __call__(self, name):
        name = os.fsdecode(name)
        if scheme_of(name) is None:
            return os.fsencode(name)
        r = remote()
        mine = r.start(name)
        at = self._places.get(name)
        for following in self.names[at + 1 : at + 1 + r.settings.ahead] if at is not None else ():
            if scheme_of(following):
                r.start(following)
        return os.fsencode(mine.result())


def fetch(name, following=()):
    """The path of an object's local copy: text, or a symbolic value for a symbolic name."""
    if isinstance(name, Value):
        return numpy_function(Fetch(following), [name], TensorSpec((), _dtypes.string))
    if isinstance(name, np.ndarray) and name.ndim == 0:
        name = name[()]
    return os.fsdecode(Fetch(following)(os.fspath(name)))


def glob(pattern):
    """Sorted names of the objects that match."""
    pattern = os.fsdecode(pattern)
    if scheme_of(pattern) is None:
        raise InvalidArgumentError(
            f"{pattern}: not a remote name (s3://bucket/...); Dataset.list_files takes local patterns"
        )
    r = remote()
    fs, path = r.open(pattern)
    found = r.repeat(pattern, "listing", lambda: r.call(fs, "glob", path))
    return sorted(fs.unstrip_protocol(p) for p in found)


_arguments.remote_glob = glob
