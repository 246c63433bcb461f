# SPDX-License-Identifier: Apache-2.0
"""JAX: calls of functions that jax.jit made, from outside of all of them, end steps where no loader does. Which
function is the step's is found from repetition: of those called three times and more, the one that the most
time passes behind. And the user's own jax.profiler."""

import functools

import _stoker_core
import _stoker_record
from _stoker_record import now

LEARN = 6  # calls before the step's function is chosen
results = []  # functions that see what a jitted function gave: those of `stoker tune`


class _Calls:
    def __init__(self, recorder):
        self.recorder = recorder
        self.inside = False
        self.lead = None
        self.count, self.time = {}, {}
        self.last, self.since, self.calls = None, 0, 0

    def learn(self, function):
        start = now()
        if self.last is not None:
            self.time[self.last] = self.time.get(self.last, 0) + start - self.since
        self.last, self.since = function, start
        self.count[function] = self.count.get(function, 0) + 1
        self.calls += 1
        often = [f for f, n in self.count.items() if n >= 3]
        if self.calls >= LEARN and often:
            self.lead = max(often, key=lambda f: self.time.get(f, 0))
            self.count, self.time, self.last = {}, {}, None

    def begins(self, function):
        r = self.recorder
        if r.source and r.source != _stoker_record.CALLS:
            r.jits = True
            return
        r.jits = True
        if self.lead is None:
            self.learn(function)
        elif function == self.lead:
            self.count.clear()
            r.stepped(_stoker_record.CALLS)
        else:  # another one that is called again and again: the step's has ended
            n = self.count[function] = self.count.get(function, 0) + 1
            if n > 64:
                self.lead = None
                self.count.clear()
                self.calls = 0


def patch_jit(module):
    r = _stoker_core.recorder
    calls = _Calls(r)
    plain = module.jit

    class Jitted:
        """What jax.jit gives, with its calls seen. All else is the function's own."""

        def __init__(self, function):
            object.__setattr__(self, "__wrapped__", getattr(function, "__wrapped__", function))
            object.__setattr__(self, "_stoker_function", function)

        def __call__(self, *args, **kwargs):
            if calls.inside or _stoker_record.ident() != r.thread:
                return self._stoker_function(*args, **kwargs)
            calls.begins(id(self))
            calls.inside = True
            try:
                made = self._stoker_function(*args, **kwargs)
            finally:
                calls.inside = False
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
