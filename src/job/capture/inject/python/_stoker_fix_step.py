# SPDX-License-Identifier: Apache-2.0
"""A fix of eager TensorFlow loops. The program's own training function, recognized by the tape that it opens, becomes a
tf.function from its second call on. That happens only if it computes the same as a graph: it changes no Python object,
prints nothing, and takes no value out of a tensor, and neither do the program's functions that it calls. The first call
stays eager, because it may create variables, as optimizers do.

Limit: a step that is written directly in the loop isn't a function."""

import dis
import functools
import sys
import types

from _stoker_tune import apply, fact, fix, is_own, knows, place

DEPTH = 4  # functions that call each other, which are looked into
# What happens once where a graph is made, and in each step where not; or needs a value that no graph has yet.
ONCE = {
    "numpy", "print", "append", "extend", "insert", "pop", "write", "open", "input", "item", "tolist", "perf_counter",
    "sleep", "next", "float", "int", "bool", "str", "tqdm", "save",
}  # fmt: skip
MODULES = {"numpy", "random", "time", "os"}  # whose functions give another value at each call
CHANGES = {
    "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "STORE_SUBSCR", "DELETE_SUBSCR", "IMPORT_NAME",
    "YIELD_VALUE",
}  # fmt: skip


def _codes(code):
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            yield from _codes(constant)


def _own_functions(named):
    """The program's own code behind a name: a function, or the method that an object of its own class runs when called.
    """
    for f in (named, getattr(type(named), "call", None), getattr(type(named), "__call__", None)):  # noqa: B004 - its code is looked at
        if hasattr(f, "__code__") and is_own(f.__code__.co_filename):
            yield f


def why_not(function, depth=DEPTH):
    """Why it may compute something different as a graph; None: it computes the same."""
    for code in _codes(function.__code__):
        for step in dis.get_instructions(code):
            outer = step.opname == "STORE_DEREF" and step.argval in function.__code__.co_freevars
            if step.opname in CHANGES or outer:
                return f"{function.__name__} changes an object of Python's"
        for name in code.co_names:
            named = function.__globals__.get(name)
            is_module = isinstance(named, types.ModuleType) and named.__name__ in MODULES
            if name in ONCE or is_module:
                return f"{function.__name__} uses {name}, which a graph does once or can't do"
            for called in _own_functions(named) if depth and named is not function else ():
                reason = why_not(called, depth - 1)
                if reason:
                    return reason
    return None


def _holder(frame):
    """The dict of globals or the class that has the frame's function by its name, and the function."""
    code, own = frame.f_code, frame.f_locals.get("self")
    for holder in (frame.f_globals, *(type(own).__mro__ if own is not None else ())):
        function = (holder if isinstance(holder, dict) else vars(holder)).get(code.co_name)
        if getattr(function, "__code__", None) is code:
            return holder, function
    return None, None


def patch_tape(module):
    """tensorflow.python.eager.backprop"""
    knows(module)
    cls = module.GradientTape
    plain = cls.__enter__
    state = {"seen": False}

    @functools.wraps(plain)
    def __enter__(self):
        frame = sys._getframe(1)
        if not state["seen"] and is_own(frame.f_code.co_filename):
            state["seen"] = True
            _look(frame)
        return plain(self)

    cls.__enter__ = __enter__


def _look(frame):
    place("tf.step")
    ops = sys.modules.get("tensorflow.python.framework.ops")
    if ops is not None and ops.inside_function():
        fact("tf.step", "the step is a graph already")
        return
    holder, function = _holder(frame)
    if function is None:
        why = "the step is in the loop itself, in no function"
    elif function.__code__.co_flags & 0x2A0:  # a generator, or a coroutine
        why = "the step is a generator"
    else:
        why = why_not(function)
    fact("tf.step", why or "eager")
    apply("tf.step", {"holder": holder, "function": function, "why": why})


@fix("tf.step")
def tf_function(value, now):
    if now["why"]:
        return now["why"]
    graph = sys.modules["tensorflow"].function(now["function"])
    name = now["function"].__code__.co_name
    if isinstance(now["holder"], dict):
        now["holder"][name] = graph
    else:
        setattr(now["holder"], name, graph)
    return True


WATCHED = [("tensorflow.python.eager.backprop", patch_tape)]
