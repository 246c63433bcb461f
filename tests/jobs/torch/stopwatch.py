# SPDX-License-Identifier: Apache-2.0
"""The timer of PyTorch's jobs, with the profiler as its documentation shows it: a schedule, TensorBoard's handler,
and a call after each step."""

from torch.profiler import profile, schedule, tensorboard_trace_handler

import truth


class StopWatch(truth.StopWatch):
    """Around the loop: of wait + warmup + active steps the last ones are recorded. marks: without them the profiler
    has no schedule and is not told of steps, as in its shortest example. options: the profiler's."""

    def __init__(self, wait, warmup, active, worker_name=None, marks=True, **options):
        super().__init__(wait + warmup, active)
        options.setdefault("on_trace_ready", tensorboard_trace_handler("log", worker_name))
        self.marks, plan = marks, schedule(wait=wait, warmup=warmup, active=active, repeat=1)
        self.profiler = profile(schedule=plan if marks else None, **options)

    def __enter__(self):
        self.profiler.start()
        self.begin()
        return self

    def __exit__(self, *error):
        self.profiler.stop()

    def full(self):
        return len(self.rows) == self.first + self.count

    def step(self):
        """A step ends, and the next begins; true after the last that is recorded."""
        self.end()
        if self.marks:
            self.profiler.step()
        self.begin()
        return self.full()
