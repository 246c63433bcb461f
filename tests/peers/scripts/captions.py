# SPDX-License-Identifier: Apache-2.0
# Captions: images with several sentences each, cleaned, counted, flattened to pairs and back to groups.
import os

import numpy as np

import tensorflow as tf

rng = np.random.default_rng(1)
names = []
for k in range(4):
    names.append(os.path.join(FOLDER, f"{k}.png"))  # noqa: F821
    image = rng.integers(0, 256, (12, 10 + k, 3), np.uint8)
    tf.io.write_file(names[-1], tf.io.encode_png(image))
captions = [[f"A dog, number {k}!", f"The {'brown' if k % 2 else 'black'} DOG runs; {k} times."] for k in range(4)]


def standardize(s):
    s = tf.strings.lower(s)
    s = tf.strings.regex_replace(s, r"[!\"#$%&()*+,-./:;=?@\[\\\]^_`{|}~]", "")
    return tf.strings.join(["[START]", s, "[END]"], separator=" ")


def load_image(path):
    image = tf.io.decode_png(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, (8, 8))


ds = tf.data.Dataset.from_tensor_slices((names, captions))
loaded = ds.map(lambda path, texts: (load_image(path), standardize(texts)))


def match_shapes(images, texts):
    n = tf.shape(texts)[1]
    texts = tf.reshape(texts, [-1])
    return tf.repeat(images, n, axis=0), texts


flat = loaded.batch(2).map(match_shapes).unbatch()
counts = {}
for words in flat.map(lambda _, t: tf.strings.split(t)).as_numpy_iterator():
    for w in words:
        counts[w.decode()] = counts.get(w.decode(), 0) + 1
words = sorted(counts, key=lambda w: (-counts[w], w))
table = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(words, tf.range(1, len(words) + 1)), default_value=0
)


def prepare(images, texts):
    tokens = table.lookup(tf.strings.split(texts).to_tensor(""))
    return (images, tokens[..., :-1]), tokens[..., 1:]


results = {
    "words": words,
    "texts": [t.numpy() for _, t in flat],
    "images": [i.numpy() for i, _ in flat.take(3)],
    "batches": list(flat.batch(3).map(prepare).as_numpy_iterator()),
    "lengths": [int(n) for n in flat.map(lambda _, t: tf.strings.length(t))],
}
