import numpy as np
import tensorflow as tf

range_ds = tf.data.Dataset.range(100)
batches = range_ds.batch(10, drop_remainder=True)


def dense_1_step(batch):
    return batch[:-1], batch[1:]


feature_length, label_length = 15, 5


def label_next_5_steps(batch):
    return batch[:-label_length], batch[-label_length:]


features = range_ds.batch(feature_length, drop_remainder=True)
labels = range_ds.batch(feature_length).skip(1).map(lambda labels: labels[:label_length])


def make_window_dataset(ds, window_size=5, shift=1, stride=1):
    windows = ds.window(window_size, shift=shift, stride=stride)

    def sub_to_batch(sub):
        return sub.batch(window_size, drop_remainder=True)

    return windows.flat_map(sub_to_batch)


dense_labels_ds = make_window_dataset(range_ds, window_size=6, shift=4, stride=3).map(dense_1_step)

series = np.sin(np.arange(60, dtype=np.float32) * 0.3)


def windowed_dataset(series, window_size, batch_size):
    dataset = tf.data.Dataset.from_tensor_slices(series)
    dataset = dataset.window(window_size + 1, shift=1, drop_remainder=True)
    dataset = dataset.flat_map(lambda window: window.batch(window_size + 1))
    dataset = dataset.map(lambda window: (window[:-1], window[-1]))
    return dataset.batch(batch_size).prefetch(1)


pairs = tf.data.Dataset.from_tensor_slices((series, series * 2)).window(4, shift=2, drop_remainder=True)
pairs = pairs.flat_map(lambda a, b: tf.data.Dataset.zip((a.batch(4), b.batch(4))))
results = {
    "dense": list(batches.map(dense_1_step).take(3).as_numpy_iterator()),
    "next": list(
        range_ds.batch(20, drop_remainder=True).map(label_next_5_steps).as_numpy_iterator()
    ),
    "zip": list(tf.data.Dataset.zip((features, labels)).as_numpy_iterator()),
    "windows": list(dense_labels_ds.as_numpy_iterator()),
    "series": list(windowed_dataset(series, 8, 16).as_numpy_iterator()),
    "pairs": list(pairs.as_numpy_iterator()),
}
