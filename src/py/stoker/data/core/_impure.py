# SPDX-License-Identifier: Apache-2.0
"""Detects what a function used while it was traced that changes from call to call: randomness, time, counters. A trace
would keep one value for all elements.

Method: compares, before and after the trace, the states of Python's, NumPy's and torch's random generators, of
generators and counters reachable from the function (closure, globals, defaults, attributes), and of the numbers stored
there. A profile function detects clock calls. If a clock or a number changed, a second trace shows whether the result
depends on it. A third one, line by line, finds the line.

Limits: doesn't see states in other objects (an open file, an iterator), or generators that the function creates without
a seed through other libraries. If a debugger traces lines, the place is the function's.
"""

import dis
import functools
import itertools
import random
import sys
import types

import numpy as np

from . import _trace

_OBJECTS_MAX = 500  # most objects examined
_ITEMS_MAX = 64  # most items of a container that may hold counters

INSTEAD = {
    "chance": "sd.random.uniform, normal or Generator draw natively for each element",
    "time": "Dataset.enumerate numbers the elements",
    "state": "Dataset.enumerate numbers the elements, Dataset.scan keeps a state",
}


def _numpy_state(state):
    """A comparable form of a NumPy generator's state, which may contain arrays."""
    if isinstance(state, dict):
        return tuple((k, _numpy_state(v)) for k, v in state.items())
    return state.tobytes() if isinstance(state, np.ndarray) else state


def _torch():
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "Generator") and hasattr(torch, "get_rng_state") else None


def _looked_up(code):
    """Names and code objects of a function's code, including nested functions."""
    names = set(code.co_names)
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            names |= _looked_up(part)
    return names


def _stores(code):
    """Names of globals and outer variables that the code assigns."""
    made = {i.argval for i in dis.get_instructions(code) if i.opname == "STORE_GLOBAL"}
    outer = {i.argval for i in dis.get_instructions(code) if i.opname == "STORE_DEREF" and i.argval in code.co_freevars}
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            more, _ = _stores(part)
            made |= more
    return made, outer


def _number(v):
    return isinstance(v, (int, float)) or v is None


class _Reachable:
    """The sources reachable from a function: (name, kind, function that returns its state)."""

    def __init__(self, function):
        self.found, self.seen, self.kept = [], set(), []
        self.look(function, 0)

    def look(self, v, depth):
        if id(v) in self.seen or len(self.seen) > _OBJECTS_MAX or depth > 6:
            return
        self.seen.add(id(v))
        self.kept.append(v)
        torch = _torch()
        if isinstance(v, np.random.Generator):
            self.add("numpy.random.Generator", "chance", lambda: _numpy_state(v.bit_generator.state))
        elif isinstance(v, np.random.RandomState):
            self.add("numpy.random.RandomState", "chance", lambda: _numpy_state(v.get_state(legacy=False)))
        elif isinstance(v, random.Random):
            if type(v) is not random.SystemRandom:
                self.add("random.Random", "chance", v.getstate)
        elif torch and isinstance(v, torch.Generator):
            self.add("torch.Generator", "chance", lambda: v.get_state().numpy().tobytes())
        elif isinstance(v, itertools.count):
            self.add("itertools.count", "state", lambda: repr(v))
        elif isinstance(v, functools.partial):
            for part in (v.func, *v.args, *v.keywords.values()):
                self.look(part, depth + 1)
        elif isinstance(v, types.MethodType):
            self.look(v.__func__, depth)
            self.look(v.__self__, depth + 1)
        elif isinstance(v, types.FunctionType):
            self._function(v, depth)
        elif isinstance(v, (list, dict)) and len(v) <= _ITEMS_MAX:
            self._container(v, depth)
        elif not isinstance(v, (type, types.ModuleType)) and hasattr(v, "__dict__"):
            self._object(v, depth)

    def add(self, what, kind, state):
        self.found.append((what, kind, state))

    def _function(self, f, depth):
        if not _trace.is_of_program(f.__code__.co_filename):
            return
        made, outer = _stores(f.__code__)
        for name in made:
            self.add(f"the global {name}", "state", lambda name=name: self._simple(f.__globals__.get(name)))
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
            try:
                value = cell.cell_contents
            except ValueError:  # not bound yet
                continue
            if name in outer:
                self.add(f"the variable {name}", "state", lambda cell=cell: self._simple(cell.cell_contents))
            self.look(value, depth + 1)
        for v in (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()):
            self.look(v, depth + 1)
        names = _looked_up(f.__code__)
        for name in names:
            v = f.__globals__.get(name)
            if isinstance(v, types.ModuleType):
                self._module(v, names, depth)
            elif v is not None:
                self.look(v, depth + 1)
        self.look(getattr(f, "__wrapped__", None), depth + 1)

    def _module(self, module, names, depth):
        """For a module of the program itself: what the function uses of it."""
        path = getattr(module, "__file__", None) or ""
        if not path or not _trace.is_of_program(path):
            return
        for name in names & vars(module).keys():
            self.look(getattr(module, name), depth + 1)

    @staticmethod
    def _simple(v):
        return v if _number(v) else 0

    def _container(self, v, depth):
        items = list(v.values()) if isinstance(v, dict) else list(v)
        if items and all(_number(i) for i in items):
            keys = list(v) if isinstance(v, dict) else range(len(items))
            self.add("a counter", "state", lambda: [self._simple(v[k]) for k in keys if not isinstance(v, list) or k < len(v)])
        for i in items:
            self.look(i, depth + 1)

    def _object(self, v, depth):
        if type(v).__module__.partition(".")[0] in ("stoker", "numpy", "tensorflow", "torch", "jax", "keras"):
            return
        fields = vars(v)
        names = [k for k, x in fields.items() if _number(x)]
        if names:
            what = f"{type(v).__name__}.{names[0] if len(names) == 1 else '...'}"
            self.add(what, "state", lambda: [self._simple(fields.get(k)) for k in names])
        call = vars(type(v)).get("__call__")
        if isinstance(call, types.FunctionType):
            self.look(call, depth + 1)
        for x in list(fields.values())[:_ITEMS_MAX]:
            self.look(x, depth + 1)


