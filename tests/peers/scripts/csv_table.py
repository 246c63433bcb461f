# SPDX-License-Identifier: Apache-2.0
"""A table with a header: columns by name, packed and scaled."""

import os
import numpy as np
import tensorflow as tf

path = os.path.join(FOLDER, "titanic.csv")
with open(path, "w") as f:
    f.write("survived,sex,age,n_siblings_spouses,fare,class,deck,alone\n")
    for i in range(30):
        f.write(f"{i%2},{'male' if i%3 else 'female'},{20+i}.0,{i%4},{7.25+i},{['First','Second','Third'][i%3]},{'unknown' if i%5 else 'C'},{'y' if i%2 else 'n'}\n")
ds = tf.data.experimental.make_csv_dataset(path, batch_size=5, label_name="survived", num_epochs=1, shuffle=False, ignore_errors=True)
out = []
for batch, label in ds.take(2):
    out.append((np.asarray(label), {k: np.asarray(v) for k, v in batch.items()}))

def pack(features, label):
    numeric = [tf.cast(features.pop(k), tf.float32) for k in ["age", "n_siblings_spouses", "fare"]]
    features["numeric"] = tf.stack(numeric, axis=-1)
    return features, label

packed = ds.map(pack)
MEAN = np.array([30., 1.5, 20.], np.float32)
norm = packed.map(lambda f, y: ({k: ((v - MEAN) / 2.0 if k == "numeric" else v) for k, v in f.items()}, y))
f, y = next(iter(norm.as_numpy_iterator()))
types = [tf.int32, tf.string, tf.float32, tf.int32, tf.float32, tf.string, tf.string, tf.string]
simple = tf.data.experimental.CsvDataset(path, types, header=True)
sel = tf.data.experimental.CsvDataset(path, record_defaults=[tf.int32, tf.float32], header=True, select_cols=[0, 4])
lines = tf.data.TextLineDataset(path).skip(1).filter(lambda line: tf.not_equal(tf.strings.substr(line, 0, 1), "0"))
results = {"head": out, "norm": (f, y), "simple": [tuple(e) for e in simple.take(3).as_numpy_iterator()], "sel": list(sel.take(3).as_numpy_iterator()), "lines": list(lines.take(2).as_numpy_iterator())}
