import os

import numpy as np
import tensorflow as tf

IMG_SIZE = 24
rng = np.random.default_rng(1)
for name in ("daisy", "roses"):
    os.makedirs(os.path.join(FOLDER, "flowers", name), exist_ok=True)
    for i in range(4):
        small = rng.integers(0, 256, (5, 6, 3), np.uint8)
        image = np.repeat(np.repeat(small, 8, 0), 8, 1)
        tf.io.write_file(
            os.path.join(FOLDER, "flowers", name, f"{i}.png"), tf.io.encode_png(image)
        )

class_names = np.array(["daisy", "roses"])
list_ds = tf.data.Dataset.list_files(os.path.join(FOLDER, "flowers", "*", "*"), shuffle=False)
list_ds = list_ds.shuffle(8, reshuffle_each_iteration=False)
val_ds, train_ds = list_ds.take(2), list_ds.skip(2)


def get_label(file_path):
    parts = tf.strings.split(file_path, os.path.sep)
    one_hot = parts[-2] == class_names
    return tf.argmax(one_hot)


def decode_img(img):
    img = tf.io.decode_png(img, channels=3)
    return tf.image.resize(img, [IMG_SIZE, IMG_SIZE])


def process_path(file_path):
    label = get_label(file_path)
    img = tf.io.read_file(file_path)
    return decode_img(img) / 255.0, label


train_ds = train_ds.map(process_path, num_parallel_calls=tf.data.AUTOTUNE)
val_ds = val_ds.map(process_path, num_parallel_calls=tf.data.AUTOTUNE)
both = list(train_ds.as_numpy_iterator()) + list(val_ds.as_numpy_iterator())


def augment(image, label):
    image = tf.image.flip_left_right(image)
    image = tf.image.adjust_brightness(image, 0.1)
    image = tf.image.adjust_contrast(image, 1.5)
    image = tf.image.central_crop(image, 0.5)
    image = tf.image.resize_with_crop_or_pad(image, 16, 20)
    return tf.clip_by_value(image, 0.0, 1.0), label


ordered = tf.data.Dataset.list_files(os.path.join(FOLDER, "flowers", "*", "*"), shuffle=False)
results = {
    "sizes": (tf.data.experimental.cardinality(train_ds).numpy() if hasattr(tf, "function") and hasattr(
        tf.data.experimental.cardinality(train_ds), "numpy") else int(tf.data.experimental.cardinality(train_ds))),
    "sums": sorted((int(label), round(float(image.sum()), 1)) for image, label in both),
    "augmented": list(ordered.map(process_path).map(augment).batch(4).as_numpy_iterator()),
    "gray": list(
        ordered.map(process_path)
        .map(lambda i, l: tf.image.rgb_to_grayscale(tf.image.per_image_standardization(i)))
        .batch(8)
        .as_numpy_iterator()
    ),
}
