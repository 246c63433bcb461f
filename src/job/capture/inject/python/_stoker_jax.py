# SPDX-License-Identifier: Apache-2.0
"""JAX: outermost calls of jitted functions end steps if no loader does (_stoker_calls.py). Also the user's own
jax.profiler."""

import functools
import weakref

import _stoker_core
import _stoker_record

# functions that compute gradients, or make functions that do
_GRADIENTS = {"grad": True, "value_and_grad": True, "jacrev": True, "jacfwd": True, "vjp": False, "linearize": False}
DEPTH = 8  # of dicts and tuples around the arrays that a call gives
results = []  # functions that see what a jitted function gave: those of `stoker tune`


def _see_gradients(module, calls):
    """A call of a jax.grad function computes gradients, either while a step is traced or in each step. Functions called
    before that aren't training steps."""
    r = _stoker_core.recorder

    def around(plain, is_maker):
        def trained():
            calls.computes_gradients()
            if not r.trains:
                r.trained()
                calls.forget()

        def seen(made):
            @functools.wraps(made)
            def call(*args, **kwargs):
                trained()
                return made(*args, **kwargs)

            return call

        @functools.wraps(plain)
        def make(*args, **kwargs):
            if not is_maker:
                trained()
            made = plain(*args, **kwargs)
            return seen(made) if is_maker else made

        return make

    for name, is_maker in _GRADIENTS.items():
        if hasattr(module, name):
            setattr(module, name, around(getattr(module, name), is_maker))


def _latest(made):
    """An array from a call's result, by a reference that keeps nothing alive. All arrays of a result are ready at the
    same time."""
    for _ in range(DEPTH):
        if isinstance(made, dict):
            made = next(iter(made.values()), None)
        elif isinstance(made, (list, tuple)):
            made = made[0] if made else None
        else:
            break
    return weakref.ref(made) if hasattr(made, "is_ready") else None


def patch_jit(module):
    r = _stoker_core.recorder
    calls = _stoker_core.load("_stoker_calls").Calls(r)
    plain = module.jit

    class Jitted:
        """A jitted function whose calls are seen. Everything else is passed on to the function."""

        def __init__(self, function):
            object.__setattr__(self, "__wrapped__", getattr(function, "__wrapped__", function))
            object.__setattr__(self, "_stoker_function", function)

        def __call__(self, *args, **kwargs):
            if calls.inside or _stoker_record.ident() != r.thread:
                return self._stoker_function(*args, **kwargs)
            r.jits = True
            calls.begins(id(self))
            calls.inside = id(self)
            if not r.source:
                calls.passes_to(self)
            try:
                made = self._stoker_function(*args, **kwargs)
            finally:
                calls.inside = 0
            r.latest = _latest(made)
            for see in results:
                see(id(self), made)
            return made

        def __get__(self, instance, owner=None):
            return self if instance is None else functools.partial(self, instance)

        def __getattr__(self, name):
            return getattr(self._stoker_function, name)

        def __setattr__(self, name, value):
            setattr(self._stoker_function, name, value)

        def __repr__(self):
            return repr(self._stoker_function)

        def __hash__(self):
            return hash(self._stoker_function)

        def __eq__(self, other):
            return self._stoker_function == getattr(other, "_stoker_function", other)

        def lower(self, *args, **kwargs):
            return self._stoker_function.lower(*args, **kwargs)

        def trace(self, *args, **kwargs):
            return self._stoker_function.trace(*args, **kwargs)

        def eval_shape(self, *args, **kwargs):
            return self._stoker_function.eval_shape(*args, **kwargs)

    _see_gradients(module, calls)

    @functools.wraps(plain)
    def jit(*args, **kwargs):
        made = plain(*args, **kwargs)
        if hasattr(made, "lower"):
            return Jitted(made)
        return lambda *a, **k: Jitted(made(*a, **k))  # jax.jit(static_argnums=...) as a decorator

    module.jit = jit
    r.lives("jax.jit", "jax")


def patch_profiler(module):
    plain_start, plain_stop = module.start_trace, module.stop_trace

    @functools.wraps(plain_start)
    def start_trace(*args, **kwargs):
        _stoker_core.recorder.user_profiles(True)
        return plain_start(*args, **kwargs)

    @functools.wraps(plain_stop)
    def stop_trace(*args, **kwargs):
        _stoker_core.recorder.user_profiles(False)
        return plain_stop(*args, **kwargs)

    module._stoker_start, module._stoker_stop = plain_start, plain_stop
    module.start_trace, module.stop_trace = start_trace, stop_trace
