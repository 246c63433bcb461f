# SPDX-License-Identifier: Apache-2.0
# The image guide: brightness, contrast, saturation, crops, flips and resizing of one picture.
import tensorflow as tf

image = tf.reshape(tf.range(12 * 10 * 3), [12, 10, 3]) * 7 % 256
image = tf.cast(image, tf.uint8)
ds = tf.data.Dataset.from_tensors(image)


def one(f):
    return next(iter(ds.map(f))).numpy()


floats = lambda x: tf.image.convert_image_dtype(x, tf.float32)
results = {
    "flip": one(tf.image.flip_left_right),
    "grey": one(lambda x: tf.image.rgb_to_grayscale(floats(x))),
    "saturation": one(lambda x: tf.image.adjust_saturation(floats(x), 3)),
    "brightness": one(lambda x: tf.image.adjust_brightness(floats(x), 0.4)),
    "contrast": one(lambda x: tf.image.adjust_contrast(floats(x), 2.0)),
    "central": one(lambda x: tf.image.central_crop(x, 0.5)),
    "rot": one(tf.image.rot90),
    "resize": one(lambda x: tf.image.resize(x, [5, 7]) / 255.0),
    "nearest": one(lambda x: tf.image.resize(x, [5, 7], method="nearest")),
    "pad": one(lambda x: tf.image.resize_with_crop_or_pad(x, 14, 8)),
    "yuv": one(lambda x: tf.image.yuv_to_rgb(tf.image.rgb_to_yuv(floats(x)))),
    "yiq": one(lambda x: tf.image.rgb_to_yiq(floats(x))),
    "standard": one(lambda x: tf.image.per_image_standardization(x)),
    "psnr": one(lambda x: tf.image.psnr(floats(x), tf.image.flip_up_down(floats(x)), 1.0)),
}
