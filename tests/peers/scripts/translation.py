# SPDX-License-Identifier: Apache-2.0
# Translating: sentence pairs of a text file become numbers, for an encoder and a decoder.
import os
import re
import string

import numpy as np

import tensorflow as tf

path = os.path.join(FOLDER, "pairs.txt")  # noqa: F821
with open(path, "w") as f:
    f.write("Go on.\tSigue.\nWho is there?\t¿Quién está ahí?\nI saw it.\tLo vi.\nWe know.\tSabemos.\nRun!\t¡Corre!\n")

strip = string.punctuation.replace("[", "").replace("]", "") + "¿¡"


def clean(text):
    text = tf.strings.lower(text, encoding="utf-8")
    return tf.strings.regex_replace(text, "[" + re.escape(strip) + "]", "")


def pair(line):
    parts = tf.strings.split(line, "\t")
    return clean(parts[0]), tf.strings.join(["[start] ", clean(parts[1]), " [end]"])


pairs = tf.data.TextLineDataset(path).map(pair)
words = {0: set(), 1: set()}
for source, target in pairs.as_numpy_iterator():
    words[0].update(source.split())
    words[1].update(target.split())


def vocabulary(found):
    keys = sorted(found)
    init = tf.lookup.KeyValueTensorInitializer(keys, np.arange(2, len(keys) + 2, dtype=np.int64))
    return tf.lookup.StaticHashTable(init, default_value=1)


tables = [vocabulary(words[k]) for k in (0, 1)]


def numbers(text, table, length):
    ids = table.lookup(tf.strings.split(text))[:length]
    return tf.pad(ids, [[0, length - tf.shape(ids)[0]]])


def formatted(source, target):
    ids = numbers(target, tables[1], 9)
    return {"encoder_inputs": numbers(source, tables[0], 8), "decoder_inputs": ids[:-1]}, ids[1:]


results = {
    "text": list(pairs.as_numpy_iterator()),
    "batches": list(pairs.map(formatted, num_parallel_calls=tf.data.AUTOTUNE).cache().batch(2).prefetch(2).as_numpy_iterator()),
}
