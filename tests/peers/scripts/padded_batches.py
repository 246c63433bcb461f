import numpy as np
import tensorflow as tf

sentences = [[5, 3], [2], [7, 7, 7, 1], [], [9, 8, 7]]


def gen():
    for i, s in enumerate(sentences):
        yield np.array(s, np.int32), i


ds = tf.data.Dataset.from_generator(
    gen, output_signature=(tf.TensorSpec((None,), tf.int32), tf.TensorSpec((), tf.int64))
)
plain = ds.padded_batch(2)
fixed = ds.padded_batch(
    2, padded_shapes=([6], []), padding_values=(tf.constant(-1, tf.int32), tf.constant(0, tf.int64)),
    drop_remainder=True,
)
filled = tf.data.Dataset.range(1, 6).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x))
masks = plain.map(lambda x, i: (x, tf.cast(tf.math.not_equal(x, 0), tf.float32), i))
results = {
    "plain": list(plain.as_numpy_iterator()),
    "fixed": list(fixed.as_numpy_iterator()),
    "filled": list(filled.padded_batch(4, padded_shapes=(None,)).as_numpy_iterator()),
    "masks": list(masks.as_numpy_iterator()),
    "eos": list(
        ds.map(lambda x, i: tf.concat([[1], x, [2]], 0)).padded_batch(5).as_numpy_iterator()
    ),
    "spec": [list(s.shape) for s in plain.element_spec],
}
