# SPDX-License-Identifier: Apache-2.0
"""The timer of model.fit: a callback that notes when each step begins and ends. It comes before TensorBoard's
callback, so that the profiler, which that one starts and stops, lies outside of the last step."""

import time

import keras

import truth


class StopWatch(truth.StopWatch, keras.callbacks.Callback):
    """Without the fetch, which runs inside the compiled step. first, last: the steps that are recorded, counted from 1
    as profile_batch does."""

    def __init__(self, first=1, last=1):
        keras.callbacks.Callback.__init__(self)
        truth.StopWatch.__init__(self, first - 1, last - first + 1)
        self.batch, self.before = (first, last), -1

    def on_epoch_begin(self, epoch, logs=None):
        self.before = -1

    def on_train_batch_begin(self, batch, logs=None):
        self.begin()

    def on_train_batch_end(self, batch, logs=None):
        steps = batch - self.before  # several where a call runs several
        self.before = batch
        each = (time.perf_counter() - self.start) / steps
        begins = [self.start + n * each for n in range(steps)]
        self.rows += [(begin, begin, begin + each) for begin in begins]

    def fit(self, model, *data, callbacks=(), epochs=1, **options):
        """model.fit, profiled by the TensorBoard callback. callbacks come first, so that their time is the step's:
        what follows its end lasts to the start of the next."""
        board = keras.callbacks.TensorBoard("log", write_graph=False, profile_batch=self.batch)
        model.fit(*data, epochs=epochs, verbose=0, callbacks=[*callbacks, self, board], **options)

    def save(self, constant_s=None):
        super().save("tensorflow_cpu", "keras", constant_s=constant_s)


def median_step_s(model, batch, steps=20, **fit):
    """Median seconds of a step of the same model on one batch in memory."""
    import tensorflow as tf

    watch = StopWatch()
    constant = tf.data.Dataset.from_tensors(batch).repeat()
    model.fit(constant, steps_per_epoch=steps, epochs=1, verbose=0, callbacks=[watch], **fit)
    starts = [row[0] for row in watch.rows[4:]]
    each = sorted(after - before for before, after in zip(starts, starts[1:]))
    return each[len(each) // 2]
