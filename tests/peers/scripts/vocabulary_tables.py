# SPDX-License-Identifier: Apache-2.0
# Words to numbers and back by lookup tables, unknown words in buckets.
import tensorflow as tf

words = tf.constant(["the", "cat", "sat", "on", "mat"])
numbers = tf.range(5, dtype=tf.int64)
init = tf.lookup.KeyValueTensorInitializer(words, numbers)
table = tf.lookup.StaticHashTable(init, default_value=-1)
oov = tf.lookup.StaticVocabularyTable(init, num_oov_buckets=2)
back = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(numbers, words), "?")
lines = tf.data.Dataset.from_tensor_slices(["the cat sat", "the dog sat on the mat"])
split = lines.map(tf.strings.split)
results = {
    "ids": [x.numpy() for x in split.map(table.lookup)],
    "oov": [x.numpy() for x in split.map(oov.lookup)],
    "back": [x.numpy().tolist() for x in split.map(lambda w: back.lookup(table.lookup(w)))],
    "size": [table.size().numpy(), oov.size().numpy()],
}
