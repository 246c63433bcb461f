# SPDX-License-Identifier: Apache-2.0
"""Traces a Python function: calls it once with symbolic values, which yields a graph.

Values are unknown while tracing (a truth value, a number, an array). If the function needs one, it runs as Python for
each element instead, and the plan names the line.
"""

import contextlib
import os
import sys
import threading

import numpy as np

from .. import _engine
from ..errors import OpError
from . import _dtypes, _libraries, _spec

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STDLIB = os.path.dirname(os.__file__) + os.sep
_state = threading.local()
while_tracing = []  # other packages' context managers, entered while a function is traced


class Untraceable(TypeError):
    """The function needs a value that doesn't exist before run time."""


class TraceError(TypeError):
    """Types that don't fit, found by tracing: an error in the program, not a reason to use Python."""


def is_installed(name):
    """Is it a file of another package, such as NumPy, that passes the program's call on?"""
    return "site-packages" in name or "dist-packages" in name


def place(skip=1):
    """ "file:line" of the program's innermost frame, or else of a package's; or None."""
    frame, found = sys._getframe(skip), None
    while frame:
        name = frame.f_code.co_filename
        if not name.startswith(PACKAGE) and (found is None or not is_installed(name)):
            found = f"{os.path.basename(name)}:{frame.f_lineno}"
            if not is_installed(name):
                break
        frame = frame.f_back
    return found


def is_of_program(name):
    """Is it a file of the program, not of this package, another one, or Python?"""
    return not (name.startswith((PACKAGE, _STDLIB, "<frozen")) or is_installed(name))


def where(frame):
    """(file, line) of a frame."""
    return frame.f_code.co_filename, frame.f_lineno


def place_in(frame):
    """(file, line) of the innermost frame of the program, starting from a frame."""
    while frame:
        name = frame.f_code.co_filename
        if is_of_program(name):
            return where(frame)
        frame = frame.f_back
    return None


def shown(place):
    """ "file:line" of a (file, line)."""
    return f"{os.path.basename(place[0])}:{place[1]}" if place else "?"


