# SPDX-License-Identifier: Apache-2.0
"""The synthetic-input test in Keras 3. Each data adapter repeats its first batches in the form that the backend takes
(iterators of tf.data, NumPy or JAX), with as many per epoch as before. PyTorch's loaders have their own hook."""

import functools
import itertools
import sys

import _stoker_core
from _stoker_input import KEPT, is_asked, is_random, random_like, unknown_length


def _random_tensors(*batch):
    """Inside tf.data: stateless, so that the program's random numbers don't change."""
    tf = sys.modules["tensorflow"]

    def one(t):
        if not isinstance(t, tf.Tensor):
            return t
        if t.dtype.is_floating:
            return tf.cast(tf.random.stateless_normal(tf.shape(t), (1, 2)), t.dtype)
        known = t.dtype.is_integer and t.shape.rank
        return tf.random.experimental.stateless_shuffle(t, (1, 2)) if known else t

    made = tf.nest.map_structure(one, batch)
    return made[0] if len(made) == 1 else made


def _free_data_set(plain, count):
    made = []

    @functools.wraps(plain)
    def get_tf_dataset():
        if not made:
            kept = plain().take(min(KEPT, count or KEPT))
            kept = (kept.map(_random_tensors) if is_random() else kept).cache().repeat()
            made.append(kept.take(count) if count else kept)
        return made[0]

    return get_tf_dataset


def _free_iterator(plain, count):
    kept, most = [], min(KEPT, count or KEPT)

    @functools.wraps(plain)
    def get_iterator():
        own = iter(plain())
        for i in range(count) if count else itertools.count():
            if len(kept) < most:
                try:
                    batch = next(own)
                except StopIteration:
                    return
                kept.append(random_like(batch) if is_random() else batch)
            yield kept[i % most] if len(kept) == most else kept[-1]

    return get_iterator


def _free(adapter, steps):
    """steps: per epoch, if fit() got that argument."""
    r = _stoker_core.recorder
    count = adapter.num_batches
    if hasattr(adapter, "_stoker_is_free"):
        return
    if count is None and not steps:
        unknown_length(r)
        return
    adapter._stoker_is_free = True
    adapter.get_tf_dataset = _free_data_set(adapter.get_tf_dataset, count)
    for name in ("get_numpy_iterator", "get_jax_iterator"):
        setattr(adapter, name, _free_iterator(getattr(adapter, name), count))
    r.lives("keras.input")


def patch_adapters(module):
    """keras.src.trainers.data_adapters"""
    if not is_asked():
        return
    plain = module.get_data_adapter

    @functools.wraps(plain)
    def get_data_adapter(*args, **kwargs):
        adapter = plain(*args, **kwargs)
        try:
            _free(adapter, kwargs.get("steps_per_epoch"))
        except Exception as e:
            _stoker_core.recorder.note(f"--input: a Keras data set was not replaced: {type(e).__name__}: {e}")
        return adapter

    module.get_data_adapter = get_data_adapter
