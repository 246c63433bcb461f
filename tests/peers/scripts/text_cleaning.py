# SPDX-License-Identifier: Apache-2.0
# Reviews: markup out, lower case, words counted, vocabulary by frequency, padded to one length.
import collections
import re
import string

import tensorflow as tf

reviews = ["What a <br /> GREAT film!", "bad, bad; very bad film...", "a film<br />of films"]
ds = tf.data.Dataset.from_tensor_slices((reviews, [1, 0, 1]))


def clean(text, label):
    text = tf.strings.lower(text)
    text = tf.strings.regex_replace(text, "<br />", " ")
    return tf.strings.regex_replace(text, f"[{re.escape(string.punctuation)}]", ""), label


counts = collections.Counter()
for text, _ in ds.map(clean):
    counts.update(text.numpy().decode().split())
words = [w for w, _ in sorted(counts.items(), key=lambda p: (-p[1], p[0]))]
table = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(words, tf.range(2, len(words) + 2)), default_value=1
)
ids = ds.map(clean).map(lambda t, y: (table.lookup(tf.strings.split(t)), y))
results = {
    "clean": [t.numpy() for t, _ in ds.map(clean)],
    "words": words,
    "ids": [(i.numpy(), y.numpy()) for i, y in ids],
    "padded": [(i.numpy(), y.numpy()) for i, y in ids.padded_batch(3, padded_shapes=([10], []))],
    "lengths": [tf.strings.length(t).numpy() for t, _ in ds],
    "part": [tf.strings.substr(t, 0, 4).numpy() for t, _ in ds],
}
