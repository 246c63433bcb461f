# SPDX-License-Identifier: Apache-2.0
# Film reviews of some hundred words: cleaned, split, numbered, truncated or padded; in buckets of similar length.
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(5)
vocabulary = [f"word{i}" for i in range(2000)]
texts = [
    "<br />".join(" ".join(rng.choice(vocabulary, 40)) + ", It's GREAT!" for _ in range(rng.integers(2, 6)))
    for _ in range(64)
]
ds = tf.data.Dataset.from_tensor_slices((texts, np.arange(64) % 2))
table = tf.lookup.StaticVocabularyTable(
    tf.lookup.KeyValueTensorInitializer(vocabulary, np.arange(2000, dtype=np.int64)), 4
)


def clean(text, label):
    text = tf.strings.regex_replace(tf.strings.lower(text), "<br />", " ")
    return tf.strings.regex_replace(text, "[^a-z0-9 ]", ""), label


def words(text, label):
    return tf.strings.split(text), label


def numbers(tokens, label):
    return table.lookup(tokens)[:120], label


tokens = ds.map(clean).map(words)
ids = tokens.map(numbers)
results = {
    "clean": list(ds.map(clean).batch(32).as_numpy_iterator()),
    "of_batches": list(ds.batch(32).map(clean).as_numpy_iterator()),
    "tokens": list(tokens.as_numpy_iterator()),
    "ids": list(ids.padded_batch(32, padded_shapes=([120], [])).as_numpy_iterator()),
    "buckets": list(
        ids.bucket_by_sequence_length(lambda t, y: tf.size(t), [90, 110], [16, 16, 16]).as_numpy_iterator()
    ),
    "characters": list(ds.map(lambda t, y: tf.strings.unicode_split(t, "UTF-8")).as_numpy_iterator()),
    "bytes": list(ds.map(lambda t, y: tf.io.decode_raw(tf.strings.substr(t, 0, 200), tf.uint8)).batch(32).as_numpy_iterator()),
}
