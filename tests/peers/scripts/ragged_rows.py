# SPDX-License-Identifier: Apache-2.0
# Sentences of different lengths: ragged constants and batches, made dense.
import tensorflow as tf

sentences = tf.ragged.constant([[3, 1, 4], [1], [5, 9, 2, 6], []])
ds = tf.data.Dataset.from_tensor_slices(["so long", "and thanks for all", "the fish"])
words = ds.map(tf.strings.split)
lengths = words.map(tf.size)
ragged = words.ragged_batch(2)
results = {
    "list": sentences.to_list(),
    "dense": sentences.to_tensor().numpy(),
    "filled": sentences.to_tensor(-1).numpy(),
    "splits": sentences.row_splits.numpy(),
    "words": [w.numpy().tolist() for w in words],
    "lengths": [n.numpy() for n in lengths],
    "batches": [b.to_list() for b in ragged],
    "tensors": [b.to_tensor("-").numpy().tolist() for b in ragged],
    "padded": [b.numpy().tolist() for b in words.padded_batch(2, padding_values="_")],
}
