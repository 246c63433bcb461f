# SPDX-License-Identifier: Apache-2.0
"""Fixes that let stoker.data take over the input: a DataLoader's batches with sd.from_torch, a tf.data pipeline with
sd.from_tf. If it can't be taken over completely, or the result would differ, the job keeps its own input and a note
says why. stoker.data is imported only if this fix is requested."""

import collections

from _stoker_tune import fix

KEPT = 16  # loaders at most, for jobs that make one for each step; an evicted one is built again
_made = collections.OrderedDict()  # id of a loader or data set -> (it, its replacement, the note), the last used last


def _build(build):
    try:
        import stoker.data as sd
    except ImportError as e:
        return None, f"the job's Python can't import stoker.data ({e})"
    try:
        made = build(sd)
    except Exception as e:
        return None, str(e) or type(e).__name__
    return (None, made) if isinstance(made, str) else (made, True)


def _take(now, what, build):
    """Replaces now[what], once for each object. `build` makes the replacement, or says why it can't."""
    original = now[what]
    if id(original) not in _made:
        _made[id(original)] = (original, *_build(build))  # kept alive, so that its id isn't reused
        if len(_made) > KEPT:
            _made.popitem(last=False)
    _made.move_to_end(id(original))
    _, made, said = _made[id(original)]
    now[what] = original if made is None else made
    return said


def _has_texts(sd, spec):
    if isinstance(spec, dict):
        spec = tuple(spec.values())
    if isinstance(spec, (list, tuple)):
        return any(_has_texts(sd, part) for part in spec)
    return getattr(spec, "dtype", None) == sd.string


@fix("torch.dataloader.iter")
def input_stoker_data_torch(value, now):
    """A DataLoader's batches as tensors, in its order. The value is "threads=N" or "processes=N"."""
    loader = now["loader"]

    def build(sd):
        kind, _, number = value.partition("=")
        made = sd.from_torch(loader, **{kind: int(number)})
        return "holds_texts" if _has_texts(sd, made.element_spec) else made.prefetch(sd.AUTOTUNE).to_torch()

    return _take(now, "loader", build)


@fix("tfdata.last")
def input_stoker_data_tf(value, now):
    """A tf.data pipeline becomes a TensorFlow data set with the same elements."""
    dataset = now["dataset"]
    return _take(now, "dataset", lambda sd: sd.from_tf(dataset).prefetch(sd.AUTOTUNE).to_tf())


WATCHED = []
