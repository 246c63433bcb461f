# SPDX-License-Identifier: Apache-2.0
# Titanic by hand: a dict of columns, strings to one-hot, numbers normalized, batched.
import numpy as np
import tensorflow as tf

table = {
    "sex": np.array(["male", "female", "female", "male", "male"]),
    "age": np.array([22.0, 38.0, 26.0, 35.0, 28.0]),
    "n": np.array([1, 1, 0, 1, 0]),
    "class": np.array(["Third", "First", "Third", "Second", "Third"]),
}
survived = np.array([0, 1, 1, 0, 0])
classes = tf.constant(["First", "Second", "Third"])
ds = tf.data.Dataset.from_tensor_slices((table, survived))
mean, deviation = table["age"].mean(), table["age"].std()


def prepare(row, label):
    return {
        "age": (row["age"] - mean) / deviation,
        "is_female": tf.cast(tf.equal(row["sex"], "female"), tf.float32),
        "class": tf.cast(tf.equal(row["class"], classes), tf.int64),
        "one_hot": tf.one_hot(row["n"], 2),
        "name": tf.strings.join([row["sex"], "/", tf.strings.lower(row["class"])]),
    }, label


ready = ds.map(prepare).batch(2)
results = {
    "batches": [({k: v.numpy() for k, v in x.items()}, y.numpy()) for x, y in ready],
    "stacked": [tf.stack([x["age"], tf.cast(x["is_female"], tf.float64)], axis=1).numpy() for x, _ in ready],
    "keys": sorted(ready.element_spec[0]),
}
