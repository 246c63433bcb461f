# SPDX-License-Identifier: Apache-2.0
"""The timer of the loops that are written with TensorFlow alone, and its profiler."""

import tensorflow as tf

import truth


class StopWatch(truth.StopWatch):
    """options: those of the profiler."""

    def __init__(self, first, count, **options):
        super().__init__(first, count)
        self.options = tf.profiler.experimental.ProfilerOptions(**options)

    def start_profiler(self):
        tf.profiler.experimental.start("log", self.options)

    def stop_profiler(self):
        tf.profiler.experimental.stop()
