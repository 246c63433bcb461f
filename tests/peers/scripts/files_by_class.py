# SPDX-License-Identifier: Apache-2.0
# A folder for each class: names to labels by their path, files read, splits by take and skip.
import os

import tensorflow as tf

for k, name in enumerate(("daisy", "rose", "tulip")):
    os.makedirs(os.path.join(FOLDER, "flowers", name))  # noqa: F821
    for i in range(4):
        picture = tf.fill([6 + i, 5, 3], tf.constant(40 * k + i, tf.uint8))
        path = os.path.join(FOLDER, "flowers", name, f"{i}.png")  # noqa: F821
        tf.io.write_file(path, tf.io.encode_png(picture))
names = tf.data.Dataset.list_files(os.path.join(FOLDER, "flowers/*/*"), shuffle=False)  # noqa: F821
classes = tf.constant(["daisy", "rose", "tulip"])


def labelled(path):
    parts = tf.strings.split(path, os.path.sep)
    label = tf.argmax(tf.cast(parts[-2] == classes, tf.int32))
    picture = tf.io.decode_png(tf.io.read_file(path), channels=3)
    return tf.image.resize(picture, [4, 4]), label


n = int(names.cardinality())
train, valid = names.skip(n // 4).map(labelled), names.take(n // 4).map(labelled)
results = {
    "count": n,
    "train": [(x.numpy().mean().item(), y.numpy()) for x, y in train],
    "valid": [(x.numpy(), y.numpy()) for x, y in valid.batch(2)],
    "names": [os.path.basename(p.numpy().decode()) for p in names],
}
