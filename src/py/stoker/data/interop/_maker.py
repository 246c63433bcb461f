# SPDX-License-Identifier: Apache-2.0
"""Elements of one shard of one epoch, for whoever asks: a pure function of pipeline, seed, epoch, shard and position.

A shard is every n-th element of the pipeline with that seed and epoch, in the pipeline's own order. A worker keeps one
iterator for each shard that it has. If it is asked for the next position, that is one step; after any other question it
resumes from the iterator's state that comes with the question (Dataset.iterator(state=...)).

Limits. Stages that give up the order for speed (deterministic=False) keep it here."""

import itertools
import pickle

from ..core import _seeds, _stages
from ..core._dataset import Dataset
from ..core._options import Options
from ..errors import UnknownError
from ..train import _ranks
from ._coordinator import ELEMENT, END, ERROR

_SUMS = ("elements", "busy_ns", "wait_ns", "starve_ns", "errors", "skipped", "threads", "fill", "capacity")


def seed_of(dataset):
    """The pipeline's seed; a new one, if it has none."""
    seed = dataset._options.seed
    seed = _stages.known_seed(dataset) if seed is None else seed
    return _seeds._entropy() if seed is None else int(seed)


def _ordered(stage):
    return dict(stage._args, deterministic=1) if stage._args.get("deterministic") == 0 else None


def shard_of(dataset, seed, epoch, shards, shard):
    """Every shards-th element of that epoch, from `shard` on."""
    options = Options()
    options.seed, options.deterministic = seed, True
    out = _ranks.rebuilt(dataset, _ordered).with_options(options)
    if shards > 1:  # keeps_paths: random values are drawn as without it
        args = {"num_shards": shards, "index": shard, "keeps_paths": 1}
        part = Dataset.__new__(Dataset)
        part._init("shard", [out], args, out.element_spec, where=dataset._where)
        out = part
    out._first_epoch, out._epochs = epoch, itertools.count(epoch)
    return out


def _portable(error):
    """The exception, or one with its text if it can't be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return UnknownError(f"{type(error).__name__}: {error}")
    return error


class Maker:
    """Answers requests. open_shard(shard, state): an iterator with state(), from that state (b"": from the start)."""

    def __init__(self, open_shard):
        self._open, self._iterators = open_shard, {}  # shard -> (its position, iterator)

    def make(self, shard, position, count, base, state):
        """[(kind, value, iterator's state after it)] of some positions, which END ends; the iterator had `state` at position
        `base`."""
        at, it = self._iterators.pop(shard, (-1, None))
        if not base <= at <= position:
            at, it = base, self._open(shard, state)
        out, kind = [], None
        while at < position + count and kind != END:
            try:
                kind, value = ELEMENT, next(it)
            except StopIteration:
                kind, value = END, at
            except Exception as e:
                kind, value = ERROR, _portable(e)
            if kind == END or at >= position:
                out.append((kind, value, it.state()))
            at += kind != END
        self._iterators[shard] = at, it
        return out

    def release(self, shard):
        """Another worker has the shard."""
        self._iterators.pop(shard, None)

    def stages(self):
        """(stages, memory) of each iterator, as `Stats` takes them."""
        return [(it.stages(), it.memory()) for _, it in self._iterators.values()]


def summed(parts):
    """(stages, memory) of the same pipeline in many places, as one. Rates add up, if all are known."""
    stages, memory = [], {}
    for more, used in parts:
        if not stages:
            stages, memory = [dict(s) for s in more], dict(used)
            continue
        for have, s in zip(stages, more):
            for name in _SUMS:
                have[name] += s[name]
            for name in ("achieved_per_s", "predicted_per_s"):
                have[name] = None if have[name] is None or s[name] is None else have[name] + s[name]
            have["keeps_nothing"] = have["keeps_nothing"] or s["keeps_nothing"]
        for name, value in used.items():
            memory[name] = memory.get(name, 0) + value
    return stages, memory
