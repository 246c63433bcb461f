# SPDX-License-Identifier: Apache-2.0
# Generating text by characters: ids, sequences of one length, input and target by one place.
import tensorflow as tf

text = "first citizen: before we proceed any further, hear me speak."
letters = sorted(set(text))
table = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(letters, tf.range(len(letters))), default_value=-1
)
back = tf.constant(letters)
ids = table.lookup(tf.strings.unicode_split(text, "UTF-8"))
sequences = tf.data.Dataset.from_tensor_slices(ids).batch(13, drop_remainder=True)
pairs = sequences.map(lambda s: (s[:-1], s[1:]))
results = {
    "ids": ids.numpy(),
    "pairs": [(a.numpy(), b.numpy()) for a, b in pairs.batch(2, drop_remainder=True)],
    "text": [tf.strings.reduce_join(tf.gather(back, a)).numpy() for a, _ in pairs],
    "shapes": [tuple(s.shape.as_list()) for s in pairs.batch(2, drop_remainder=True).element_spec],
}
