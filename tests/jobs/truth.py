# SPDX-License-Identifier: Apache-2.0
"""Shared by the jobs of this folder: the loop's timer, and how its result is stored next to the profile.

A job has a row for each iteration: the time (time.perf_counter) at its start, when its batch was there, and when
its own work ended; a step lasts from its start to the start of the next, the last recorded one to its own end.
Jobs whose fetch runs inside compiled code say the share themselves, from a second run on a constant batch.
Limits: the profiler runs at the same time, so its overhead is in the rows as it is in the profile.
"""

import contextlib
import datetime
import importlib.metadata
import json
import os
import time


class StopWatch:
    """The timer of a loop that the job itself writes. The classes in each framework's stopwatch.py start and stop
    its profiler.

    first, count: the iterations that are recorded. seconds: further timers, name to seconds of each call.
    """

    def __init__(self, first, count):
        self.first, self.count, self.rows, self.seconds = first, count, [], {}

    def begin(self):
        self.start = self.there = time.perf_counter()

    def fetched(self):
        """The batch is there; a job that fetches nothing leaves it out."""
        self.there = time.perf_counter()

    @contextlib.contextmanager
    def waiting(self):
        """A further fetch within the step: it waits for input, too."""
        before = time.perf_counter()
        yield
        self.there += time.perf_counter() - before

    def end(self):
        self.rows.append((self.start, self.there, time.perf_counter()))

    def steps(self):
        """Numbers of the steps, with the profiler around those that are recorded."""
        for step in range(self.first + self.count):
            if step == self.first:
                self.start_profiler()
            self.begin()
            yield step
            self.end()
        self.stop_profiler()

    @contextlib.contextmanager
    def timed(self, name):
        """A further timer, around one call; those in recorded steps count."""
        before = time.perf_counter()
        yield
        if self.first <= len(self.rows) < self.first + self.count:
            self.seconds.setdefault(name, []).append(time.perf_counter() - before)

    def save(self, *packages, constant_s=None):
        save(self.rows, self.first, self.count, packages, constant_s, **self.seconds)


def save(rows, first, count, packages, constant_s=None, **seconds):
    """Writes truth.json for the iterations first .. first + count - 1 of rows.

    constant_s: where the rows cannot tell what waits for input, the median seconds of a step that does not.
    seconds: further timers, name=list of seconds of one call each.
    """
    recorded = rows[first : first + count]
    starts = [row[0] for row in recorded] + [recorded[-1][2]]
    step_s = [after - before for before, after in zip(starts, starts[1:])]
    median_s = sorted(step_s)[(count - 1) // 2]
    waits_s = [row[1] - row[0] for row in recorded]
    if constant_s is None:
        wait_share = sum(waits_s) / sum(step_s)
    else:
        wait_share = 1 - constant_s * count / sum(step_s)  # of the mean step: waits may come in bursts
    truth = {
        "recorded": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "versions": {name: importlib.metadata.version(name) for name in packages},
        "cores": os.cpu_count(),
        "steps": count,
        "median_ns": round(median_s * 1e9),
        "input_wait_share": round(max(0.0, wait_share), 4),
        "step_us": [round(s * 1e6) for s in step_s],
    }
    if constant_s is None:
        truth["wait_us"] = [round(s * 1e6) for s in waits_s]
    for name, each in seconds.items():
        truth[name] = {"calls": len(each), "total_us": round(sum(each) * 1e6)}
    with open("truth.json", "w") as out:
        out.write(json.dumps(truth, indent=1).replace("\n  ", " ").replace("\n ]", " ]").replace("\n }", " }") + "\n")
