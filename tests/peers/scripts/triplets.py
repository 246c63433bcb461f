# SPDX-License-Identifier: Apache-2.0
# Metric learning: anchors, positives and negatives zipped, pairs by number.
import tensorflow as tf

anchors = tf.data.Dataset.from_tensor_slices(["a0", "a1", "a2", "a3"])
positives = tf.data.Dataset.from_tensor_slices(["p0", "p1", "p2", "p3"])
negatives = positives.concatenate(anchors).skip(2)
triplets = tf.data.Dataset.zip((anchors, positives, negatives))
numbered = triplets.enumerate(start=10)
pairs = tf.data.Dataset.range(3).flat_map(lambda i: tf.data.Dataset.range(3).map(lambda j: (i, j)).filter(lambda a, b: a != b))
results = {
    "triplets": [tuple(x.numpy() for x in t) for t in triplets],
    "numbered": [(i.numpy(), t[0].numpy()) for i, t in numbered],
    "pairs": [(a.numpy(), b.numpy()) for a, b in pairs],
    "dict": [{k: v.numpy() for k, v in e.items()} for e in tf.data.Dataset.zip({"a": anchors, "n": negatives})],
}
