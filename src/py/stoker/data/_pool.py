# SPDX-License-Identifier: Apache-2.0
"""map(processes=N): a Python function in worker processes.

Workers know the function and whatever it refers to as it was when the dataset was made: then a
nursery is forked, a process without threads that forks the workers, and those that replace them.
Arrays go to and fro in shared memory (one area for each worker and direction), everything else
through a socket. All of them end when the dataset and its iterators are gone, or this process is;
those that hang are killed a moment later.

A worker that died, or was killed since it took longer than `timeout` seconds for an element, makes
that element an error that says how it ended, and is replaced; but after DEATHS_MAX deaths without an
element finished in between no more are started.
"""

import atexit
import mmap
import os
import pickle
import queue
import signal
import socket
import struct
import sys
import threading
import time
import traceback
import weakref

import numpy as np

from . import _dtypes, _function, _spec, _trace
from .errors import InvalidArgumentError, UnknownError

_ALIGN = 64
_FAREWELL_S = 0.5  # for workers to end by themselves
_DYING_S = 1.0  # for a worker whose connection has closed to end
_LEAVING = "the program is ending, and its worker processes with it"
DEATHS_MAX = 16  # in a row, of a pool's workers
PROBES_MAX = 4  # elements that are tried to learn what a function gives

_open_sockets = weakref.WeakSet()  # this process' ends: workers that keep them never see their end
_pools = weakref.WeakSet()
_ended = []  # nurseries that are told to end, not waited for yet


class _RemoteTraceback(Exception):
    """The traceback in the worker, as text; shown as the exception's cause."""

    def __str__(self):
        return "\n" + self.args[0]


class _Area:
    """Shared memory that both sides map, and map anew where it has grown."""

    def __init__(self, fd=None):
        self.fd = os.memfd_create("stoker.data") if fd is None else fd
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


def _flush():
    """What a fork would copy and write twice, or os._exit lose."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass


def _serve(sock, to, back, function):
    """A worker's life: elements until nobody asks any more."""
    np.random.seed(int.from_bytes(os.urandom(4), "little"))
    while True:
        try:
            message = _receive(sock)
        except (EOFError, OSError):
            return
        try:
            answer = ("ok", back.write(function(*to.read(message))))
        except BaseException as e:
            answer = ("error", _portable(e), traceback.format_exc())
        _flush()
        _send(sock, answer)


def _has_ended(pid):
    try:
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:  # somebody else waited for it
        return True


class _Nursery:
    """The process that forks workers. Requests and answers are single packets."""

    def __init__(self, functions):
        _ended[:] = [pid for pid in _ended if not _has_ended(pid)]
        self.lock = threading.Lock()
        self.sock, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        _flush()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.sock.close()
                for s in list(_open_sockets):
                    s.close()
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                self._tend(theirs, functions)
            finally:
                os._exit(0)
        theirs.close()
        _open_sockets.add(self.sock)

    def _tend(self, sock, functions):
        children = set()
        while True:
            data, fds, _, _ = socket.recv_fds(sock, 4096, 3)
            if not data:
                break
            order, what = pickle.loads(data)
            if order == "end":
                answer = self._end_of(what)
                children.discard(what)
            else:
                try:
                    answer = os.fork()
                except OSError as e:
                    answer = str(e)
                if answer == 0:
                    sock.close()
                    line = socket.socket(fileno=fds[0])
                    return _serve(line, _Area(fds[1]), _Area(fds[2]), functions[what])
                children.add(answer)
                for fd in fds:
                    os.close(fd)
            sock.send(pickle.dumps(answer))
        end = time.monotonic() + _FAREWELL_S
        while children:
            for pid in list(children):
                if time.monotonic() > end:
                    os.kill(pid, signal.SIGKILL)
                if os.waitpid(pid, os.WNOHANG if time.monotonic() <= end else 0)[0]:
                    children.discard(pid)
            time.sleep(0.001)

    @staticmethod
    def _end_of(pid):
        """How a worker ended, as wait has it; None: it did not, and is killed now."""
        end = time.monotonic() + _DYING_S
        while time.monotonic() < end:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return status
            time.sleep(0.001)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return None

    def ask(self, order, what, fds=()):
        with self.lock:
            socket.send_fds(self.sock, [pickle.dumps((order, what))], fds)
            data = self.sock.recv(4096)
        if not data:
            raise EOFError
        return pickle.loads(data)

    def close(self):
        self.sock.close()
        _ended.append(self.pid)


