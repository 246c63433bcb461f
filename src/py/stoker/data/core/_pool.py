# SPDX-License-Identifier: Apache-2.0
"""map(processes=N): a Python function in worker processes.

Workers see the function and everything it refers to as it was when the dataset was made: at that time a nursery is
forked, a process without threads that forks the workers and their replacements. Elements are sent in chunks, sized by
the engine from measured time, through shared memory (one area for each worker and direction, _shared.py); a socket
signals them. All of them end when the dataset and its iterators are gone, or this process is; those that hang are
killed a moment later.

If a worker dies, or is killed because an element took longer than `timeout` seconds, that element becomes an error that
says how it ended, and the worker is replaced. What it had finished of its chunk counts, and the rest is requested
again. After DEATHS_MAX deaths with no element finished in between, no more are started.
"""

import atexit
import contextlib
import os
import pickle
import queue
import select
import signal
import socket
import struct
import sys
import threading
import time
import traceback
import weakref

import numpy as np

from . import _arguments, _dtypes, _function, _shared, _spec, _trace
from ..errors import InvalidArgumentError, UnknownError

_CHUNK_MAX = 1 << 20  # elements; the engine requests fewer
_FAREWELL_S = 0.5  # for workers to exit on their own
_DYING_S = 1.0  # for a worker to exit after its connection closed
_WROTE = "was killed: the function wrote to files that it didn't open, which the worker uses"
_LEAVING = "the program is ending, and its worker processes with it"
DEATHS_MAX = 16  # of a pool's workers in a row
PROBES_MAX = 4  # elements tried to learn a function's result

_open_sockets = weakref.WeakSet()  # this process's ends: workers that kept them would never see them close
_pools = weakref.WeakSet()
_ended = []  # nurseries told to exit, not waited for yet


class _RemoteTraceback(Exception):
    """The traceback in the worker, as text; shown as the exception's cause."""

    def __str__(self):
        return "\n" + self.args[0]


_STRUCTURE = _spec.TensorSpec((), "bytes")  # the result of _Work.structure


_HEAD = struct.Struct("<QQ")  # header of a message: the mark, bytes after it
_MARK = 0x6B72776B6F747331


class _Damaged(Exception):
    """A worker's message isn't from this module: the function wrote to its connection, or over the shared memory."""


def _send(sock, message):
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    sock.sendall(_HEAD.pack(_MARK, len(data)) + data)


def _receive(sock):
    mark, size = _HEAD.unpack(_exactly(sock, _HEAD.size))
    if mark != _MARK:
        raise _Damaged
    return pickle.loads(_exactly(sock, size))


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
    """What a fork would copy and write twice, or os._exit would lose."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass


def _serve(sock, to, back, work):
    """A worker's main loop: processes chunks of elements until there are no more requests."""
    np.random.seed(int.from_bytes(os.urandom(4), "little"))
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True)
    try:
        spec, is_timed = _receive(sock)
        run = _Chunks(work, _shared.Writer(back, spec), is_timed)
        while True:
            n, message = _receive(sock)
            try:
                answer = run(n, to.read(message))
            except BaseException as e:
                answer = (_portable(e), traceback.format_exc())
            _flush()
            _send(sock, answer)
    except (EOFError, OSError, _Damaged):
        return


class _Chunks:
    """Processes elements one after another, from columns into results."""

    def __init__(self, work, writer, is_timed):
        self.call, self.writer, self.is_timed = work.caller(), writer, is_timed
        if writer.spec is None:  # learn what the function returns
            self.call, writer.spec = work.structure, _STRUCTURE

    def __call__(self, n, columns):
        writer, call = self.writer, self.call
        writer.begin(n)
        with _trace.eager():
            for i in range(n):
                if self.is_timed:
                    writer.results.begin(time.monotonic_ns())
                writer.put(i, call([c[i] for c in columns]))


def _has_ended(pid):
    try:
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:  # something else waited for it
        return True


class _Nursery:
    """The process that forks workers. Requests and answers are single packets."""

    def __init__(self, work):
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
                self._tend(theirs, work)
            finally:
                os._exit(0)
        theirs.close()
        _open_sockets.add(self.sock)

    def _tend(self, sock, work):
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
                    return _serve(line, _shared.Area(fds[1]), _shared.Area(fds[2]), work)
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
        """How a worker ended, as waitpid's status; None: it hadn't, and is killed now."""
        end = time.monotonic() + _DYING_S
        while time.monotonic() < end:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return status
            time.sleep(0.001)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return None

    def ask(self, order, what=None, fds=()):
        with self.lock:
            socket.send_fds(self.sock, [pickle.dumps((order, what))], fds)
            data = self.sock.recv(4096)
        if not data:
            raise EOFError
        return pickle.loads(data)

    def close(self):
        self.sock.close()
        _ended.append(self.pid)


