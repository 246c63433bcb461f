# SPDX-License-Identifier: Apache-2.0
"""Tracing: a Python function is called once with symbolic values and becomes a graph.

Values are unknown while tracing (a truth value, a number, an array). If the function needs one, it
runs as Python for each element instead, and the plan names the line.
"""

import contextlib
import os
import sys
import threading

import numpy as np

from .. import _engine
from ..errors import OpError
from . import _dtypes, _libraries, _spec

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_state = threading.local()
while_tracing = []  # context managers of other packages: entered while a function is traced


class Untraceable(TypeError):
    """The function needs a value that exists only once the elements do."""


class TraceError(TypeError):
    """Types that don't fit, found by tracing: an error in the program, not a reason to use Python."""


def _is_installed(name):
    """Is it a file of another package, such as NumPy, which passes a call of the program on?"""
    return "site-packages" in name or "dist-packages" in name


def place(skip=1):
    """ "file:line" of the innermost frame of the program; of a package where there is none; None."""
    frame, found = sys._getframe(skip), None
    while frame:
        name = frame.f_code.co_filename
        if not name.startswith(_PACKAGE) and (found is None or not _is_installed(name)):
            found = f"{os.path.basename(name)}:{frame.f_lineno}"
            if not _is_installed(name):
                break
        frame = frame.f_back
    return found


def place_of(exception):
    """The same for where an exception came from."""
    found, tb = None, exception.__traceback__
    while tb:
        name = tb.tb_frame.f_code.co_filename
        if not name.startswith(_PACKAGE) and (found is None or not _is_installed(name)):
            found = f"{os.path.basename(name)}:{tb.tb_lineno}"
        tb = tb.tb_next
    return found


class Fn(_engine.Fn):
    """A function's graph in the engine, and what it was made of, so that it can be made again."""

    __slots__ = ("recipe",)  # (specs, name, [(op, inputs, attributes, place)], results)

    def __reduce__(self):
        libraries = _libraries.libraries_of(op for op, _, _, _ in self.recipe[2])
        return _made_again, self.recipe + (libraries,)


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
    """A function being traced. Values are its own numbers; the engine's may move (captures)."""

    def __init__(self, specs, name, parent=None):
        self.specs, self.name, self.parent = list(specs), name, parent
        self.fn = Fn(self.specs, name)
        self.ids = list(range(len(self.specs)))  # number here -> number in the engine
        self.log = []  # (op, inputs, attributes, place, first result)
        self.captured = {}  # id of an outer value -> (the value, number here)
        self.asked = None  # place that asked for a value
        self.constants = {}
        self.notes = []
        self.keep = []

    def add(self, op, inputs, attrs, where=None):
        """Adds an operation; numbers of its results."""
        where = where or place(2)
        first, count = self.fn.add(op, [self.ids[i] for i in inputs], attrs, where)
        start = len(self.ids)
        self.log.append((op, list(inputs), attrs, where, start))
        self.ids.extend(range(first, first + count))
        return list(range(start, start + count))

    def spec(self, i):
        return self.fn.spec(self.ids[i])

    def capture(self, value):
        """An outer value as another input of this function."""
        key = (id(value.graph), value.i)
        if key not in self.captured:
            self.captured[key] = (value, self._grow(value.engine_spec()))
        return self.captured[key][1]

    def _grow(self, spec):
        # The engine's inputs are fixed at the start: build it anew with one more.
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


class eager:
    """Operations compute at once: inside of Python functions that the engine calls."""

    def __enter__(self):
        self.before = getattr(_state, "stack", [])
        _state.stack = []

    def __exit__(self, *exc):
        _state.stack = self.before


class Watch:
    """Notes which sources of chance and time a function drew from while it was traced."""

    def __enter__(self):
        import random as py_random

        self.py, self.np = py_random.getstate(), np.random.get_state(legacy=False)
        self.time_calls = 0
        self.before = sys.getprofile()
        if self.before is None:
            sys.setprofile(self._profile)
        return self

    def _profile(self, frame, event, arg):
        if (
            event == "c_call"
            and getattr(arg, "__module__", None) in ("time",)
            and getattr(arg, "__name__", "") != "sleep"
        ):
            if not frame.f_code.co_filename.startswith(_PACKAGE):
                self.time_calls += 1

    def __exit__(self, *exc):
        import random as py_random

        if self.before is None:
            sys.setprofile(None)
        self.drew = []
        if py_random.getstate() != self.py:
            self.drew.append("random")
        now = np.random.get_state(legacy=False)
        if (
            now["state"]["pos"] != self.np["state"]["pos"]
            or now["has_gauss"] != self.np["has_gauss"]
            or (now["state"]["key"] != self.np["state"]["key"]).any()
        ):
            self.drew.append("numpy.random")
        if self.time_calls:
            self.drew.append("time")


def trace(function, args, specs, name, parent=None):
    """(graph, result, why not). args(graph) makes the arguments. Errors of the program are raised.

    why not is None, or the reason and place for which it cannot be traced.
    """
    graph = Graph(specs, name, parent)
    with Watch() as watch, tracing(graph), contextlib.ExitStack() as around:
        for context in while_tracing:
            around.enter_context(context())
        try:
            result = function(*args(graph))
            why = None
        except (TraceError, OpError) as e:
            if graph.asked is None:
                raise
            result, why = None, _why(graph, e)
        except NotImplementedError:
            raise
        except Exception as e:  # the function itself tells better, on a real element
            result, why = None, _why(graph, e)
    if why is None and graph.asked:
        why = graph.asked
    if watch.drew:
        graph.notes.append(
            f"{name} used {', '.join(watch.drew)} while it was traced, so every element gets the same value; sd.random draws for each element"
        )
    return graph, result, why


def _why(graph, e):
    """The place and the reason for which the function cannot be traced."""
    if graph.asked:
        return graph.asked
    reason = f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"
    if "does not support ufuncs" in reason:  # NumPy's words for a value that is no array
        reason = "calls a function of NumPy; operations of sd become native"
    return f"{place_of(e) or '?'}: {reason}"


def name_of(function):
    """What messages call a function."""
    name = getattr(function, "__qualname__", None) or type(function).__name__
    code = getattr(function, "__code__", None)
    if "<lambda>" in name and code:
        return f"lambda at {os.path.basename(code.co_filename)}:{code.co_firstlineno}"
    return name.split("<locals>.")[-1]


def dtype_of(spec):
    return None if spec[0] == _dtypes.DATASET else _dtypes.from_number(spec[0])


def shape_of(spec):
    return _spec.as_shape(spec[1])
