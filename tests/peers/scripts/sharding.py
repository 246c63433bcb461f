# SPDX-License-Identifier: Apache-2.0
"""Files and elements shared among workers."""

import os
import tensorflow as tf

for i in range(4):
    with tf.io.TFRecordWriter(os.path.join(FOLDER, f"train-{i:05d}-of-00004")) as w:
        for j in range(6):
            w.write(f"{i}-{j}".encode())
def pipeline(num_workers, index, epochs=1):
    d = tf.data.Dataset.list_files(os.path.join(FOLDER, "train-*"), shuffle=False)
    d = d.shard(num_workers, index)
    d = d.repeat(epochs)
    d = d.interleave(tf.data.TFRecordDataset, cycle_length=2, block_length=2, num_parallel_calls=tf.data.AUTOTUNE)
    return d.batch(5, drop_remainder=False)
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
options.deterministic = True
options.threading.private_threadpool_size = 2
out = [list(pipeline(2, i).with_options(options).as_numpy_iterator()) for i in range(2)]
rows = [list(tf.data.Dataset.range(10).shard(num_shards=3, index=i).as_numpy_iterator()) for i in range(3)]
it = iter(tf.data.Dataset.range(3))
seen = [int(next(it)) for _ in range(3)]
try:
    next(it)
    end = False
except StopIteration:
    end = True
results = {"out": out, "rows": rows, "seen": seen, "end": end, "size": [int(pipeline(2, 0).cardinality())]}