class _Hangs(Exception):
    """An element takes longer than the timeout."""


class _Worker:
    """One process. exchange() sends it the components of elements; results() takes its results."""

    def __init__(self, nursery, spec, timeout):
        self.to, self.back = _shared.Area(), _shared.Area()
        self.made, self.count = _shared.Results(self.back), len(_spec.components(spec or _STRUCTURE))
        self.sock, theirs = socket.socketpair()
        self.timeout_ns = None if timeout is None else int(timeout * 1e9)
        self.asked = 0  # elements in the chunk
        _open_sockets.add(self.sock)
        try:
            self.pid = nursery.ask("start", None, [theirs.fileno(), self.to.fd, self.back.fd])
            if not isinstance(self.pid, int):
                raise OSError(self.pid)
            _send(self.sock, (spec, timeout is not None))
        except BaseException:
            self.close()
            raise
        finally:
            theirs.close()

    def exchange(self, n, message):
        """None, or the error of the element after those that are done. Raises _Hangs, _Damaged, and EOFError or OSError
        if the worker is gone."""
        self.asked = n
        self.made.clear(time.monotonic_ns())
        _send(self.sock, (n, message))
        if self.timeout_ns is not None:
            self.watch()
        answer = _receive(self.sock)
        if answer is not None:
            answer[0].__cause__ = _RemoteTraceback(answer[1])
            return answer[0]
        return None

    def watch(self):
        """Waits for an answer, or until an element's time is up."""
        poll = select.poll()
        poll.register(self.sock, select.POLLIN)
        while True:
            since_ns = self.made.since_ns
            left_ns = since_ns + self.timeout_ns - time.monotonic_ns()
            if poll.poll(max(0, left_ns / 1e6)):
                return
            if self.made.since_ns == since_ns and left_ns <= 0:
                raise _Hangs

    def results(self):
        """(number of elements finished, their components). Raises _Damaged."""
        try:
            return self.made.read(self.count, self.asked)
        except Exception as e:
            raise _Damaged from e

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
    """Worker processes for one function over components, with results of the given spec; each call takes a free one."""

    def __init__(self, nursery, spec, count, timeout=None):
        self.owner, self.nursery, self.spec = os.getpid(), nursery, spec
        self.workers, self.free = [], queue.SimpleQueue()
        self.timeout, self.lock, self.deaths = timeout, threading.Lock(), 0
        self.most = _CHUNK_MAX  # elements per chunk: fewer if many fail, because the rest is sent again
        self.is_ending = False
        _pools.add(self)
        for _ in range(count):
            self.start()

    def start(self):
        self.workers.append(_Worker(self.nursery, self.spec, self.timeout))
        self.free.put(self.workers[-1])

    def __call__(self, n, *columns):
        """(how many of n elements were done, their components, the next one's error or None)."""
        if os.getpid() != self.owner:
            raise UnknownError(
                "the worker processes belong to the process that forked this one; make the dataset "
                "in this one"
            )
        worker = self.free.get()
        if worker is None:
            self.free.put(None)
            raise UnknownError(_LEAVING if self.is_ending else "all worker processes have died")
        n = min(n, self.most)
        try:
            message = worker.to.write([c[:n] for c in columns])
        except BaseException:
            self.free.put(worker)
            raise
        try:
            error = worker.exchange(n, message)
            done, results = worker.results()
        except _Hangs as e:
            hung = worker.made.done
            os.kill(worker.pid, signal.SIGKILL)
            what = f"was killed: the function took longer than {self.timeout:g} s for this element"
            done, results, error = self.lose(worker, e, what)
            error = error if done == hung else None  # that one finished meanwhile: request the next again
        except _Damaged as e:
            done, results, error = self.lose(worker, e, _WROTE)
        except BaseException as e:
            done, results, error = self.lose(worker, e)
        else:
            self.free.put(worker)
            self.deaths = 0
        self.most = min(2 * self.most, _CHUNK_MAX) if error is None else max(1, done)
        return done, results, error

    def lose(self, worker, cause, what=None):
        """Handles a worker that doesn't answer, and replaces it: returns what it had finished, and an error that
        describes all that."""
        if self.is_ending:
            return 0, [[] for _ in range(worker.count)], UnknownError(_LEAVING)
        try:
            manner = _manner(self.nursery.ask("end", worker.pid))
        except (EOFError, OSError):
            manner = "died"
        done, results = 0, [[] for _ in range(worker.count)]
        with contextlib.suppress(_Damaged):  # otherwise discard the whole chunk
            if not isinstance(cause, _Damaged):
                done, results = worker.results()
        with self.lock:
            self.deaths = 1 if done else self.deaths + 1
            self.workers.remove(worker)
            worker.close()
            try:
                if self.deaths > DEATHS_MAX:
                    raise OSError(f"{self.deaths} died without finishing an element")
                self.start()
                then = "it was replaced"
            except (EOFError, OSError) as e:
                why = str(e) or "the process that starts them has died"
                then = f"no replacement is started: {why}; {len(self.workers)} are left"
                if not self.workers:
                    self.free.put(None)
        error = UnknownError(f"a worker process (pid {worker.pid}) {what or manner}; {then}")
        error.__cause__ = cause
        return done, results, error

    def interrupt(self):
        """Wakes threads that wait for a worker, which may hang."""
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
    """Call it before the engine waits for its threads, which may wait for workers."""
    for pool in list(_pools):
        if pool.owner == os.getpid():
            pool.interrupt()


