# SPDX-License-Identifier: Apache-2.0
"""Iterators of the package's data sets."""

import time


class OwnedIterator:
    def __init__(self, dataset):
        self._dataset, self._next = dataset, 0

    def __iter__(self):
        return self

    def __next__(self):
        time.sleep(0.001 if self._dataset.is_parallel and self._dataset.is_ahead else 0.012)
        self._next += 1
        return self._next
