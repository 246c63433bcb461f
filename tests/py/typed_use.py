# SPDX-License-Identifier: Apache-2.0
"""What a type checker learns from the stubs of stoker.data: `./dev lint types` looks at this, nobody runs it."""

from typing import Any

import numpy as np
from typing_extensions import assert_type

import stoker.data as sd

Pair = tuple["np.ndarray[Any, np.dtype[np.float32]]", np.int64]


def pair(i: np.int64) -> Pair:
    return np.full(3, i, np.float32), i


numbers = sd.Dataset.range(5)
assert_type(numbers, sd.Dataset[np.int64])
assert_type(next(iter(numbers)), np.int64)
assert_type(numbers.map(pair, num_parallel_calls=sd.AUTOTUNE), sd.Dataset[Pair])
assert_type(numbers.map(pair).shuffle(10, seed=1).take(3).prefetch(sd.AUTOTUNE), sd.Dataset[Pair])
assert_type(numbers.enumerate(), sd.Dataset[tuple[np.int64, np.int64]])
assert_type(numbers.batch(2, drop_remainder=True), sd.Dataset[Any])
assert_type(next(iter(sd.TFRecordDataset("records", compression_type="GZIP").shard(2, 0))), bytes)
assert_type(numbers.flat_map(lambda i: sd.Dataset.range(i).map(pair)), sd.Dataset[Pair])
assert_type(numbers.apply(lambda ds: ds.map(pair)), sd.Dataset[Pair])
assert_type(numbers.get_single_element(), np.int64)
assert_type(numbers.iterator(state=b"").get_next(), np.int64)
numbers.shuffle("many")  # type: ignore[arg-type]
numbers.batch(2, deterministic="yes")  # type: ignore[arg-type]
sd.set_limits(ram_bytes=1 << 30)
