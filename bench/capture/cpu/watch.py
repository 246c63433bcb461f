# SPDX-License-Identifier: Apache-2.0
"""Shared by the jobs of this folder: their arguments, and a stopwatch independent of stoker.

    JOB.py [--fixed] [--constant] [--steps N] [--watch FILE] [--profile FOLDER]
--fixed      with the fix that a person would make by hand
--constant   with its input edited by hand: repeats the first KEPT batches, like `stoker run --input cached`
--watch FILE the stopwatch's data, as JSON: when this file was loaded (jobs import it first), the time of each step and of
             its fetch, the exact bits of each loss, and other sums of seconds by name
--profile    the framework's own profiler around steps WARM to WARM + WINDOW, with the options of `stoker run`, by hand
A step lasts from the previous one's end to its own end; the first has no start and doesn't count. At the end the
job prints the mean step in ms, without the first WARM.
"""

import argparse
import itertools
import json
import sys
import time

BORN = time.time()
KEPT = 10
WARM = 10  # steps not counted in the printed mean
WINDOW = 5


def profiler(folder):
    """Start, step and stop of the profiler of the loaded framework."""
    if "torch" in sys.modules:
        from torch.profiler import ProfilerActivity, profile, schedule

        made = profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=1, active=WINDOW), record_shapes=True)

        def stop():
            made.stop()
            made.export_chrome_trace(f"{folder}/alone.pt.trace.json")

        return made.start, made.step, stop
    if "tensorflow" in sys.modules:
        from tensorflow.profiler import experimental as tf_profiler

        options = tf_profiler.ProfilerOptions(host_tracer_level=2, python_tracer_level=0, device_tracer_level=1)
        return lambda: tf_profiler.start(folder, options), lambda: None, tf_profiler.stop
    import jax

    options = jax.profiler.ProfileOptions()
    options.python_tracer_level, options.host_tracer_level = 1, 2
    return lambda: jax.profiler.start_trace(folder, profiler_options=options), lambda: None, jax.profiler.stop_trace


class Watch:
    def __init__(self, steps):
        p = argparse.ArgumentParser(allow_abbrev=False)
        p.add_argument("--fixed", action="store_true")
        p.add_argument("--constant", action="store_true")
        p.add_argument("--steps", type=int, default=steps)
        p.add_argument("--watch", default="")
        p.add_argument("--profile", default="")
        self.args = p.parse_args()
        self.fixed, self.steps = self.args.fixed, self.args.steps
        self.ends, self.waits, self.losses, self.spans, self.sums = [], [], [], [], {}
        self.before, self.profiler = 0.0, None

    def input(self, batches):
        """The batches unchanged, or with --constant the first ones repeatedly."""
        if not self.args.constant:
            return batches
        return itertools.cycle(list(itertools.islice(batches, KEPT)))

    def begins(self):
        """The loop starts."""
        self.before = time.perf_counter()

    def fetched(self):
        """This step's batch has arrived."""
        self.waits.append(time.perf_counter() - self.before)

    def add(self, name, seconds):
        self.sums[name] = self.sums.get(name, 0.0) + seconds

    def ended(self, loss=None):
        """A step ended. True: it was the last."""
        self.before = time.perf_counter()
        self.ends.append(self.before)
        if loss is not None:
            self.losses.append(float(loss).hex())
        if self.args.profile:
            self._profile(len(self.ends))
        return len(self.ends) >= self.steps

    def _profile(self, step):
        if step == WARM:
            self.profiler = profiler(self.args.profile)
            self.profiler[0]()
        elif WARM < step <= WARM + WINDOW:
            self.profiler[1]()
        elif step == WARM + WINDOW + 1:
            self.profiler[2]()

    def step_s(self):
        return [b - a for a, b in zip(self.ends, self.ends[1:])]

    def save(self, suffix=""):
        each = self.step_s()
        counted = each[WARM:] or each
        print(f"mean step {1e3 * sum(counted) / max(len(counted), 1):.4f} ms")
        if self.args.watch:
            with open(self.args.watch + suffix, "w") as out:
                json.dump({"born": BORN, "step_s": each, "wait_s": self.waits[1:], "ends_s": self.ends[1:], "losses": self.losses, **self.sums}, out)
