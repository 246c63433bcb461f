# SPDX-License-Identifier: Apache-2.0
"""In-memory tables in shuffled batches: a small one (150 rows) many times, a large one once.

Small tables show the overhead of an epoch; large ones the cost of an element. "before" normalizes each row with a
Python function, "after" with native operations.
"""

import functools

import numpy as np
import stoker.data as sd

import timing


def small_table():
    rng = np.random.default_rng(0)
    return {"x": rng.normal(size=(150, 4)).astype(np.float32), "y": rng.integers(0, 3, 150)}


@functools.lru_cache
def large_table(is_small):
    n = 20_000 if is_small else 2_000_000
    rng = np.random.default_rng(0)
    return {"x": rng.random((n, 16), np.float32), "y": rng.integers(0, 3, n)}


def count(ds, epochs=1):
    return sum(len(batch["y"]) for _ in range(epochs) for batch in timing.steps(ds))


def normalised(row):
    return {"x": (row["x"] - 0.5) * 3.46, "y": row["y"]}


def in_python(row):
    """One row, as NumPy code."""
    x = sd.numpy_function(lambda x: (x - np.float32(0.5)) * np.float32(3.46), [row["x"]], "float32")
    return {"x": sd.ensure_shape(x, row["x"].shape), "y": row["y"]}


def small_before(is_small):
    """stoker.data, 150 rows through a Python function, batches of 16, 20 epochs"""
    ds = sd.Dataset.from_tensor_slices(small_table()).map(in_python).shuffle(150).batch(16)
    return count(ds, 2 if is_small else 20)


def small(is_small):
    """stoker.data, 150 rows, shuffled, batches of 16, 200 epochs"""
    ds = sd.Dataset.from_tensor_slices(small_table()).map(normalised).shuffle(150).batch(16)
    return count(ds, 2 if is_small else 200)


def large_before(is_small):
    """stoker.data, 200,000 rows through a Python function, batches of 1024"""
    table = {k: v[:200_000] for k, v in large_table(is_small).items()}
    ds = sd.Dataset.from_tensor_slices(table).map(in_python)
    return count(ds.shuffle(10_000).batch(1024))


def large(is_small):
    """stoker.data, 2 million rows, shuffled, batches of 1024"""
    ds = sd.Dataset.from_tensor_slices(large_table(is_small)).map(normalised, sd.AUTOTUNE)
    return count(ds.shuffle(10_000).batch(1024).prefetch(sd.AUTOTUNE))


def tf_in_python(row):
    import tensorflow as tf

    x = tf.numpy_function(lambda x: (x - np.float32(0.5)) * np.float32(3.46), [row["x"]], tf.float32)
    return {"x": tf.ensure_shape(x, row["x"].shape), "y": row["y"]}


def tf_small_before(is_small):
    """TensorFlow, 150 rows through a Python function, 20 epochs"""
    import tensorflow as tf

    ds = tf.data.Dataset.from_tensor_slices(small_table()).map(tf_in_python).shuffle(150).batch(16)
    return count(ds, 2 if is_small else 20)


def tf_small(is_small):
    """TensorFlow, the same in its operations, 200 epochs"""
    import tensorflow as tf

    ds = tf.data.Dataset.from_tensor_slices(small_table()).map(normalised).shuffle(150).batch(16)
    return count(ds, 2 if is_small else 200)


def tf_large_before(is_small):
    """TensorFlow, 20,000 rows through a Python function"""
    import tensorflow as tf

    table = {k: v[:20_000] for k, v in large_table(is_small).items()}
    ds = tf.data.Dataset.from_tensor_slices(table).map(tf_in_python)
    return count(ds.shuffle(10_000).batch(1024))


def tf_large(is_small):
    """TensorFlow, the same in its operations, 200,000 rows"""
    import tensorflow as tf

    table = {k: v[:200_000] for k, v in large_table(is_small).items()}
    ds = tf.data.Dataset.from_tensor_slices(table).map(normalised, tf.data.AUTOTUNE)
    return count(ds.shuffle(10_000).batch(1024).prefetch(tf.data.AUTOTUNE))


if __name__ == "__main__":
    timing.main(
        __doc__.split("\n")[0],
        [
            small_before,
            small,
            large_before,
            large,
            tf_small_before,
            tf_small,
            tf_large_before,
            tf_large,
        ],
        "rows",
        prepare=large_table,
    )
