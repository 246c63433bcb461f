# SPDX-License-Identifier: Apache-2.0
"""Elastic ranks: an epoch started by N ranks continues with M, and each element is returned once.

A rank's part is every N-th element, by position in the global order (which a seed fixes). The iterators' states say
what N ranks have returned, and so what is left: that is split again, by position. Earlier runs of the epoch with other
numbers of ranks are accounted for one after the other."""

import itertools
import struct

import numpy as np

from ..core import _arguments
from ..core._dataset import method
from ..errors import InvalidArgumentError
from ..ops import _ops

_STATE = "<IIQQQQQQ"  # magic, size, seed, epoch, given, failed, has failures, likeness
_MAGIC = 0x32737473


def read_parts(state):
    """(seed, epoch, elements given, how many failed, did any fail) of an iterator's state.
    InvalidArgumentError."""
    size = struct.calcsize(_STATE)
    parts = struct.unpack(_STATE, state[:size]) if len(state) >= size else None
    if parts is None or parts[0] != _MAGIC or parts[1] != size:
        raise InvalidArgumentError(f"this isn't an iterator state ({len(state)} bytes)")
    return parts[2:7]


def read_state(state):
    """(seed, epoch, elements given) of an iterator's state. InvalidArgumentError."""
    seed, epoch, given, failed, has_failures = read_parts(state)
    if failed or has_failures:
        raise InvalidArgumentError(
            "some elements had failed, so their number doesn't tell which were returned; resume with as "
            "many ranks as before"
        )
    return seed, epoch, given


def _rest(dataset, given):
    """(position, element) pairs except those that len(given) ranks returned."""
    n, least, most = len(given), min(given), max(given)
    left = dataset.skip(n * least)
    if least == most:
        return left
    table = np.asarray(given, np.int64)

    def is_left(position, _):
        return position // n >= _ops.gather(table, position % n)

    return left.filter(is_left)


@method
def elastic_shard(self, past=(), num_shards=None, index=None, batch_size=1):
    """This process's part, split like shard(), of an epoch that a different number of ranks started.

    past: for each earlier run of the epoch, oldest first, the states of all its ranks' iterators
    over elastic_shard(...).batch(batch_size) (1: not batched). Their elements are skipped and the rest is split again:
    nothing is lost or repeated. Give shuffles their own seed, and batch afterwards. Sources with random access (arrays,
    indexed files) skip elements for free, others by reading them. Start the next epoch without `past`.
    """
    if num_shards is None:
        num_shards, index = _arguments.rank_of_environment()
    n, i = _arguments.count(num_shards, "num_shards", 1), _arguments.count(index, "index", 0)
    size = _arguments.count(batch_size, "batch_size", 1)
    if i >= n:
        raise InvalidArgumentError(f"elastic_shard: index {i} of {n} shards")
    runs = [[read_state(s) for s in run] for run in past]
    known = {(seed, epoch) for run in runs for seed, epoch, _ in run}
    if len(known) > 1 or any(not run for run in runs):
        raise InvalidArgumentError(
            "elastic_shard: the states of all ranks of a run are needed, of one seed and one epoch; "
            f"these are of {len(known)}"
        )
    left = self
    for run in runs:
        left = _rest(left.enumerate(), [given * size for _, _, given in run]).map(lambda _, e: e)
    out = left.shard(n, i)
    if known:
        seed, epoch = known.pop()
        out._options.seed = seed
        out._first_epoch, out._epochs = epoch, itertools.count(epoch)
    return out
