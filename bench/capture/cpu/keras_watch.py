# SPDX-License-Identifier: Apache-2.0
"""The stopwatch of the Keras jobs: a callback. A batch is fetched inside the compiled step, so the wait comes from the
input's own stopwatch: its spans (start and end of each preparation, while nothing else runs) within each step."""

import keras

from watch import KEPT


class Callback(keras.callbacks.Callback):
    def __init__(self, watch):
        super().__init__()
        self.watch = watch

    def on_train_begin(self, logs=None):
        self.watch.begins()

    def on_train_batch_end(self, batch, logs=None):
        missing = batch + 1 - len(self.watch.ends)  # a call may run several steps
        start, each = self.watch.before, 0.0
        for n in range(missing):
            self.watch.ended(logs["loss"] if n == missing - 1 else None)
        if missing > 1:
            each = (self.watch.ends[-1] - start) / missing
            self.watch.ends[-missing:] = [start + each * (n + 1) for n in range(missing)]


def fit(watch, model, data, callbacks=()):
    """model.fit for the requested steps: one epoch, the user's own callbacks first."""
    if watch.args.constant:
        data = data.take(KEPT).cache().repeat()
        list(data.take(KEPT))  # now they are in the cache
        watch.spans.clear()
    callbacks = [*callbacks, Callback(watch)]
    model.fit(data, epochs=1, steps_per_epoch=watch.steps, shuffle=False, verbose=0, callbacks=callbacks)
    watch.waits = [0.0]
    for a, b in zip(watch.ends, watch.ends[1:]):
        watch.waits.append(sum(max(0.0, min(b, t) - max(a, s)) for s, t in watch.spans))
    watch.save()
