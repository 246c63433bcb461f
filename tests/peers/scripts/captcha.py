# SPDX-License-Identifier: Apache-2.0
# Reading of small texts in images: letters are numbers, the image's width is time, labels keep their lengths.
import os

import numpy as np

import tensorflow as tf

rng = np.random.default_rng(8)
texts = ["2b827", "n7d", "x38fn", "ec6p", "ab2"]
paths = []
for text in texts:
    paths.append(os.path.join(FOLDER, f"{text}.png"))  # noqa: F821
    with open(paths[-1], "wb") as f:
        f.write(tf.io.encode_png(rng.integers(0, 256, (14, 40, 1), np.uint8)).numpy())
labels = [p.split(os.path.sep)[-1].split(".png")[0] for p in paths]
letters = sorted(set("".join(labels)))
to_number = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(tf.constant(letters), tf.range(len(letters), dtype=tf.int64)), -1
)


def encode(path, label):
    image = tf.io.decode_png(tf.io.read_file(path), channels=1)
    image = tf.image.convert_image_dtype(image, tf.float32)
    image = tf.image.resize(image, [10, 32])
    image = tf.transpose(image, perm=[1, 0, 2])
    label = to_number.lookup(tf.strings.unicode_split(label, input_encoding="UTF-8"))
    return {"image": image, "label": label, "length": tf.size(label)}


ds = tf.data.Dataset.from_tensor_slices((paths, labels)).map(encode, num_parallel_calls=tf.data.AUTOTUNE)
batches = ds.padded_batch(
    2,
    padded_shapes={"image": [None, None, None], "label": [None], "length": []},
    padding_values={"image": 0.0, "label": tf.constant(99, tf.int64), "length": 0},
)
by_length = ds.bucket_by_sequence_length(
    lambda e: e["length"], bucket_boundaries=[4, 5], bucket_batch_sizes=[2, 2, 2], pad_to_bucket_boundary=False
)
results = {
    "batches": list(batches.as_numpy_iterator()),
    "by_length": [e["label"].numpy() for e in by_length],
    "text": [tf.strings.reduce_join(tf.gather(letters, e["label"])).numpy() for e in ds],
    "mask": [tf.sequence_mask(b["length"], 6, dtype=tf.float32).numpy() for b in batches],
    "one_hot": [tf.one_hot(e["label"], len(letters)).numpy() for e in ds.take(2)],
}
