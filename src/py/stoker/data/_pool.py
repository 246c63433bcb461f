# SPDX-License-Identifier: Apache-2.0
"""map(processes=N): a Python function in worker processes.

Workers are forked when the dataset is made, so that they know the function and whatever it refers
to as it is then. Arrays go to and fro in shared memory (one area for each worker and direction),
everything else through a socket. Workers end when the dataset and its iterators are gone; those
that hang are killed a moment later. A worker that died, or was killed since it took longer than
`timeout` seconds for an element, is not replaced: the others go on.
"""

import mmap
import os
import pickle
import queue
import signal
import socket
import struct
import time
import traceback

import numpy as np

from . import _dtypes, _function, _spec, _trace
from .errors import InvalidArgumentError, UnknownError

_ALIGN = 64
_FAREWELL_S = 0.5  # for workers to end by themselves


class _RemoteTraceback(Exception):
    """The traceback in the worker, as text; shown as the exception's cause."""

    def __str__(self):
        return "\n" + self.args[0]


class _Area:
    """Shared memory that both sides map, and map anew where it has grown."""

    def __init__(self):
        self.fd = os.memfd_create("stoker.data")
        self.size, self.map = 0, None

    def at_least(self, size):
        if size > self.size:
            if os.fstat(self.fd).st_size < size:
                os.ftruncate(self.fd, 1 << max(size - 1, 1 << 16).bit_length())
            self.map = mmap.mmap(self.fd, 0)  # views keep the old one
            self.size = len(self.map)
        return self.map

    def write(self, values):
        """Puts arrays into the area; what tells the other side how to find them."""
        plan, end = [], 0
        for v in values:
            a = np.asarray(v)
            if a.dtype.kind in "OSUV":
                plan.append((None, v))
                continue
            plan.append(((a.dtype.str, a.shape, end), a))
            end += -(-a.nbytes // _ALIGN) * _ALIGN
        view = self.at_least(end) if end else None
        for where, a in plan:
            if where is not None and a.nbytes:
                np.frombuffer(view, a.dtype, a.size, where[2])[:] = a.ravel()
        return end, [(where, None if where else v) for where, v in plan]

    def read(self, message):
        end, plan = message
        view = self.at_least(end) if end else None
        return [self._array(view, *where) if where else v for where, v in plan]

    @staticmethod
    def _array(view, dtype, shape, start):
        count = int(np.prod(shape, dtype=np.int64))
        if count == 0:
            return np.zeros(shape, dtype)
        return np.frombuffer(view, dtype, count, start).reshape(shape)

    def close(self):
        os.close(self.fd)


def _send(sock, message):
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    sock.sendall(struct.pack("<Q", len(data)) + data)


def _receive(sock):
    head = _exactly(sock, 8)
    return pickle.loads(_exactly(sock, struct.unpack("<Q", head)[0]))


def _exactly(sock, n):
    parts = []
    while n:
        part = sock.recv(min(n, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        n -= len(part)
    return b"".join(parts)


class _Worker:
    """One process. call() gives it the components of an element and takes the result's."""

    def __init__(self, function, others, timeout):
        self.to, self.back = _Area(), _Area()
        self.sock, theirs = socket.socketpair()
        self.sock.settimeout(timeout)
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.sock.close()
                for other in others:  # else those would not see their end
                    other.sock.close()
                self._serve(theirs, function)
            finally:
                os._exit(0)
        theirs.close()

    def _serve(self, sock, function):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        np.random.seed(int.from_bytes(os.urandom(4), "little"))
        while True:
            try:
                message = _receive(sock)
            except (EOFError, OSError):
                return
            try:
                answer = ("ok", self.back.write(function(*self.to.read(message))))
            except BaseException as e:
                answer = ("error", _portable(e), traceback.format_exc())
            _send(sock, answer)

    def call(self, parts):
        _send(self.sock, self.to.write(parts))
        answer = _receive(self.sock)
        if answer[0] == "error":
            raise answer[1] from _RemoteTraceback(answer[2])
        return [np.array(v) if isinstance(v, np.ndarray) else v for v in self.back.read(answer[1])]

    def has_ended(self):
        try:
            return os.waitpid(self.pid, os.WNOHANG)[0] != 0
        except ChildProcessError:
            return True

    def kill(self):
        """Ends it, whatever it does; its process is waited for."""
        if not self.has_ended():
            os.kill(self.pid, signal.SIGKILL)
            try:
                os.waitpid(self.pid, 0)
            except ChildProcessError:
                pass

    def close(self):
        self.sock.close()
        self.to.close()
        self.back.close()


def _portable(e):
    try:
        pickle.loads(pickle.dumps(e))
        return e
    except Exception:
        return RuntimeError(f"{type(e).__name__}: {e}")


class Pool:
    """Worker processes for one function over components; each call takes a free one."""

    def __init__(self, function, count, timeout=None):
        self.owner, self.workers, self.free = os.getpid(), [], queue.SimpleQueue()
        self.timeout = timeout
        for _ in range(count):
            self.workers.append(_Worker(function, self.workers, timeout))
            self.free.put(self.workers[-1])
        self.alive = count

    def __call__(self, *parts):
        worker = self.free.get()
        if worker is None:
            self.free.put(None)
            raise UnknownError("all worker processes have died")
        try:
            out = worker.call(parts)
        except socket.timeout as e:
            worker.kill()
            self.lose()
            raise UnknownError(
                f"the function took longer than {self.timeout:g} s; its worker process "
                f"(pid {worker.pid}) was killed, {self.alive} are left"
            ) from e
        except (EOFError, OSError) as e:
            worker.kill()
            self.lose()
            raise UnknownError(
                f"a worker process (pid {worker.pid}) died, {self.alive} are left"
            ) from e
        except BaseException:
            self.free.put(worker)
            raise
        self.free.put(worker)
        return out

    def lose(self):
        self.alive -= 1
        if self.alive == 0:
            self.free.put(None)

    def __del__(self):
        if os.getpid() != self.owner:
            return
        for w in self.workers:
            w.close()
        end = time.monotonic() + _FAREWELL_S
        left = [w for w in self.workers if not w.has_ended()]
        while left and time.monotonic() < end:
            time.sleep(0.001)
            left = [w for w in left if not w.has_ended()]
        for w in left:
            w.kill()


def mapped(dataset, f, processes, deterministic, timeout):
    """dataset.map(f, processes=processes, timeout=timeout)."""
    from . import _arguments
    from ._dataset import Dataset

    n = _arguments.count(processes, "processes", 1)
    if timeout is not None and not float(timeout) > 0:
        raise InvalidArgumentError(f"timeout is positive, in seconds, not {timeout!r}")
    if not hasattr(os, "memfd_create"):
        raise NotImplementedError("map(processes=) needs Linux")
    if dataset._engine is None:
        raise InvalidArgumentError("map(processes=) inside of a traced function is not possible")
    spec = dataset.element_spec
    name = f"map {_trace.name_of(f)}"

    def leaves(*parts):
        """In the worker: components of the result."""
        with _trace.eager():
            result = f(*_function.arguments(spec, [_scalar(p) for p in parts]))
            if isinstance(result, list):
                result = tuple(result)
            return [_dtypes.array(v) for v in _spec.flatten(result)]

    def structure(*parts):
        with _trace.eager():
            result = f(*_function.arguments(spec, [_scalar(p) for p in parts]))
        result = tuple(result) if isinstance(result, list) else result

        def leaf(v):
            a = _dtypes.array(v)
            return _spec.TensorSpec((None,) * a.ndim, a.dtype)

        return _spec.map_structure(leaf, result)

    probe = Pool(lambda *parts: [pickle.dumps(structure(*parts))], 1)
    out_spec = pickle.loads(probe(*dataset._sample()[0])[0])
    pool = Pool(leaves, n, timeout)

    def call(*parts):
        return _function.result_parts(_spec_pack(out_spec, pool(*parts)), out_spec)

    host = _function.Host(call)
    engine_specs = _spec.engine_specs(spec)
    graph = _trace.Graph(engine_specs, name)
    numbers = _function.add_host_call(graph, host, list(range(len(engine_specs))), out_spec)
    fn = _function.Function(graph.finish(numbers), out_spec, name, f"in {n} processes", [], [host])
    args = dict(_arguments.parallel(n, deterministic), fn=fn.fn)
    return Dataset._make("map", [dataset], args, out_spec, [host, pool], [], fn)


def _scalar(v):
    return v[()] if isinstance(v, np.ndarray) and v.ndim == 0 else v


def _spec_pack(spec, parts):
    it = iter(parts)
    return _spec.map_structure(lambda _: next(it), spec)
