import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
labels = (rng.random(2000) < 0.05).astype(np.int64)
ds = tf.data.Dataset.from_tensor_slices((np.arange(2000), labels))
negative = ds.filter(lambda i, label: label == 0).repeat()
positive = ds.filter(lambda i, label: label == 1).repeat()
balanced = tf.data.Dataset.sample_from_datasets([negative, positive], [0.5, 0.5], seed=4).batch(10)
share = np.mean([y.mean() for _, y in balanced.take(100).as_numpy_iterator()])

resampled = ds.rejection_resample(
    class_func=lambda i, label: label, target_dist=[0.5, 0.5], initial_dist=[0.95, 0.05], seed=5
)
resampled = resampled.map(lambda extra_label, features_and_label: features_and_label)
got = np.array([int(label) for _, label in resampled.as_numpy_iterator()])

choice = tf.data.Dataset.range(3).repeat(2)
three = [tf.data.Dataset.from_tensors(w).repeat() for w in ("foo", "bar", "baz")]
chosen = tf.data.Dataset.choose_from_datasets(three, choice)
results = {
    "balanced": abs(share - 0.5) < 0.06,
    "resampled": 0.3 < got.mean() < 0.7,
    "chosen": list(chosen.as_numpy_iterator()),
    "counts": ds.reduce(
        np.zeros(2, np.int64), lambda c, e: c + tf.one_hot(e[1], 2, dtype=tf.int64)
    ).tolist() if not hasattr(tf, "Tensor") else ds.reduce(
        np.zeros(2, np.int64), lambda c, e: c + tf.one_hot(e[1], 2, dtype=tf.int64)
    ).numpy().tolist(),
}
