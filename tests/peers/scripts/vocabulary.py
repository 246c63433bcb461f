# SPDX-License-Identifier: Apache-2.0
"""Lines of several files with labels: words, characters, buckets."""

import os
import tensorflow as tf

names = ["cowper.txt", "derby.txt", "butler.txt"]
for i, n in enumerate(names):
    with open(os.path.join(FOLDER, n), "w") as f:
        f.write("\n".join(f"Achilles {w} sing, O Goddess! Line {j}; café" for j, w in enumerate(["wrath", "Peleus' Son", "  spaced "] * 3)))

def labeler(example, index):
    return example, tf.cast(index, tf.int64)

sets = []
for i, n in enumerate(names):
    lines = tf.data.TextLineDataset(os.path.join(FOLDER, n))
    sets.append(lines.map(lambda ex: labeler(ex, i)))
all_ds = sets[0]
for s in sets[1:]:
    all_ds = all_ds.concatenate(s)

def standardize(text, label):
    lower = tf.strings.lower(text)
    clean = tf.strings.regex_replace(lower, "[!;',]", "")
    return tf.strings.split(tf.strings.strip(clean)), label

tokens = all_ds.map(standardize, num_parallel_calls=tf.data.AUTOTUNE)
padded = tokens.padded_batch(4, padded_shapes=([None], []), padding_values=("", tf.constant(-1, tf.int64)))
lens = tokens.map(lambda t, l: (tf.size(t), tf.strings.reduce_join(t, separator="_"), tf.strings.to_hash_bucket_fast(t, 50)))
buck = tokens.bucket_by_sequence_length(lambda t, l: tf.shape(t)[0], bucket_boundaries=[7, 8], bucket_batch_sizes=[4, 3, 2])
chars = all_ds.take(2).map(lambda t, l: tf.strings.unicode_split(t, "UTF-8"))
results = {"padded": list(padded.as_numpy_iterator()), "lens": list(lens.as_numpy_iterator()), "buck": list(buck.as_numpy_iterator()), "chars": list(chars.as_numpy_iterator()), "spec": str([tuple(s.shape) for s in padded.element_spec])}
