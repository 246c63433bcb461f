# SPDX-License-Identifier: Apache-2.0
"""The stop-watch of model.fit: a callback that notes when each step begins and ends. It comes first in the list, so
that a profiler which another callback starts and stops lies outside of the last step."""

import time

import keras


class StopWatch(keras.callbacks.Callback):
    """rows: what truth.save takes, without the fetch, which runs inside the compiled step."""

    def __init__(self):
        super().__init__()
        self.rows, self.start = [], 0.0

    def on_train_batch_begin(self, batch, logs=None):
        self.start = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        steps = batch + 1 - len(self.rows)  # several where a call runs several
        each = (time.perf_counter() - self.start) / steps
        begins = [self.start + n * each for n in range(steps)]
        self.rows += [(begin, begin, begin + each) for begin in begins]


def median_step_s(model, batch, steps=20, **fit):
    """Median seconds of a step of the same model on one batch that is there already."""
    import tensorflow as tf

    watch = StopWatch()
    constant = tf.data.Dataset.from_tensors(batch).repeat()
    model.fit(constant, steps_per_epoch=steps, epochs=1, verbose=0, callbacks=[watch], **fit)
    starts = [row[0] for row in watch.rows[4:]]
    each = sorted(after - before for before, after in zip(starts, starts[1:]))
    return each[len(each) // 2]
