import numpy as np
import tensorflow as tf

rng = np.random.default_rng(7)
images = rng.integers(0, 256, (12, 40, 50, 3), np.uint8)
jpegs = [bytes(np.asarray(tf.io.encode_jpeg(i, quality=95)).item()) for i in images[:3]]


def resize_and_rescale(image):
    image = tf.cast(image, tf.float32)
    image = tf.image.resize(image, [32, 32])
    return image / 255.0


def to_views(image):
    a = tf.image.crop_to_bounding_box(image, 4, 4, 24, 24)
    b = tf.image.pad_to_bounding_box(a, 4, 4, 32, 32)
    return a, b, tf.image.convert_image_dtype(tf.image.rot90(b), tf.uint8)


train = tf.data.Dataset.from_tensor_slices(images).map(resize_and_rescale).map(to_views).batch(5)
decoded = tf.data.Dataset.from_tensor_slices(jpegs).map(
    lambda j: tf.image.decode_jpeg(j, channels=3, dct_method="INTEGER_ACCURATE")
)
half = decoded.map(lambda i: tf.image.resize(i, [20, 25], method="nearest", antialias=False))
mixed = (
    tf.data.Dataset.zip((tf.data.Dataset.from_tensor_slices(images[:6]), tf.data.Dataset.from_tensor_slices(images[6:])))
    .map(lambda a, b: (resize_and_rescale(a), resize_and_rescale(b)))
    .map(lambda a, b: 0.3 * a + (1.0 - 0.3) * b)
)


@tf.function
def standardized(image):
    mean = tf.constant([0.485, 0.456, 0.406])
    std = tf.constant([0.229, 0.224, 0.225])
    return tf.transpose((image - mean) / std, [2, 0, 1])


results = {
    "train": list(train.as_numpy_iterator()),
    "half": [i.astype(np.int32) // 4 for i in half.as_numpy_iterator()],
    "mixed": list(mixed.map(standardized).batch(6).as_numpy_iterator()),
    "shapes": [list(i.shape) for i in decoded.as_numpy_iterator()],
}
