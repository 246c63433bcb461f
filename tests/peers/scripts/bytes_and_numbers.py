# SPDX-License-Identifier: Apache-2.0
# Files of one's own format: fixed records, raw bytes to numbers, bits, base64, CSV lines.
import os
import struct

import tensorflow as tf

path = os.path.join(FOLDER, "points.bin")  # noqa: F821
with open(path, "wb") as f:
    f.write(b"HEAD")
    for i in range(4):
        f.write(struct.pack("<hf", i, i / 4))
records = tf.data.FixedLengthRecordDataset(path, 6, header_bytes=4)


def parsed(r):
    number = tf.io.decode_raw(tf.strings.substr(r, 0, 2), tf.int16)[0]
    return number, tf.io.decode_raw(tf.strings.substr(r, 2, 4), tf.float32)[0]


lines = tf.data.Dataset.from_tensor_slices(["1,a,2.5", "2,\"b,c\",", "3,,0.5"])
results = {
    "points": [(a.numpy(), b.numpy()) for a, b in records.map(parsed)],
    "lines": [[v.numpy() for v in x] for x in lines.map(lambda l: tuple(tf.io.decode_csv(l, [0, "none", -1.0])))],
    "base64": [tf.io.decode_base64(tf.io.encode_base64(r)).numpy() for r in records],
    "bits": [tf.bitwise.bitwise_xor(tf.constant([5, 6]), tf.constant([3, 9])).numpy()],
    "cast": [tf.bitcast(tf.constant([1.0, -2.0]), tf.int32).numpy()],
    "round": [tf.io.parse_tensor(tf.io.serialize_tensor(tf.constant([[1, 2]])), tf.int32).numpy()],
}
