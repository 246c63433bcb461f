# SPDX-License-Identifier: Apache-2.0
"""Memory shared by a process and its worker (map(processes=)): passes the components of many elements one way, and
results the other.

Results are written as they are made, one element after the other, and their count last, so what a worker has finished
is available however it ends. Numbers with the type and shape of the chunk's first element go into an array of the
chunk; strings and other shapes into a log after those.
"""

import mmap
import os
import pickle
import struct

import numpy as np

from . import _function, _spec

_ALIGN = 64
_DONE, _SINCE, _PLAN, _LOG = range(4)  # words at the start: see Results
_WORDS = 64  # bytes of the words; the plan follows
_HEAD = 4096  # bytes of words and plan


def scalar(v):
    return v[()] if isinstance(v, np.ndarray) and v.ndim == 0 else v


def _aligned(size):
    return -(-size // _ALIGN) * _ALIGN


def _array(view, dtype, shape, start):
    count = int(np.prod(shape, dtype=np.int64))
    if count == 0:
        return np.zeros(shape, dtype)
    return np.frombuffer(view, dtype, count, start).reshape(shape)


class Area:
    """Shared memory that both sides map, and remap after it has grown."""

    def __init__(self, fd=None):
        self.fd = os.memfd_create("stoker.data") if fd is None else fd
        self.size, self.map = 0, None

    def at_least(self, size):
        if size > self.size:
            if os.fstat(self.fd).st_size < size:
                os.ftruncate(self.fd, 1 << max(size - 1, 1 << 16).bit_length())
            self.map = mmap.mmap(self.fd, 0)  # views keep the old one alive
            self.size = len(self.map)
        return self.map

    def write(self, columns):
        """Puts components of elements into the area, as arrays of all or lists of arrays; returns what the other side
        needs to find them."""
        plan, places, end = [], [], 0
        for c in columns:
            arrays = [np.asarray(v) for v in c] if isinstance(c, list) else [c]
            if any(a.dtype.kind in "OSUV" for a in arrays):
                plan.append((None, c))
                continue
            found = []
            for a in arrays:
                found.append((a.dtype.str, a.shape, end))
                places.append((a, end))
                end += _aligned(a.nbytes)
            plan.append((found, isinstance(c, list)))
        view = self.at_least(end) if end else None
        for a, start in places:
            if a.nbytes:
                np.frombuffer(view, a.dtype, a.size, start)[:] = a.ravel()
        return end, plan

    def read(self, message):
        """The columns written by the other side."""
        end, plan = message
        view = self.at_least(end) if end else None
        columns = []
        for found, value in plan:
            if found is None:
                columns.append(value)
            elif value:
                columns.append([scalar(_array(view, *place)) for place in found])
            else:
                columns.append(_array(view, *found[0]))
        return columns

    def close(self):
        os.close(self.fd)


class Results:
    """The results of a chunk in an area. Words: elements finished; when the current one was started, in nanoseconds;
    bytes of the plan, which says where arrays are; the end of the log."""

    def __init__(self, area):
        self.area = area
        self.words = memoryview(area.at_least(_HEAD))[:_WORDS].cast("q")

    @property
    def done(self):
        return self.words[_DONE]

    @property
    def since_ns(self):
        return self.words[_SINCE]

    def clear(self, now_ns):
        """Resets it before a chunk is requested."""
        self.words[_DONE] = self.words[_PLAN] = self.words[_LOG] = 0
        self.words[_SINCE] = now_ns

    def begin(self, now_ns):
        """Starts the next element."""
        self.words[_SINCE] = now_ns

    def read(self, count, most):
        """(how many of at most `most` elements were finished, their components, `count` of them)."""
        done, log_end = self.words[_DONE], self.words[_LOG]
        if not 0 <= done <= most:
            raise ValueError(f"{done} of {most} elements")
        if not done:
            return 0, [[] for _ in range(count)]
        view = self.area.at_least(log_end)
        places, at = pickle.loads(view[_WORDS : _WORDS + self.words[_PLAN]])
        others = [{}] * done
        while at < log_end:
            (size,) = struct.unpack("<Q", view[at : at + 8])
            i, rest = pickle.loads(view[at + 8 : at + 8 + size])
            if i < done:
                others[i] = rest
            at += 8 + size
        is_mixed = set().union(*others)
        columns = []
        for k, place in enumerate(places):
            column = place and _array(view, place[0], (done, *place[1]), place[2])
            if place and k not in is_mixed:
                columns.append(np.array(column))
            else:
                columns.append(_together([r[k] if k in r else np.array(column[i]) for i, r in enumerate(others)]))
        return done, columns


def _together(values):
    """Joins strings into one array."""
    if not all(isinstance(v, bytes) for v in values):
        return values
    a = np.empty(len(values), object)
    a[:] = values
    return a


class Writer:
    """The worker's side of Results, for results of the given spec."""

    def __init__(self, area, spec):
        self.results, self.area, self.spec = Results(area), area, spec
        self.words = self.results.words
        self.leaves = _taker(spec)
        self.takes_bytes = [
            isinstance(s, _spec.TensorSpec) and s.dtype.kind == "O" and s.shape == () for s in _spec.flatten(spec)
        ]

    def begin(self, n):
        """Starts a chunk of n elements."""
        self.n, self.slots = n, None

    def put(self, i, result):
        """Writes the function's result for element i. Raises TypeError if it doesn't match the spec."""
        leaves = self.leaves(result) if self.slots is not None and self.leaves else None
        rest = None if leaves is None else self.put_alike(i, leaves)
        if rest is None:
            rest = self.put_checked(i, [scalar(v) for v in _function.result_parts(result, self.spec)])
        if rest:
            self.log(i, rest)
        self.words[_DONE] = i + 1

    def put_alike(self, i, leaves):
        """Fast path for values with the types and shapes of values already checked; returns what belongs in the log.
        None: something is of another kind."""
        rest = {}
        for k, v in enumerate(leaves):
            kind = v.__class__
            slot = self.slots[k]
            if slot is None:
                if kind is not bytes or not self.takes_bytes[k]:
                    return None
                rest[k] = v
                continue
            type_, low, high, dtype, shape = self.kinds[k]
            if kind is type_ or kind is np.ndarray and v.dtype == dtype and v.shape == shape:
                slot[i] = v
            elif kind is int and low <= v <= high or kind is float and low == -np.inf:
                slot[i] = v
            else:
                return None
        return rest

    def put_checked(self, i, parts):
        if self.slots is None:
            self.plan(parts)
        rest = {}
        for k, v in enumerate(parts):
            slot = self.slots[k]
            if slot is not None and v.dtype == slot.dtype and v.shape == slot.shape[1:]:
                slot[i] = v
            else:
                rest[k] = v
        return rest

    def plan(self, parts):
        """Lays out the chunk's arrays by its first element."""
        places, end = [], _HEAD
        for v in parts:
            if isinstance(v, bytes) or v.dtype.kind in "OSUV":
                places.append(None)
                continue
            places.append((v.dtype.str, v.shape, end))
            end += _aligned(self.n * v.nbytes)
        text = pickle.dumps((places, end))
        if len(text) > _HEAD - _WORDS:  # too many components
            places, end = [None] * len(places), _HEAD
            text = pickle.dumps((places, end))
        view = self.area.at_least(end)
        view[_WORDS : _WORDS + len(text)] = text
        self.words[_PLAN], self.words[_LOG] = len(text), end
        self.slots = [p and _array(view, p[0], (self.n, *p[1]), p[2]) for p in places]
        self.kinds = [p and _kind_of(np.dtype(p[0]), p[1]) for p in places]

    def log(self, i, rest):
        data = pickle.dumps((i, rest), pickle.HIGHEST_PROTOCOL)
        at = self.words[_LOG]
        end = at + 8 + len(data)
        view = self.area.at_least(end)
        view[at:end] = struct.pack("<Q", len(data)) + data
        self.words[_LOG] = end


def _kind_of(dtype, shape):
    """(NumPy's scalar type or None, least and greatest Python number, dtype, shape)."""
    low, high = np.inf, -np.inf  # none yet
    if shape == () and dtype.kind in "iu":
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    elif shape == () and dtype.kind == "f":
        low = -np.inf
    return dtype.type if shape == () else None, low, high, dtype, shape


def _taker(spec):
    """A function that returns the leaves of a result, or None if it has another form; itself None if that takes as long
    as result_parts."""
    if isinstance(spec, _spec.TensorSpec):
        return lambda result: (result,)
    values = spec.values() if isinstance(spec, dict) else spec if isinstance(spec, tuple) else ()
    if not values or not all(isinstance(s, _spec.TensorSpec) for s in values):
        return None
    if isinstance(spec, dict):
        keys = _spec.sorted_keys(spec)

        def of_dict(result):
            if result.__class__ is not dict or len(result) != len(keys):
                return None
            leaves = [result.get(k) for k in keys]
            return None if any(v is None for v in leaves) else leaves

        return of_dict
    return lambda result: result if type(result) is type(spec) and len(result) == len(spec) else None
