# SPDX-License-Identifier: Apache-2.0
"""A small CNN in Keras on the CPU: model.fit fed by our pipeline, and by tf.data.

Needs keras and tensorflow. The images are PNG files in memory, decoded and shifted at random in each epoch. to_tf()
goes through tf.data.Dataset.from_generator, to_keras() is a PyDataset: both cost a copy and a call per batch.
"""

import functools

import stoker.data as sd

import digits
import timing

BATCH = 64


@functools.lru_cache
def model():
    import keras

    keras.utils.set_random_seed(0)
    layers = [
        keras.layers.Input((digits.SIZE, digits.SIZE, 1)),
        keras.layers.Conv2D(8, 3, 2, activation="relu"),
        keras.layers.Conv2D(16, 3, 2, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(digits.CLASSES),
    ]
    made = keras.Sequential(layers)
    made.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return made


def fit(ds, is_small):
    model().fit(ds, verbose=0)
    return len(digits.drawn(is_small)[1])


def prepare(data, label):
    image = sd.image.resize_with_crop_or_pad(
        sd.io.decode_png(data, channels=1), digits.SIZE + 4, digits.SIZE + 4
    )
    return (
        sd.cast(sd.image.random_crop(image, [digits.SIZE, digits.SIZE, 1]), "float32") / 255.0,
        label,
    )


def before(is_small):
    """stoker.data, sequential, to_tf()"""
    return fit(
        sd.Dataset.from_tensor_slices(digits.drawn(is_small)).map(prepare).batch(BATCH).to_tf(),
        is_small,
    )


def ahead(is_small):
    ds = sd.Dataset.from_tensor_slices(digits.drawn(is_small)).shuffle(2048)
    return ds.map(prepare, sd.AUTOTUNE).batch(BATCH).prefetch(sd.AUTOTUNE)


def after(is_small):
    """stoker.data, parallel map and prefetch, to_tf()"""
    return fit(ahead(is_small).to_tf(), is_small)


def after_keras(is_small):
    """stoker.data, parallel map and prefetch, to_keras()"""
    return fit(ahead(is_small).to_keras(), is_small)


def tf_data(is_small):
    """The slices of the files and labels, and the same function, in TensorFlow"""
    import tensorflow as tf

    def tf_prepare(data, label):
        image = tf.image.resize_with_crop_or_pad(
            tf.io.decode_png(data, channels=1), digits.SIZE + 4, digits.SIZE + 4
        )
        return (
            tf.cast(tf.image.random_crop(image, [digits.SIZE, digits.SIZE, 1]), tf.float32) / 255.0,
            label,
        )

    files, labels = digits.drawn(is_small)
    return tf.data.Dataset.from_tensor_slices((list(files), labels)), tf_prepare


def tf_before(is_small):
    """tf.data, sequential"""
    ds, tf_prepare = tf_data(is_small)
    return fit(ds.map(tf_prepare).batch(BATCH), is_small)


def tf_after(is_small):
    """tf.data, parallel map and prefetch"""
    ds, tf_prepare = tf_data(is_small)
    auto = -1  # tf.data.AUTOTUNE
    return fit(ds.shuffle(2048).map(tf_prepare, auto).batch(BATCH).prefetch(auto), is_small)


if __name__ == "__main__":
    timing.main(
        __doc__.split("\n")[0],
        [before, after, after_keras, tf_before, tf_after],
        "images",
        prepare=digits.drawn,
    )
