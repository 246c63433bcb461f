import numpy as np
import tensorflow as tf

ds = tf.data.Dataset.range(12)
grouped = ds.group_by_window(
    key_func=lambda x: x % 2, reduce_func=lambda key, d: d.batch(4), window_size=4
)
scanned = ds.scan(initial_state=tf.constant(0, dtype=tf.int64), scan_func=lambda s, x: (s + x, s + x))
total = ds.reduce(np.int64(0), lambda s, x: s + x)
some = ds.take_while(lambda x: x * x < 50).filter(lambda x: x % 3 != 0)
unique = tf.data.Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique()
both = tf.data.Dataset.zip((ds, ds.map(lambda x: x * 2).batch(3).unbatch(), ds.skip(2)))
numbered = tf.data.Dataset.from_tensor_slices(["a", "b"]).enumerate(start=5)
repeated = ds.take(3).repeat(2).concatenate(tf.data.Dataset.range(100, 102))
results = {
    "grouped": list(grouped.as_numpy_iterator()),
    "scanned": list(scanned.as_numpy_iterator()),
    "total": int(total),
    "some": list(some.as_numpy_iterator()),
    "unique": list(unique.as_numpy_iterator()),
    "both": list(both.as_numpy_iterator()),
    "numbered": list(numbered.as_numpy_iterator()),
    "repeated": list(repeated.as_numpy_iterator()),
    "rebatch": list(ds.batch(5).rebatch(4).as_numpy_iterator()),
    "single": int(ds.batch(12).map(tf.reduce_sum).get_single_element()),
    "cardinality": [int(d.cardinality()) for d in (ds.repeat(), some, both, ds.batch(5))],
}
