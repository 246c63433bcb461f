# SPDX-License-Identifier: Apache-2.0
# Structured data: columns of a table become features, numbers normalized, categories looked up and crossed.
import numpy as np

import tensorflow as tf

rows = 12
frame = {
    "age": np.array([63, 37, 41, 56, 57, 57, 56, 44, 52, 57, 54, 48]),
    "thal": np.array(["fixed", "normal", "normal", "reversible"] * 3),
    "chol": np.linspace(180, 300, rows).astype("float32"),
    "target": np.array([1, 0, 0, 1] * 3),
}


def to_dataset(table, batch_size):
    table = dict(table)
    labels = table.pop("target")
    table = {key: value[:, tf.newaxis] for key, value in table.items()}
    ds = tf.data.Dataset.from_tensor_slices((dict(table), labels))
    return ds.batch(batch_size).prefetch(batch_size)


ds = to_dataset(frame, 5)
[(features, labels)] = ds.take(1)
count, total, square = ds.reduce(
    (0, 0.0, 0.0),
    lambda s, e: (
        s[0] + tf.shape(e[0]["chol"])[0],
        s[1] + tf.reduce_sum(e[0]["chol"]),
        s[2] + tf.reduce_sum(tf.square(e[0]["chol"])),
    ),
)
mean = total / tf.cast(count, tf.float32)
deviation = tf.sqrt(square / tf.cast(count, tf.float32) - mean * mean)
table = tf.lookup.StaticVocabularyTable(
    tf.lookup.KeyValueTensorInitializer(["fixed", "normal"], tf.constant([0, 1], tf.int64)), num_oov_buckets=1
)


def encode(x, y):
    age = tf.searchsorted([40.0, 50.0, 60.0], tf.cast(x["age"][:, 0], tf.float32), side="right")[:, tf.newaxis]
    thal = table.lookup(x["thal"])
    crossed = tf.strings.to_hash_bucket_fast(
        tf.strings.join([tf.strings.as_string(age), x["thal"]], separator="_X_"), 10
    )
    return {
        "age": tf.one_hot(tf.squeeze(age, -1), 4),
        "thal": tf.one_hot(thal[:, 0], depth=3),
        "chol": (x["chol"] - mean) / deviation,
        "crossed": tf.one_hot(crossed, 10, axis=-1)[:, 0],
    }, tf.cast(y, tf.float32)


results = {
    "keys": sorted(features),
    "labels": labels.numpy(),
    "mean": float(mean),
    "encoded": list(ds.map(encode).as_numpy_iterator()),
    "joined": [
        tf.concat([f["age"], f["thal"], f["chol"]], axis=1).numpy() for f, _ in ds.map(encode)
    ],
}
