# SPDX-License-Identifier: Apache-2.0
"""Seeds of the process: for datasets and operations without their own."""

import numpy as np

_base, _orders, _process, _drawn = None, 0, None, 0


def _entropy():
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


def next_order():
    """A number for another shuffle that keeps its order, counted since the seed was set."""
    global _orders
    process_seed()  # now, so that a forked process has the same
    _orders += 1
    return _orders


def process_seed():
    """A seed drawn once per process, for datasets without one that must agree."""
    global _process
    if _process is None:
        _process = _entropy()
    return _process


def set_seed(seed):
    """Sets the seed of every dataset and operation from now on; None: a new one each time."""
    global _base, _orders, _drawn
    _orders = _drawn = 0
    _base = None if seed is None else int(seed) & (2**64 - 1)


def get_seed():
    """The seed that was set, or None."""
    return _base


def next_seed():
    """Another seed for an operation outside datasets, derived from set_seed's."""
    global _drawn
    _drawn += 1
    if _base is None:
        return _entropy()
    return (_base * 0x9E3779B97F4A7C15 + _drawn) & (2**64 - 1)
