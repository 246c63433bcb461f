#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the TFRecord files of this folder with TensorFlow (2.21 was used). Their content is a
formula of the record's number, which tests/unit/example_parse.c knows, too."""
import tensorflow as tf


def feature(kind, values):
    if kind == "int64":
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    if kind == "float":
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))


def example(i):
    """id: one; x: 4 floats; tags: i % 4 texts; big: i % 5 integers of all lengths; maybe: only even."""
    f = {
        "id": feature("int64", [i - 3]),
        "x": feature("float", [i + k / 4 for k in range(4)]),
        "tags": feature("bytes", [b"tag-%d-%d" % (i, k) for k in range(i % 4)]),
        "big": feature("int64", [(-1) ** k * (1 << (12 * k + i % 12)) for k in range(i % 5)]),
        "not asked for": feature("bytes", [b"x" * (i % 7)]),
    }
    if i % 2 == 0:
        f["maybe"] = feature("float", [i / 2])
    return tf.train.Example(features=tf.train.Features(feature=f)).SerializeToString()


def sequence(i):
    """context id; lists: frames of 2 floats, i % 3 steps; words: i % 4 steps of k texts."""
    lists = {
        "frames": tf.train.FeatureList(feature=[feature("float", [i, k]) for k in range(i % 3)]),
        "words": tf.train.FeatureList(
            feature=[feature("bytes", [b"w%d" % j for j in range(k)]) for k in range(i % 4)]),
    }
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={"id": feature("int64", [i])}),
        feature_lists=tf.train.FeatureLists(feature_list=lists)).SerializeToString()


def write(name, records, options=""):
    with tf.io.TFRecordWriter(name, options) as w:
        for r in records:
            w.write(r)


examples = [example(i) for i in range(60)]
write("plain.tfrecord", examples)
write("gzip.tfrecord", examples, "GZIP")
write("zlib.tfrecord", examples, "ZLIB")
write("sequence.tfrecord", [sequence(i) for i in range(24)])
write("empty.tfrecord", [])
write("lengths.tfrecord", [bytes(k % 251 for k in range(n)) for n in (0, 1, 7, 8, 9, 15, 16, 17, 300, 1000)])
