# SPDX-License-Identifier: Apache-2.0
"""The timer of JAX's jobs: the profiler starts before the first step that is recorded."""

import jax

import truth


class StopWatch(truth.StopWatch):
    """options: fields of the profiler's options."""

    def __init__(self, first, count, **options):
        super().__init__(first, count)
        self.options = options

    def start_profiler(self):
        options = jax.profiler.ProfileOptions()
        for name, value in self.options.items():
            setattr(options, name, value)
        jax.profiler.start_trace("log", profiler_options=options)

    def stop_profiler(self):
        jax.profiler.stop_trace()
