# SPDX-License-Identifier: Apache-2.0
"""Steps that end with calls of compiled functions from Python (jax.jit, tf.function), for jobs without a loader or
optimizer that ends them. Only outermost calls count.

The step's function is found by repetition, among those called three times or more. It is one in which gradients are
computed, if such a function is known. Otherwise it is the one followed by the most time. Time alone isn't enough: a
call returns before its work is done, and the loop waits for an evaluation's results more often than for a step's."""

import atexit

import _stoker_record
from _stoker_record import now

LEARN = 6  # calls before the step's function is chosen
LONG_NS = 1_000_000_000  # after a call that may hold a whole training


class Calls:
    def __init__(self, recorder):
        self.recorder = recorder
        self.inside = 0  # the function whose call is open; 0: none
        self.gradients = set()  # functions in which they are computed
        self.lead = None
        self.count, self.time = {}, {}
        self.last, self.since, self.calls = None, 0, 0
        self.longest, self.longest_name = 0, ""
        self.now_in, self.begun = "", 0
        atexit.register(self.at_exit)

    def passes_to(self, function):
        """A call before the first step: the time since the previous call."""
        at = now()
        if self.begun and at - self.begun > self.longest:
            self.longest, self.longest_name = at - self.begun, self.now_in
        self.now_in, self.begun = str(getattr(function, "__name__", "a function")), at

    def at_exit(self):
        """A job that loops inside its compiled code has no steps that Python can see."""
        if self.recorder.source or not self.begun:
            return
        self.passes_to(None)
        if self.longest > LONG_NS:
            self.recorder.note(
                f"{self.longest / 1e9:.1f} s passed after one call of {self.longest_name}, and no call repeats: if the "
                "training is a loop within compiled code, its steps can't be separated"
            )

    def forget(self):
        """Calls until now belong to no step."""
        self.lead = self.last = None
        self.count, self.time, self.calls = {}, {}, 0

    def computes_gradients(self):
        """As it does when it is traced."""
        if self.inside:
            self.gradients.add(self.inside)

    def learn(self, function):
        start = now()
        if self.last is not None:
            self.time[self.last] = self.time.get(self.last, 0) + start - self.since
        self.last, self.since = function, start
        self.count[function] = self.count.get(function, 0) + 1
        self.calls += 1
        often = [f for f, n in self.count.items() if n >= 3 and (f in self.gradients or not self.gradients)]
        if self.calls >= LEARN and often:
            self.lead = max(often, key=lambda f: self.time.get(f, 0))
            self.count, self.time, self.last = {}, {}, None

    def begins(self, function):
        r = self.recorder
        if r.source and r.source != _stoker_record.CALLS:
            return
        if self.lead not in self.gradients and function in self.gradients:
            self.lead = None
        if self.lead is None:
            self.learn(function)
        elif function == self.lead:
            self.count.clear()
            r.stepped(_stoker_record.CALLS)
        else:  # another function is called repeatedly: the step's has ended
            n = self.count[function] = self.count.get(function, 0) + 1
            if n > 64 and self.lead not in self.gradients:
                self.lead = None
                self.count.clear()
                self.calls = 0
