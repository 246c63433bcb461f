import os

import tensorflow as tf

names = []
for i in range(5):
    names.append(os.path.join(FOLDER, f"part-{i}.tfrecord"))
    with tf.io.TFRecordWriter(names[-1]) as w:
        for k in range(i + 2):
            w.write(f"{i}:{k}".encode())

files = tf.data.Dataset.list_files(os.path.join(FOLDER, "part-*.tfrecord"), shuffle=False)
plain = files.interleave(tf.data.TFRecordDataset, cycle_length=3, block_length=2)
parallel = files.interleave(
    tf.data.TFRecordDataset, cycle_length=2, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True
)
options = tf.data.Options()
options.deterministic = False
options.experimental_optimization.apply_default_optimizations = True
loose = files.interleave(
    tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE
).with_options(options)
shards = [files.shard(num_shards=2, index=i) for i in range(2)]
nested = tf.data.Dataset.range(3).flat_map(
    lambda x: tf.data.Dataset.from_tensors(x).repeat(x + 1).enumerate()
)
results = {
    "plain": list(plain.as_numpy_iterator()),
    "parallel": list(parallel.as_numpy_iterator()),
    "loose": sorted(loose.as_numpy_iterator()),
    "shards": [
        list(s.flat_map(tf.data.TFRecordDataset).as_numpy_iterator()) for s in shards
    ],
    "nested": list(nested.as_numpy_iterator()),
    "apply": list(
        files.apply(lambda d: d.take(2)).flat_map(tf.data.TFRecordDataset).as_numpy_iterator()
    ),
}
