# SPDX-License-Identifier: Apache-2.0
# A table with ten thousand lines: parsed by line and by batch, columns as features.
import os

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(7)
path = os.path.join(FOLDER, "passengers.csv")  # noqa: F821
with open(path, "w") as f:
    for i in range(10000):
        f.write(f"{i % 2},{'male' if i % 3 else 'female'},{20 + i % 60}.5,{i % 4},{rng.random() * 90:.4f},Third\n")
defaults = [[0], [""], [0.0], [0], [0.0], [""]]
COLUMNS = ["survived", "sex", "age", "siblings", "fare", "class"]
lines = tf.data.TextLineDataset(path)


def features(*fields):
    x = dict(zip(COLUMNS, fields))
    label = x.pop("survived")
    return x, label


def numbers(x, label):
    columns = [tf.cast(x[k], tf.float32) for k in ("age", "siblings", "fare")]
    return tf.stack(columns, axis=-1), label


parsed = lines.map(lambda line: features(*tf.io.decode_csv(line, defaults)))
packed = lines.batch(64).map(lambda line: features(*tf.io.decode_csv(line, defaults)))
rows = tf.data.experimental.CsvDataset(path, [0, "", 0.0, 0, 0.0, ""])
results = {
    "lines": list(lines.batch(64).as_numpy_iterator()),
    "parsed": list(parsed.batch(64).as_numpy_iterator()),
    "numbers": list(parsed.map(numbers).batch(64).as_numpy_iterator()),
    "of_batches": list(packed.map(numbers).as_numpy_iterator()),
    "rows": list(rows.batch(64).as_numpy_iterator()),
    "filtered": list(parsed.filter(lambda x, y: x["fare"] > 40.0).batch(64).as_numpy_iterator()),
}
