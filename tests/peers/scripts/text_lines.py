import os

import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE
names = []
for author, lines in (
    ("cowper", ["Achilles sing, O Goddess!  Peleus' son;", "", "His wrath pernicious, who ten thousand woes"]),
    ("derby", ["Of Peleus' son, Achilles, sing, O Muse,", "The vengeance, deep and deadly; whence to Greece"]),
):
    names.append(os.path.join(FOLDER, author + ".txt"))
    with open(names[-1], "w") as f:
        f.write("\n".join(lines) + "\n")


def labeler(example, index):
    return example, tf.cast(index, tf.int64)


labeled = []
for i, name in enumerate(names):
    lines_dataset = tf.data.TextLineDataset(name)
    labeled.append(lines_dataset.map(lambda ex, i=i: labeler(ex, i)))
all_labeled = labeled[0]
for ds in labeled[1:]:
    all_labeled = all_labeled.concatenate(ds)
not_empty = all_labeled.filter(lambda line, label: tf.strings.length(line) > 0)


def standardize(line, label):
    line = tf.strings.lower(line)
    line = tf.strings.regex_replace(line, "[^a-z ]", "")
    return tf.strings.strip(line), label


tokens = not_empty.map(standardize, num_parallel_calls=AUTOTUNE)
first = tf.data.TextLineDataset(names).skip(1).take(2)
interleaved = tf.data.Dataset.from_tensor_slices(names).interleave(
    tf.data.TextLineDataset, cycle_length=2
)
results = {
    "tokens": list(tokens.batch(2).as_numpy_iterator()),
    "first": list(first.as_numpy_iterator()),
    "interleaved": list(interleaved.as_numpy_iterator()),
    "upper": list(tf.data.TextLineDataset(names[1]).map(tf.strings.upper).as_numpy_iterator()),
}
