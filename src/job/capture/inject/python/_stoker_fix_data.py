# SPDX-License-Identifier: Apache-2.0
"""The input taken over by stoker.data: a DataLoader's batches by sd.from_torch, a tf.data pipeline by sd.from_tf. Where
it cannot be taken over whole, or what comes out would be another thing, the job's own input stays, and why is said.

stoker.data is imported where this fix is asked for, and nowhere else."""

import collections

from _stoker_tune import applied, fixes, refused

LOADER, DATASET = "input.stoker_data.torch", "input.stoker_data.tf"  # the fixes
KEPT = 16  # loaders at most; a job that makes one for each step holds no more of them, and who comes back later is built anew
_made = collections.OrderedDict()  # id of a loader or data set -> (it, what takes its place), the last used last; None: its own stays


def is_asked(fix):
    return fix in fixes


def _engine(fix):
    try:
        import stoker.data as sd
    except ImportError as e:
        refused(fix, f"stoker.data is not installed where the job's Python finds it ({e})")
        return None
    return sd


def _take(fix, original, build):
    """What takes the place of it, once for each; None: nothing does."""
    if id(original) not in _made:
        sd = _engine(fix)
        made = None
        try:
            made = build(sd) if sd else None
        except Exception as e:
            refused(fix, f"{e}")
        if made is not None:
            applied(fix)
        _made[id(original)] = (original, made)  # it is held, so that its id stays its own
        if len(_made) > KEPT:
            _made.popitem(last=False)
    _made.move_to_end(id(original))
    return _made[id(original)][1]


def _has_texts(sd, spec):
    if isinstance(spec, dict):
        spec = tuple(spec.values())
    if isinstance(spec, (list, tuple)):
        return any(_has_texts(sd, part) for part in spec)
    return getattr(spec, "dtype", None) == sd.string


def of_loader(loader):
    """A DataLoader's: its batches as tensors, in its order. The fix's value is "threads=N" or "processes=N"."""

    def build(sd):
        kind, _, number = fixes[LOADER].partition("=")
        made = sd.from_torch(loader, **{kind: int(number)})
        if _has_texts(sd, made.element_spec):
            refused(LOADER, "its batches hold texts, which would come as bytes")
            return None
        return made.prefetch(sd.AUTOTUNE).to_torch()

    return _take(LOADER, loader, build)


def of_dataset(dataset):
    """A tf.data pipeline's: a data set of TensorFlow's with the same elements."""
    return _take(DATASET, dataset, lambda sd: sd.from_tf(dataset).prefetch(sd.AUTOTUNE).to_tf())