def _sources(function):
    out = [
        ("random", "chance", random.getstate),
        ("numpy.random", "chance", lambda: _numpy_state(np.random.get_state(legacy=False))),
    ]
    torch = _torch()
    if torch:
        out.append(("torch's random numbers", "chance", lambda: torch.get_rng_state().numpy().tobytes()))
    return out + _Reachable(function).found


class Watch:
    """Records what a function used while it was traced: `changed`, a list of (what, kind, state)."""

    def __init__(self, function):
        self.function, self.changed, self.place = function, [], None

    def __enter__(self):
        self.sources = _sources(self.function)
        self.before = [state() for _, _, state in self.sources]
        self.clock, self.entropy, self.profile = None, None, sys.getprofile()
        if self.profile is None:
            sys.setprofile(self._called)
        return self

    def _called(self, frame, event, arg):
        if event != "c_call":
            return
        name, file = getattr(arg, "__name__", ""), frame.f_code.co_filename
        if file.startswith(_trace.PACKAGE):
            return
        is_clock = getattr(arg, "__module__", None) == "time" and name != "sleep"
        is_clock = is_clock or getattr(arg, "__qualname__", "") in ("datetime.now", "datetime.utcnow", "datetime.today")
        if is_clock and _trace.is_of_program(file):
            self.clock = self.clock or ("time", _trace.where(frame))
        elif name == "urandom" or name == "uuid_generate_time_safe":
            self.entropy = self.entropy or ("the system's random bytes", _trace.place_in(frame))

    def __exit__(self, *exc):
        if self.profile is None:
            sys.setprofile(None)
        self.changed = [s for s, b in zip(self.sources, self.before) if s[2]() != b]
        for seen, kind in ((self.clock, "time"), (self.entropy, "chance")):
            if seen:
                self.changed.append((seen[0], kind, None))
                self.place = self.place or seen[1]

    @property
    def has_chance(self):
        """Did it draw random numbers? Then it surely uses them."""
        return any(kind == "chance" for _, kind, _ in self.changed)

    @property
    def has_time(self):
        """Did it read a clock?"""
        return self.clock is not None

    def reason(self, place):
        """Describes it for the user."""
        names = ", ".join(dict.fromkeys(what for what, _, _ in self.changed))
        kind = "chance" if self.has_chance else self.changed[0][1]
        return f"{place}: used {names}, which a trace would keep as one value for all elements; {INSTEAD[kind]}"


class Lines:
    """Finds the line at which one of some states changes, by calling the function again."""

    def __init__(self, changed):
        self.states = [state for _, _, state in changed if state]
        self.place, self.last = None, None

    def __enter__(self):
        self.is_free = sys.gettrace() is None and bool(self.states)
        if self.is_free:
            self.before = [state() for state in self.states]
            sys.settrace(self._enter)
        return self

    def __exit__(self, *exc):
        if self.is_free:
            sys.settrace(None)
            self._check()

    def _check(self):
        if self.place is None and self.last and [state() for state in self.states] != self.before:
            self.place = self.last

    def _enter(self, frame, event, arg):
        return self._line if _trace.is_of_program(frame.f_code.co_filename) else None

    def _line(self, frame, event, arg):
        self._check()
        if event == "line":
            self.last = (frame.f_code.co_filename, frame.f_lineno)
        elif event == "return":
            self.last = _trace.place_in(frame.f_back)
        return self._line
