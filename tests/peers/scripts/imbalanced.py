# SPDX-License-Identifier: Apache-2.0
# Few positives among many negatives: counted, split by class, sampled to balance.
import tensorflow as tf

ds = tf.data.Dataset.range(200).map(lambda i: (i, tf.cast(i % 10 == 0, tf.int32)))


def count(counts, batch):
    _, labels = batch
    counts["positive"] += tf.reduce_sum(labels)
    counts["all"] += tf.size(labels)
    return counts


totals = ds.batch(32).reduce({"positive": 0, "all": 0}, count)
negative = ds.filter(lambda i, y: y == 0).repeat()
positive = ds.filter(lambda i, y: y == 1).repeat()
balanced = tf.data.Dataset.sample_from_datasets([negative, positive], [0.5, 0.5], seed=3)
labels = [int(y.numpy()) for _, y in balanced.take(1000)]
alternating = tf.data.Dataset.choose_from_datasets([negative, positive], tf.data.Dataset.range(2).repeat(4))
results = {
    "totals": {k: int(v.numpy()) for k, v in totals.items()},
    "share": 0.42 < sum(labels) / 1000 < 0.58,
    "turns": [(i.numpy(), y.numpy()) for i, y in alternating],
    "weights": [float(w.numpy()) for w in ds.map(lambda i, y: tf.where(y == 1, 9.0, 1.0)).take(3)],
}