def place_of_function(function):
    """(file, line) where a function starts; None: it has no code."""
    code = getattr(function, "__code__", None) or getattr(getattr(function, "__func__", None), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code else None


def place_of(exception):
    """The same for where an exception was raised."""
    found, tb = None, exception.__traceback__
    while tb:
        name = tb.tb_frame.f_code.co_filename
        if not name.startswith(PACKAGE) and (found is None or not is_installed(name)):
            found = f"{os.path.basename(name)}:{tb.tb_lineno}"
        tb = tb.tb_next
    return found


class Fn(_engine.Fn):
    """A function's graph in the engine, and the recipe to rebuild it."""

    __slots__ = ("recipe",)  # (specs, name, [(op, inputs, attributes, place)], results)

    def is_same(self, other):
        """Does another one do the same, with equal attributes? Places don't count."""
        specs, _, steps, results = self.recipe
        specs_2, _, steps_2, results_2 = other.recipe
        if results != results_2 or len(steps) != len(steps_2):
            return False
        return all(_alike(a[:3], b[:3]) for a, b in zip(steps, steps_2))

    def __reduce__(self):
        libraries = _libraries.libraries_of(op for op, _, _, _ in self.recipe[2])
        return _made_again, self.recipe + (libraries,)


def _alike(a, b):
    """Are two attributes or constants equal?"""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        a, b = np.asarray(a), np.asarray(b)
        return a.dtype == b.dtype and a.shape == b.shape and bool(np.all((a == b) | ((a != a) & (b != b))))
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(_alike(x, y) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_alike(a[k], b[k]) for k in a)
    if isinstance(a, Fn) and isinstance(b, Fn):
        return a.is_same(b)
    return a is b or type(a) is type(b) and bool(a == b)


def _made_again(specs, name, steps, results, libraries):
    for path in libraries:
        _libraries.load(path)
    fn = Fn(specs, name)
    for step in steps:
        fn.add(*step)
    fn.finish(results)
    fn.recipe = (specs, name, steps, results)
    return fn


class Graph:
    """A function being traced. It numbers values itself; the engine's numbers may change (captures)."""

    def __init__(self, specs, name, parent=None):
        self.specs, self.name, self.parent = list(specs), name, parent
        self.fn = Fn(self.specs, name)
        self.ids = list(range(len(self.specs)))  # number here -> number in the engine
        self.log = []  # (op, inputs, attributes, place, first result)
        self.captured = {}  # id of an outer value -> (the value, number here)
        self.asked = None  # the place that needed a value
        self.constants = {}
        self.notes = []
        self.keep = []

    def add(self, op, inputs, attrs, where=None):
        """Adds an operation; returns the numbers of its results."""
        where = where or place(2)
        first, count = self.fn.add(op, [self.ids[i] for i in inputs], attrs, where)
        start = len(self.ids)
        self.log.append((op, list(inputs), attrs, where, start))
        self.ids.extend(range(first, first + count))
        return list(range(start, start + count))

    def spec(self, i):
        return self.fn.spec(self.ids[i])

    def capture(self, value):
        """Adds an outer value as another input of this function."""
        key = (id(value.graph), value.i)
        if key not in self.captured:
            self.captured[key] = (value, self._grow(value.engine_spec()))
        return self.captured[key][1]

    def _grow(self, spec):
        # The engine's inputs are fixed at the start: rebuild it with one more.
        n = len(self.specs)
        self.specs.append(spec)
        self.fn = Fn(self.specs, self.name)
        old, self.ids = self.ids, [None] * len(self.ids)
        inputs = [k for k, i in enumerate(old) if i < n]
        for k in inputs[:n]:
            self.ids[k] = old[k]
        for op, ins, attrs, where, start in self.log:
            first, count = self.fn.add(op, [self.ids[i] for i in ins], attrs, where)
            self.ids[start : start + count] = range(first, first + count)
        self.ids.append(n)
        return len(self.ids) - 1

    def constant(self, array):
        """A number for a NumPy array (by identity), scalar or bytes."""
        found = self.constants.get(id(array))
        if found is None or found[0] is not array:
            found = (
                array,
                self.add(
                    "const",
                    [],
                    {
                        "value": (
                            array
                            if isinstance(array, np.ndarray)
                            else np.asarray(array, dtype=object if isinstance(array, bytes) else None)
                        )
                    },
                )[0],
            )
            self.constants[id(array)] = found
        return found[1]

    def finish(self, results):
        """The function. The engine numbers values in the order of the log."""
        results = [self.ids[i] for i in results]
        self.fn.finish(results)
        steps = [
            (op, [self.ids[i] for i in ins], attrs, where) for op, ins, attrs, where, _ in self.log
        ]
        self.fn.recipe = (list(self.specs), self.name, steps, results)
        return self.fn


def current():
    """The graph being traced; None outside."""
    stack = getattr(_state, "stack", None)
    return stack[-1] if stack else None


class tracing:
    """Makes a graph the current one."""

    def __init__(self, graph):
        self.graph = graph

    def __enter__(self):
        if not hasattr(_state, "stack"):
            _state.stack = []
        _state.stack.append(self.graph)
        return self.graph

    def __exit__(self, *exc):
        _state.stack.pop()


def is_python():
    """Is a Python function running on elements in this thread?"""
    return getattr(_state, "is_python", False)


class eager:
    """Makes operations compute at once, within Python functions called by the engine."""

    def __enter__(self):
        self.before = getattr(_state, "stack", []), is_python()
        _state.stack, _state.is_python = [], True

    def __exit__(self, *exc):
        _state.stack, _state.is_python = self.before


def trace(function, args, specs, name, parent=None):
    """(graph, result, why not, error). args(graph) makes the arguments. Raises type errors.

    why not: None, or the reason and place that prevent tracing; error: the exception that stopped it, unless that was a
    value that isn't known yet.
    """
    graph = Graph(specs, name, parent)
    with tracing(graph), contextlib.ExitStack() as around:
        for context in while_tracing:
            around.enter_context(context())
        try:
            return graph, function(*args(graph)), graph.asked, None
        except (TraceError, OpError, NotImplementedError):
            if graph.asked is None:
                raise
            return graph, None, graph.asked, None
        except Exception as e:  # on a real element the function itself may give a better error
            return graph, None, _why(graph, e), None if graph.asked else e


def _why(graph, e):
    """The place and reason that prevent tracing the function."""
    if graph.asked:
        return graph.asked
    reason = f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"
    if "does not support ufuncs" in reason:  # NumPy's message for a value that isn't an array
        reason = "calls a function of NumPy; operations of sd become native"
    return f"{place_of(e) or '?'}: {reason}"


def name_of(function):
    """The name of a function in messages."""
    name = getattr(function, "__qualname__", None) or type(function).__name__
    code = getattr(function, "__code__", None)
    if "<lambda>" in name and code:
        return f"lambda at {os.path.basename(code.co_filename)}:{code.co_firstlineno}"
    return name.split("<locals>.")[-1]


def dtype_of(spec):
    return None if spec[0] == _dtypes.DATASET else _dtypes.from_number(spec[0])


def shape_of(spec):
    return _spec.as_shape(spec[1])
