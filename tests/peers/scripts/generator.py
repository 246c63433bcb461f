import numpy as np
import tensorflow as tf


def count(stop):
    i = 0
    while i < stop:
        yield i
        i += 1


ds_counter = tf.data.Dataset.from_generator(count, args=[25], output_types=tf.int32, output_shapes=())


def gen_series():
    i = 0
    rng = np.random.default_rng(6)
    while True:
        size = int(rng.integers(0, 10))
        yield i, rng.normal(size=(size,)).astype(np.float32)
        i += 1


ds_series = tf.data.Dataset.from_generator(
    gen_series, output_types=(tf.int32, tf.float32), output_shapes=((), (None,))
)


def dicts():
    for i in range(4):
        yield {"id": i, "name": f"n{i}", "x": [i * 0.5, i * 1.5]}


ds_dicts = tf.data.Dataset.from_generator(
    dicts,
    output_signature={
        "id": tf.TensorSpec((), tf.int64),
        "name": tf.TensorSpec((), tf.string),
        "x": tf.TensorSpec((2,), tf.float32),
    },
)


def slow_square(x):
    return np.square(x).astype(np.int32)


@tf.function
def mapped(x):
    y = tf.numpy_function(slow_square, [x], tf.int32)
    y.set_shape(())
    return y


results = {
    "counter": list(ds_counter.repeat(2).batch(10).take(4).as_numpy_iterator()),
    "series": list(ds_series.take(5).padded_batch(3).as_numpy_iterator()),
    "dicts": list(ds_dicts.batch(3).as_numpy_iterator()),
    "squares": list(ds_counter.map(mapped).batch(7).as_numpy_iterator()),
    "py": list(
        tf.data.Dataset.range(4)
        .map(lambda x: tf.py_function(lambda v: int(v) * 2, [x], tf.int64))
        .as_numpy_iterator()
    ),
}
