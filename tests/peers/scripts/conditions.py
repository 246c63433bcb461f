# SPDX-License-Identifier: Apache-2.0
# Choices that depend on values: cond, case, switch_case, where, nested.
import tensorflow as tf

ds = tf.data.Dataset.range(-3, 6)


def kind(x):
    return tf.case([(x < 0, lambda: tf.constant("negative")), (x > 3, lambda: tf.constant("large"))],
                   default=lambda: tf.strings.join(["is ", tf.strings.as_string(x)]))


results = {
    "cond": [x.numpy() for x in ds.map(lambda x: tf.cond(x % 2 == 0, lambda: x // 2, lambda: 3 * x + 1))],
    "case": [x.numpy() for x in ds.map(kind)],
    "switch": [x.numpy() for x in ds.skip(3).map(lambda x: tf.switch_case(tf.cast(x, tf.int32) % 3, [lambda: x, lambda: x * 10, lambda: -x]))],
    "where": [x.numpy() for x in ds.batch(4).map(lambda x: tf.where(x > 0, tf.sqrt(tf.cast(x, tf.float32)), -1.0))],
    "clip": [x.numpy() for x in ds.map(lambda x: tf.clip_by_value(x, 0, 3))],
}