class _Worker:
    """One process. exchange() gives it the components of an element and takes the result's."""

    def __init__(self, nursery, function, timeout):
        self.to, self.back = _Area(), _Area()
        self.sock, theirs = socket.socketpair()
        self.sock.settimeout(timeout)
        _open_sockets.add(self.sock)
        try:
            fds = [theirs.fileno(), self.to.fd, self.back.fd]
            self.pid = nursery.ask("start", function, fds)
            if not isinstance(self.pid, int):
                raise OSError(self.pid)
        except BaseException:
            self.close()
            raise
        finally:
            theirs.close()

    def exchange(self, message):
        _send(self.sock, message)
        return _receive(self.sock)

    def results(self, answer):
        if answer[0] == "error":
            raise answer[1] from _RemoteTraceback(answer[2])
        return [np.array(v) if isinstance(v, np.ndarray) else v for v in self.back.read(answer[1])]

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


def _manner(status):
    """How a process ended, in words."""
    if status is None:
        return "closed its connection and was killed"
    if not os.WIFSIGNALED(status):
        return f"ended with exit code {os.WEXITSTATUS(status)}"
    number = os.WTERMSIG(status)
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    hint = ", as the kernel does where memory is short" if number == signal.SIGKILL else ""
    return f"was ended by {name} ({signal.strsignal(number)}{hint})"


class Pool:
    """Worker processes for one function over components; each call takes a free one."""

    def __init__(self, nursery, function, count, timeout=None):
        self.owner, self.nursery, self.function = os.getpid(), nursery, function
        self.workers, self.free = [], queue.SimpleQueue()
        self.timeout, self.lock, self.deaths = timeout, threading.Lock(), 0
        self.is_ending = False
        _pools.add(self)
        for _ in range(count):
            self.start()

    def start(self):
        self.workers.append(_Worker(self.nursery, self.function, self.timeout))
        self.free.put(self.workers[-1])

    def __call__(self, *parts):
        if os.getpid() != self.owner:
            raise UnknownError(
                "the worker processes are another process', which forked this one; make the dataset "
                "in this one"
            )
        worker = self.free.get()
        if worker is None:
            self.free.put(None)
            raise UnknownError(_LEAVING if self.is_ending else "all worker processes have died")
        try:
            message = worker.to.write(parts)
        except BaseException:
            self.free.put(worker)
            raise
        try:
            answer = worker.exchange(message)
        except socket.timeout as e:
            os.kill(worker.pid, signal.SIGKILL)
            what = f"was killed: the function took longer than {self.timeout:g} s for this element"
            raise UnknownError(self.lose(worker, what)) from e
        except BaseException as e:
            raise UnknownError(self.lose(worker)) from e
        self.deaths = 0
        try:
            return worker.results(answer)
        finally:
            self.free.put(worker)

    def lose(self, worker, what=None):
        """Sees to a worker that does not answer, and puts another in its place; all that in words."""
        if self.is_ending:
            return _LEAVING
        try:
            status = self.nursery.ask("end", worker.pid)
            manner = _manner(status)
        except (EOFError, OSError):
            manner = "died"
        with self.lock:
            self.deaths += 1
            self.workers.remove(worker)
            worker.close()
            try:
                if self.deaths > DEATHS_MAX:
                    raise OSError(f"{self.deaths} died without finishing an element")
                self.start()
                then = "another one has taken its place"
            except (EOFError, OSError) as e:
                why = str(e) or "the process that starts them has died"
                then = f"no other one is started: {why}; {len(self.workers)} are left"
                if not self.workers:
                    self.free.put(None)
        return f"a worker process (pid {worker.pid}) {what or manner}; {then}"

    def interrupt(self):
        """Wakes who waits for a worker, which may hang."""
        self.is_ending = True
        self.free.put(None)
        for w in self.workers:
            w.sock.shutdown(socket.SHUT_RDWR)

    def __del__(self):
        if os.getpid() == self.owner:
            for w in self.workers:
                w.close()
            self.nursery.close()


