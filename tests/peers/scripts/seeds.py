# SPDX-License-Identifier: Apache-2.0
# Random operations whose seed is given: the same seed, the same result; values within their bounds.
import tensorflow as tf

image = tf.cast(tf.reshape(tf.range(8 * 8 * 3), [8, 8, 3]), tf.float32) / 192.0
ds = tf.data.Dataset.range(6)
seeds = ds.map(lambda i: tf.stack([i, i + 10]))


def changed(seed):
    out = tf.image.stateless_random_brightness(image, 0.2, seed)
    out = tf.image.stateless_random_crop(out, [6, 6, 3], seed)
    return tf.image.stateless_random_flip_left_right(out, seed)


first, second = ([x.numpy() for x in seeds.map(changed)] for _ in range(2))
u = tf.random.stateless_uniform([1000], [1, 2], minval=-1.0, maxval=3.0)
i = tf.random.stateless_uniform([1000], [1, 2], minval=2, maxval=5, dtype=tf.int32)
z = tf.random.stateless_normal([5000], [3, 4], mean=5.0, stddev=2.0)
g = tf.random.Generator.from_seed(1)
results = {
    "same": all((a == b).all() for a, b in zip(first, second)),
    "shapes": [x.shape for x in first],
    "bounds": [bool(-1 <= u.numpy().min() and u.numpy().max() < 3), sorted(set(i.numpy().tolist()))],
    "normal": [round(float(z.numpy().mean())), round(float(z.numpy().std()))],
    "again": bool((tf.random.stateless_normal([4], [3, 4]).numpy() == tf.random.stateless_normal([4], [3, 4]).numpy()).all()),
    "generator": [g.uniform([2, 3]).numpy().shape, g.normal([4]).numpy().dtype.name],
    "split": tf.random.split([1, 2], 3).numpy().shape,
    "dtype": [u.numpy().dtype.name, i.numpy().dtype.name],
}
