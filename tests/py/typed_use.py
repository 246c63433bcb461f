# SPDX-License-Identifier: Apache-2.0
"""What a type checker learns from the stubs of stoker.data: `./dev lint types` looks at this, nobody runs it."""

from typing import Any

import numpy as np
from typing_extensions import assert_type

import stoker.data as sd
from stoker.data._op_types import Array, Bytes, Drawn, Int64, TopK, Unique, UniqueWithCounts

Pair = tuple["np.ndarray[Any, np.dtype[np.float32]]", np.int64]


def pair(i: np.int64) -> Pair:
    return np.full(3, i, np.float32), i


numbers = sd.Dataset.range(5)
assert_type(numbers, sd.Dataset[Int64])
assert_type(next(iter(numbers)), Int64)
assert_type(numbers.map(pair, num_parallel_calls=sd.AUTOTUNE), sd.Dataset[Pair])
assert_type(numbers.map(pair).shuffle(10, seed=1).take(3).prefetch(sd.AUTOTUNE), sd.Dataset[Pair])
assert_type(numbers.enumerate(), sd.Dataset[tuple[Int64, Int64]])
assert_type(numbers.batch(2, drop_remainder=True), sd.Dataset[Any])
assert_type(next(iter(sd.TFRecordDataset("records", compression_type="GZIP").shard(2, 0))), Bytes)
assert_type(numbers.flat_map(lambda i: sd.Dataset.range(i).map(pair)), sd.Dataset[Pair])
assert_type(numbers.apply(lambda ds: ds.map(pair)), sd.Dataset[Pair])
assert_type(numbers.get_single_element(), Int64)
assert_type(numbers.iterator(state=b"").get_next(), Int64)
numbers.shuffle("many")  # type: ignore[arg-type]
numbers.batch(2, deterministic="yes")  # type: ignore[arg-type]
sd.set_limits(ram_bytes=1 << 30)


# Operations: symbolic values give symbolic values, arrays and literals arrays.
def image_of(path: sd.Value, label: sd.Value) -> tuple[sd.Value, sd.Value]:
    image = sd.image.decode_jpeg(sd.io.read_file(path), channels=3)
    assert_type(image, sd.Value)
    assert_type(sd.image.resize(image, [224, 224]), sd.Value)
    assert_type(sd.image.random_flip_left_right(image), sd.Value)
    assert_type(sd.image.random_brightness(image, max_delta=0.2), sd.Value)
    assert_type(sd.cast(image, "float32") / 255.0, sd.Value)
    assert_type(1.0 - sd.cast(image, sd.float32), sd.Value)
    assert_type(np.ones(3, np.float32) * image, sd.Value)
    assert_type(image[..., 0] > 3, sd.Value)
    assert_type(image.shape, sd.TensorShape)
    assert_type(sd.shape(image)[0], sd.Value)
    assert_type(sd.reduce_mean(image, axis=[0, 1], keepdims=True), sd.Value)
    assert_type(sd.where(image > 3, 1, 0), sd.Value)
    assert_type(sd.reshape(np.arange(6), [2, label]), sd.Value)
    assert_type(sd.concat([image, np.zeros((1, 2, 3), np.uint8)], axis=0), sd.Value)
    assert_type(sd.stack([label, label + 1]), sd.Value)
    assert_type(sd.add(1, label), sd.Value)
    assert_type(sd.one_hot(label, 10), sd.Value)
    assert_type(sd.strings.join([path, "x"]), sd.Value)
    assert_type(sd.split(image, 3, axis=-1), list[sd.Value])
    assert_type(sd.cond(label > 0, lambda: image, lambda: image), sd.Value)
    return image, label


assert_type(sd.cast([1, 2], "float32"), Array)
assert_type(sd.reduce_sum(np.arange(3)), Array)
assert_type(sd.math.exp(1.0).numpy(), "np.ndarray[Any, np.dtype[Any]]")
assert_type(sd.reshape([1, 2, 3, 4], [2, 2]), Array)
assert_type(sd.concat([[1], np.arange(2)], 0), Array)
assert_type(sd.is_tensor(3), bool)
Pictures = sd.Dataset[tuple[Array, Array]]
assert_type(sd.Dataset.from_tensor_slices((["a.jpg"], [1])).map(image_of, num_parallel_calls=2), Pictures)
sd.cast([1, 2])  # type: ignore[call-overload]
sd.cast([1, 2], 32)  # type: ignore[call-overload]
sd.image.resize(np.zeros((4, 4, 3)), "small")  # type: ignore[arg-type]
sd.reduce_sum(np.arange(3), axis="rows")  # type: ignore[arg-type]
sd.math.exp(numbers)  # type: ignore[call-overload]
sd.cast([1, 2], "int32").to_numpy()  # type: ignore[attr-defined]

# Random values are symbolic where a function is traced, arrays elsewhere.
def noisy(image: sd.Value) -> Drawn:
    noise = sd.random.uniform([2, 3], maxval=sd.shape(image)[0])
    assert_type(noise, Drawn)
    assert_type(image + noise, sd.Value)
    assert_type(sd.cast(image, "float32") * noise, sd.Value)
    assert_type(sd.unique(image), Unique[sd.Value])
    assert_type(sd.unique(image).idx, sd.Value)
    assert_type(sd.math.top_k(image, 3).values, sd.Value)
    assert_type(sd.random.stateless_uniform([2], seed=[1, 2], minval=image), sd.Value)
    assert_type(sd.ones([sd.shape(image)[0], 2]), sd.Value)
    assert_type(sd.map_fn(lambda row: (sd.exp(row), row), image), tuple[sd.Value, Any])
    return sd.image.random_flip_left_right(np.zeros((2, 3, 3), np.uint8))


assert_type(numbers.map(noisy), sd.Dataset[Array])
assert_type(sd.unique_with_counts([1, 2, 1]), UniqueWithCounts[Array])
assert_type(sd.math.top_k([1, 2], 1), TopK[Array])
assert_type(sd.random.stateless_normal([2], seed=[1, 2]), Array)
assert_type(sd.random.split([1, 2], num=3), Array)
assert_type(sd.random.Generator.from_seed(1).normal([3]), Drawn)
assert_type(sd.random.get_seed(), int | None)
assert_type(sd.zeros([2, 3]), Array)
assert_type(sd.range(3), Array)
assert_type(sd.math.add(1, 2), Array)
assert_type(sd.while_loop(lambda i: i < 3, lambda i: i + 1, (1,)), tuple[int])
sd.random.uniform("many")  # type: ignore[arg-type]
sd.random.set_seed("one")  # type: ignore[arg-type]
sd.unique(numbers)  # type: ignore[call-overload]