@atexit.register
def _leave():
    """Before the engine waits for its threads, which may wait for workers."""
    for pool in list(_pools):
        if pool.owner == os.getpid():
            pool.interrupt()


class _Work:
    """What a worker process does with the components of an element of that spec."""

    def __init__(self, f, spec):
        self.f, self.spec = f, spec

    def orders(self):
        return {"structure": self.pickled_structure, "leaves": self.leaves}

    def leaves(self, *parts):
        """Components of the result."""
        with _trace.eager():
            result = self.f(*_function.arguments(self.spec, [_scalar(p) for p in parts]))
            if isinstance(result, list):
                result = tuple(result)
            return [_dtypes.array(v) for v in _spec.flatten(result)]

    def pickled_structure(self, *parts):
        with _trace.eager():
            result = self.f(*_function.arguments(self.spec, [_scalar(p) for p in parts]))
        result = tuple(result) if isinstance(result, list) else result

        def leaf(v):
            a = _dtypes.array(v)
            return _spec.TensorSpec((None,) * a.ndim, a.dtype)

        return [pickle.dumps(_spec.map_structure(leaf, result))]


class _Caller:
    """A function in worker processes, over components. Unpickled, it has processes of its own."""

    def __init__(self, work, out_spec, count, timeout, nursery=None):
        self.work, self.out_spec, self.count, self.timeout = work, out_spec, count, timeout
        self.pool = Pool(nursery or _Nursery(work.orders()), "leaves", count, timeout)

    def __call__(self, *parts):
        return _function.result_parts(_spec_pack(self.out_spec, self.pool(*parts)), self.out_spec)

    def __reduce__(self):
        return _Caller, (self.work, self.out_spec, self.count, self.timeout)


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

    work = _Work(f, spec)
    nursery = _Nursery(work.orders())
    out_spec = _probed(nursery, dataset, timeout)
    host = _function.Host(_Caller(work, out_spec, n, timeout, nursery))
    engine_specs = _spec.engine_specs(spec)
    graph = _trace.Graph(engine_specs, name)
    numbers = _function.add_host_call(graph, host, list(range(len(engine_specs))), out_spec)
    fn = _function.Function(graph.finish(numbers), out_spec, name, f"in {n} processes", [], [host])
    args = dict(_arguments.parallel(n, deterministic), fn=fn.fn)
    return Dataset._make("map", [dataset], args, out_spec, [host], [], fn)


def _probed(nursery, dataset, timeout):
    """The structure of the function's result, of the first element that has one: an element that
    fails is for the pipeline's policy to judge, once it runs. Where several fail, the first's error."""
    first = None
    try:
        for at in range(PROBES_MAX):
            try:
                sample = dataset._sample(at)
                if sample is None:
                    break
                return _tried(nursery, sample[0], at, timeout)
            except Exception as e:
                first = first or e
        raise first
    except BaseException:
        nursery.close()
        raise


def _tried(nursery, parts, at, timeout):
    """The same of one element, from a worker for that alone."""
    probe = _Worker(nursery, "structure", timeout)
    try:
        return pickle.loads(probe.results(probe.exchange(probe.to.write(parts)))[0])
    except socket.timeout as e:
        os.kill(probe.pid, signal.SIGKILL)
        nursery.ask("end", probe.pid)
        raise UnknownError(
            f"map: the function took longer than {timeout:g} s for element {at}, with which it was tried"
        ) from e
    except (EOFError, ConnectionError):
        manner = _manner(nursery.ask("end", probe.pid))
        raise UnknownError(
            f"map: the worker process that tried the function with element {at} {manner}"
        ) from None
    finally:
        probe.close()


def _scalar(v):
    return v[()] if isinstance(v, np.ndarray) and v.ndim == 0 else v


def _spec_pack(spec, parts):
    it = iter(parts)
    return _spec.map_structure(lambda _: next(it), spec)
