import os

import tensorflow as tf

ds = tf.data.Dataset.range(20).map(lambda x: {"x": x, "y": tf.cast(x, tf.float32) * 0.5})
cached = ds.cache(os.path.join(FOLDER, "cache"))
snapped = ds.snapshot(os.path.join(FOLDER, "snapshot"))
ds.save(os.path.join(FOLDER, "saved"))
loaded = tf.data.Dataset.load(os.path.join(FOLDER, "saved"))
results = {
    "cached": [list(cached.batch(8).as_numpy_iterator()) for _ in range(2)],
    "memory": [list(ds.cache().repeat(2).batch(15).as_numpy_iterator())],
    "snapshot": [list(snapped.as_numpy_iterator()) for _ in range(2)],
    "loaded": list(loaded.as_numpy_iterator()),
    "cardinality": int(loaded.cardinality()),
}
