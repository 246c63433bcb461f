# SPDX-License-Identifier: Apache-2.0
# Segmentation and translation of images: picture and mask resized, cropped and mirrored together.
import tensorflow as tf

pictures = tf.cast(tf.reshape(tf.range(3 * 8 * 8 * 3), [3, 8, 8, 3]) % 255, tf.uint8)
masks = tf.cast(tf.reshape(tf.range(3 * 8 * 8), [3, 8, 8, 1]) % 3, tf.uint8)
ds = tf.data.Dataset.from_tensor_slices({"image": pictures, "mask": masks})


def load(point):
    image = tf.image.resize(point["image"], (6, 6))
    mask = tf.image.resize(point["mask"], (6, 6), method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)
    return tf.cast(image, tf.float32) / 127.5 - 1, mask


def both(image, mask):
    stacked = tf.concat([image, tf.cast(mask, tf.float32)], axis=-1)
    stacked = tf.image.flip_left_right(tf.image.central_crop(stacked, 0.67))
    return stacked[..., :3], tf.cast(stacked[..., 3:], tf.int32)


results = {
    "loaded": [(i.numpy(), m.numpy()) for i, m in ds.map(load)],
    "both": [(i.numpy(), m.numpy()) for i, m in ds.map(load).map(both).batch(2)],
}
