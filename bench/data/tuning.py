# SPDX-License-Identifier: Apache-2.0
"""Passes of a peer with one setting, as long as the search needs."""

import json

import search

SECONDS = {False: 0.25, True: 1.0}  # per pass, short and full
QUICK_SECONDS = {False: 0.15, True: 0.4}
GROWTH = 8  # at most, from one pass to the next longer one: start-up hides the cost of a short one


class Passes:
    """Measures for search.search(): ask(params) is one pass, {"seconds", "elements"} or {"error"}. The first pass of
    each setting and length isn't counted."""

    def __init__(self, ask, params, length, is_quick=False):
        self.ask, self.params = ask, params
        self.key, self.shortest, self.longest, self.step = length
        self.seconds = QUICK_SECONDS if is_quick else SECONDS
        self.lengths, self.warm = {}, None

    def once(self, setting, n):
        """Seconds of one pass, and of one element."""
        answer = self.ask({**self.params, self.key: n, "setting": setting})
        self.warm = (setting, n)
        if "error" in answer:
            raise search.Failed(answer["error"])
        return answer["seconds"], answer["seconds"] / answer["elements"]

    def __call__(self, setting, is_full):
        name = json.dumps([setting, is_full], sort_keys=True)
        n = self.lengths.get(name) or self.fitting(setting, self.seconds[is_full])
        self.lengths[name] = n
        if self.warm != (setting, n):
            self.once(setting, n)
        return self.once(setting, n)[1]

    def fitting(self, setting, seconds):
        """The length whose pass takes about that long, within the row's limits."""
        n = self.shortest
        while True:
            took, _ = self.once(setting, n)
            if took >= 0.6 * seconds or n >= self.longest:
                return n
            wanted = n * min(GROWTH, 1.1 * seconds / max(took, 1e-9))
            n = max(n + self.step, int(wanted / self.step) * self.step)
            n = min(n, self.longest // self.step * self.step if self.longest > n else self.longest)

    def length_of(self, setting, is_full=True):
        """The length of that setting's passes; None if there were none."""
        return self.lengths.get(json.dumps([setting, is_full], sort_keys=True))
