# SPDX-License-Identifier: Apache-2.0
# Written by tools/py-stubs.
from collections.abc import Iterator as _Iterator
from typing import Any

def crop(value: Any, size: Any, seed: Any = None, name: Any = None) -> Any:
    """A part of that size, at a random place."""
def get_seed() -> Any:
    """The seed that was set, or None."""
def next_order() -> Any:
    """The number of another shuffle that keeps its order, since the seed was set."""
def normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = 'float32', seed: Any = None, name: Any = None) -> Any:
    """Normally distributed values."""
def process_seed() -> Any:
    """A seed drawn once in this process, for datasets without one that must agree."""
def set_seed(seed: Any) -> Any:
    """The seed of every dataset and operation from here on; None: drawn anew each time."""
def shuffle(value: Any, seed: Any = None, *, name: Any = None) -> Any:
    """Slices in random order."""
def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = 'float32', seed: Any = None, name: Any = None) -> Any:
    """Normally distributed values within two standard deviations."""
def uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = 'float32', seed: Any = None, name: Any = None) -> Any:
    """Evenly distributed values in [minval, maxval); floats in [0, 1) by default."""
