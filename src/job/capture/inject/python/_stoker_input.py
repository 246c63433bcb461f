# SPDX-License-Identifier: Apache-2.0
"""The synthetic-input test (stoker run --input cached|synthetic). The first batches of a data set are fetched at once.
Fetches then return these batches again and again, or random ones of the same shapes and types, with as many batches per
epoch as before. A data set of unknown length keeps its own batches, because the number of steps would change.

Such training is worthless, so torch.save and the checkpoints and saved models of Keras and TensorFlow write nothing to
files unless the run allows it. What a program writes by other means (pickle, NumPy, orbax) isn't blocked."""

import functools
import os
import sys

import _stoker_core

KEPT = 10  # batches of a data set: enough that no cache of the processor holds them all
SETS = 8  # data sets whose batches are kept: of a program that builds one each epoch the last ones
ENDLESS = 1 << 62


def is_asked():
    return _stoker_core.plan["input"] != "as-is"


def is_random():
    return _stoker_core.plan["input"] == "synthetic"


def _is_a(value, module, *names):
    cls = sys.modules.get(module)
    for name in names:
        cls = getattr(cls, name, None)
    return isinstance(cls, type) and isinstance(value, cls)


def _random_array(value):
    import numpy

    if value.dtype.kind == "f":
        return numpy.random.default_rng(0).standard_normal(value.shape).astype(value.dtype)
    return value[numpy.random.default_rng(0).permutation(len(value))] if value.ndim else value


def random_like(value):
    """The same shapes and types: normally distributed floats, and other tensors' elements in a different order. Unknown
    types stay unchanged. The program's own random numbers aren't affected."""
    if isinstance(value, dict):
        return {k: random_like(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        made = [random_like(v) for v in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    if _is_a(value, "numpy", "ndarray"):
        return _random_array(value)
    if _is_a(value, "jax", "Array"):
        return sys.modules["jax"].numpy.asarray(_random_array(sys.modules["numpy"].asarray(value)))
    if _is_a(value, "tensorflow", "Tensor") and hasattr(value, "numpy") and value.dtype.is_numpy_compatible:
        array = value.numpy()
        known = _is_a(array, "numpy", "ndarray") and array.dtype.kind in "fiub"
        return sys.modules["tensorflow"].constant(_random_array(array), value.dtype) if known else value
    return _random_tensor(value) if _is_a(value, "torch", "Tensor") else value


def _random_tensor(value):
    torch = sys.modules["torch"]
    with torch.random.fork_rng(devices=[]):
        if value.is_floating_point():
            return torch.randn(value.shape, dtype=value.dtype)
        return value[torch.randperm(value.shape[0])] if value.dim() else value


class Inputs:
    """The kept batches by data set, and each iterator's position. length(iterator): batches per epoch, ENDLESS, or
    below 0 if unknown."""

    def __init__(self, recorder, hook, length):
        self.recorder, self.hook, self.length = recorder, hook, length
        self.sets = {}  # key -> (data set, batches): holding it keeps its id from being reused

    def next(self, key, data_set, iterator, fetch):
        """The iterator's next batch: fetched, or a kept one."""
        length = getattr(iterator, "_stoker_length", None)
        if length is None:
            length = iterator._stoker_length = self._length(iterator)
            iterator._stoker_given = 0
        if length < 0:
            return fetch()
        if iterator._stoker_given >= length:
            raise StopIteration
        if key not in self.sets:
            while len(self.sets) >= SETS:
                self.sets.pop(next(iter(self.sets)))
            self.sets[key] = (data_set, self._first(min(KEPT, length), fetch))
        kept, given = self.sets[key][1], iterator._stoker_given
        if given >= len(kept) < min(KEPT, length):  # it has fewer than it claims
            raise StopIteration
        iterator._stoker_given += 1
        self.recorder.lives(self.hook)
        return kept[given % KEPT]

    def _first(self, most, fetch):
        """Fetches all kept batches at the first fetch, as a job edited by hand would. If they were fetched step by
        step, they would be scattered between the steps' allocations. The allocator would then return and request
        different amounts of memory per step than the job, before or after the edit."""
        kept = []
        while len(kept) < most:
            try:
                batch = fetch()
            except StopIteration:
                break
            kept.append(random_like(batch) if is_random() else batch)
        return kept

    def _length(self, iterator):
        try:
            length = self.length(iterator)
        except Exception:
            length = -1
        if length < 0:
            unknown_length(self.recorder)
        return length


def unknown_length(recorder):
    recorder.note("--input: a data set has no known length, so its batches were not replaced")


# Checkpoints


def _held(name):
    _stoker_core.recorder.note(f"{name} wrote nothing: the job trained on fake batches")


def _are_held():
    return is_asked() and not _stoker_core.plan["saves"]


def _is_file(f):
    try:
        return f.fileno() >= 0
    except Exception:  # bytes in memory, for another process or a copy
        return False


def patch_save(module):
    """torch.serialization"""
    if not _are_held():
        return
    plain = module.save

    @functools.wraps(plain)
    def save(obj, f, *args, **kwargs):
        if isinstance(f, (str, os.PathLike)) or _is_file(f):
            _held("torch.save")
            return None
        return plain(obj, f, *args, **kwargs)

    module.save = save


def _hold(where, name, shown, result=lambda *args: None):
    plain = getattr(where, name)

    @functools.wraps(plain)
    def held(*args, **kwargs):
        _held(shown)
        return result(*args)

    setattr(where, name, held)


def patch_keras_saving(module):
    """keras.src.saving.saving_api: model.save, save_weights, and so ModelCheckpoint"""
    if _are_held():
        _hold(module, "save_model", "Keras' model.save")
        _hold(module, "save_weights", "Keras' model.save_weights")


def patch_tf_checkpoint(module):
    """tensorflow.python.checkpoint.checkpoint"""
    if _are_held():
        _hold(module.Checkpoint, "save", "tf.train.Checkpoint", lambda self, prefix="", *rest: f"{prefix}-1")
        _hold(module.Checkpoint, "write", "tf.train.Checkpoint", lambda self, prefix="", *rest: prefix)


def patch_tf_manager(module):
    """tensorflow.python.checkpoint.checkpoint_management"""
    if _are_held():
        _hold(module.CheckpointManager, "save", "tf.train.CheckpointManager")


def patch_saved_model(module):
    """tensorflow.python.saved_model.save"""
    if _are_held():
        _hold(module, "save", "tf.saved_model.save")
