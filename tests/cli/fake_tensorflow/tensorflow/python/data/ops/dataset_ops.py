# SPDX-License-Identifier: Apache-2.0
"""Data sets without an end, whose elements take 12 ms; 1 ms where they are made in parallel and ahead."""

from . import iterator_ops

AUTOTUNE = -1


class DatasetV2:
    is_parallel, is_ahead = False, False

    def _with(self, kind, **what):
        made = kind()
        made.__dict__.update(self.__dict__, **what)
        return made

    def map(self, function, num_parallel_calls=None):
        return self._with(_MapDataset, is_parallel=num_parallel_calls is not None)

    def prefetch(self, size):
        return self._with(_PrefetchDataset, is_ahead=True)

    def interleave(self, function, cycle_length=None, block_length=None, num_parallel_calls=None):
        return self._with(DatasetV2)

    def batch(self, size):
        return self._with(_BatchDataset)

    shuffle = padded_batch = repeat = batch

    def cardinality(self):
        return -1

    def _inputs(self):
        return [DatasetV2()]

    def __iter__(self):
        return iterator_ops.OwnedIterator(self)


class _MapDataset(DatasetV2):
    pass


class _BatchDataset(DatasetV2):
    pass


class _PrefetchDataset(DatasetV2):
    pass
