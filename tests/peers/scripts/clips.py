# SPDX-License-Identifier: Apache-2.0
# Video: frames of a clip are drawn at a step from a start, resized with a border, and given by a generator.
import numpy as np

import tensorflow as tf

rng = np.random.default_rng(3)
videos = [rng.integers(0, 256, (n, 20, 30, 3), np.uint8) for n in (9, 14, 30)]


def formatted(frame, size):
    frame = tf.image.convert_image_dtype(frame, tf.float32)
    return tf.image.resize_with_pad(frame, *size)


def frames(video, n, step):
    need = 1 + (n - 1) * step
    start = 0 if need > len(video) else (len(video) - need) // 2
    out = [formatted(video[start], (16, 16))]
    for k in range(1, n):
        at = start + k * step
        out.append(formatted(video[at], (16, 16)) if at < len(video) else np.zeros_like(out[0]))
    return np.array(out)[..., [2, 1, 0]]


class Clips:
    def __init__(self, n):
        self.n = n

    def __call__(self):
        for label, video in enumerate(videos):
            yield frames(video, self.n, 4), label


signature = (
    tf.TensorSpec(shape=(None, None, None, 3), dtype=tf.float32),
    tf.TensorSpec(shape=(), dtype=tf.int16),
)
ds = tf.data.Dataset.from_generator(Clips(4), output_signature=signature)
clips, labels = next(iter(ds.batch(2)))
results = {
    "shape": list(clips.shape),
    "labels": labels.numpy(),
    "batches": list(ds.cache().batch(2).prefetch(tf.data.AUTOTUNE).as_numpy_iterator()),
    "mean": [float(tf.reduce_mean(c)) for c, _ in ds],
}