class _Work:
    """What a worker process does with an element's components of that spec."""

    def __init__(self, f, spec):
        self.f, self.spec = f, spec

    def caller(self):
        """A function of an element's components that calls f."""
        f, spec = self.f, self.spec
        if isinstance(spec, _spec.TensorSpec):
            return lambda parts: f(parts[0])
        if type(spec) is tuple and all(isinstance(s, _spec.TensorSpec) for s in spec):
            return lambda parts: f(*parts)
        return lambda parts: f(*_function.arguments(spec, parts))

    def structure(self, parts):
        """The pickled structure of f's result."""
        result = self.f(*_function.arguments(self.spec, parts))
        result = tuple(result) if isinstance(result, list) else result

        def leaf(v):
            a = _dtypes.array(v)
            return _spec.TensorSpec((None,) * a.ndim, a.dtype)

        return pickle.dumps(_spec.map_structure(leaf, result))


class _Caller:
    """A function in worker processes, over components of many elements. After unpickling, it has its own processes."""

    def __init__(self, work, out_spec, count, timeout, nursery=None):
        self.work, self.out_spec, self.count, self.timeout = work, out_spec, count, timeout
        self.pool = Pool(nursery or _Nursery(work), out_spec, count, timeout)

    def __call__(self, n, *columns):
        return self.pool(n, *columns)

    def __reduce__(self):
        return _Caller, (self.work, self.out_spec, self.count, self.timeout)


def mapped(dataset, f, processes, deterministic, timeout, sample=None):
    """dataset.map(f, processes=processes, timeout=timeout). sample: used instead of dataset._sample to get an element
    for learning f's result."""

    n = _arguments.count(processes, "processes", 1)
    if timeout is not None and not float(timeout) > 0:
        raise InvalidArgumentError(f"timeout is positive, in seconds, not {timeout!r}")
    if not hasattr(os, "memfd_create"):
        raise NotImplementedError("map(processes=) needs Linux")
    if dataset._engine is None:
        raise InvalidArgumentError("map(processes=) is not possible inside a traced function")
    spec = dataset.element_spec
    name = f"map {_trace.name_of(f)}"

    work = _Work(f, spec)
    nursery = _Nursery(work)
    out_spec = _probed(nursery, sample or dataset._sample, timeout)
    host = _function.Host(_Caller(work, out_spec, n, timeout, nursery))
    engine_specs = _spec.engine_specs(spec)
    graph = _trace.Graph(engine_specs, name)
    numbers = _function.add_host_call(graph, host, list(range(len(engine_specs))), out_spec, True)
    fn = _function.Function(graph.finish(numbers), out_spec, name, f"in {n} processes", [], [host])
    args = dict(_arguments.parallel(n, deterministic), fn=fn.fn)
    return dataset._make("map", [dataset], args, out_spec, [host], [], fn)


def _probed(nursery, sample, timeout):
    """The structure of the function's result, from the first element that has one: the pipeline's policy handles
    failing elements when it runs. If several fail, raises the first error."""
    first = None
    try:
        for at in range(PROBES_MAX):
            try:
                parts = sample(at)
                if parts is None:
                    break
                return _tried(nursery, parts[0], at, timeout)
            except Exception as e:
                first = first or e
        raise first
    except BaseException:
        nursery.close()
        raise


def _tried(nursery, parts, at, timeout):
    """The same for one element, in a separate worker."""
    probe = _Worker(nursery, None, timeout)
    try:
        error = probe.exchange(1, probe.to.write([[p] for p in parts]))
        made = probe.results()[1]
    except _Hangs as e:
        os.kill(probe.pid, signal.SIGKILL)
        nursery.ask("end", probe.pid)
        raise UnknownError(
            f"map: the function took longer than {timeout:g} s for element {at}, the one used to learn its result"
        ) from e
    except (EOFError, OSError, _Damaged) as e:
        manner = _manner(nursery.ask("end", probe.pid))
        manner = _WROTE if isinstance(e, _Damaged) else manner
        raise UnknownError(
            f"map: the worker process that tried the function with element {at} {manner}"
        ) from None
    finally:
        probe.close()
    if error is not None:
        raise error
    return pickle.loads(made[0][0])
