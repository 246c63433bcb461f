import numpy as np
import tensorflow as tf

BATCH_SIZE, BUFFER_SIZE = 16, 100
rng = np.random.default_rng(0)
train_images = rng.integers(0, 256, (100, 28, 28), np.uint8)
train_labels = rng.integers(0, 10, 100).astype(np.uint8)


def normalize_img(image, label):
    return tf.cast(image, tf.float32) / 255.0, label


ds_train = tf.data.Dataset.from_tensor_slices((train_images, train_labels))
ds_train = ds_train.map(normalize_img, num_parallel_calls=tf.data.AUTOTUNE)
ds_train = ds_train.cache()
ds_train = ds_train.shuffle(BUFFER_SIZE)
ds_train = ds_train.batch(BATCH_SIZE)
ds_train = ds_train.prefetch(tf.data.AUTOTUNE)

ds_test = tf.data.Dataset.from_tensor_slices((train_images[..., None], train_labels))
ds_test = ds_test.map(normalize_img).batch(BATCH_SIZE, drop_remainder=True)

results = {
    "batches": len(ds_train),
    "spec": [[d for d in s.shape] + [s.dtype.name] for s in ds_train.element_spec],
    "sizes": [len(y) for _, y in ds_train.as_numpy_iterator()],
    "sums": sorted(
        round(float(i.sum()), 2) for x, _ in ds_train.as_numpy_iterator() for i in x
    ),
    "test": list(ds_test.as_numpy_iterator()),
}
