# SPDX-License-Identifier: Apache-2.0
"""A job of TensorFlow on the CPU, with the names that the rules' snippets take for granted."""

import concurrent.futures
import os
import threading

import jobs
import numpy as np
import tensorflow as tf

try:
    import tensorboard  # noqa: F401
except ImportError:
    jobs.ELSEWHERE += ("TensorBoard(", "tf.summary.")


def records():
    for i in range(2):
        with tf.io.TFRecordWriter(f"part-{i}.tfrecord") as w:
            for k in range(8):
                w.write(np.full(8, k, np.float32).tobytes())


def world(code):
    records()
    model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    values = np.ones((8,), np.float32)

    def parse(record):
        return tf.io.decode_raw(record, tf.float32) if record.dtype == tf.string else record + 1

    def train_step(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(tf.reshape(batch, (-1, 8))))
        tape.gradient(loss, model.trainable_variables)
        return loss

    tape = tf.GradientTape(persistent=True)
    if "tape.gradient" in code and "GradientTape" not in code:
        tape.__enter__()  # the snippet is the inside of a step
    data = tf.data.Dataset.from_tensor_slices(np.ones((256, 8), np.float32))
    return {
        "tf": tf, "os": os, "np": np, "load_batch": lambda: next(iter(data.batch(4))), "threading": threading, "pattern": "part-*.tfrecord", "files": ["part-0.tfrecord"], "batch_size": 4,
        "parse": parse, "wanted": lambda record: True, "augment": lambda x: x * 2, "model": model, "optimizer": "sgd", "loss": Loss(), "step": 1000,
        "values": values, "parts": [tf.ones((2, 2)), tf.ones(4)], "alike": [tf.ones(8)] * 3, "layer": lambda x: x * 2, "make_model": lambda: model, "train_step": train_step, "ds": data if ".fit(" not in code else samples(data) if ".batch(" in code else pairs(data),
        "dataset": pairs(data) if ".fit(" in code else data.batch(4).repeat(),
        "batches": iter(data.batch(4)), "prepare": lambda record: record * 2, "weights": tf.ones((2, 2)), "epochs": 2, "steps_per_epoch": 2,
        "writer": tf.summary.create_file_writer("summaries"), "keras": tf.keras, "concurrent": concurrent, "decode": lambda *parts: parts,
        "x": np.ones((4, 8), np.float32), "y": np.ones((4, 1), np.float32), "loss_of": lambda out, y: tf.reduce_mean((out - y) ** 2), "tape": tape,
        "rows": tf.ones((64, 3)), "length": 5, "count": 2, "index": 0, "path": "kept", "name": model.layers[-1].name, "all_rounds": lambda: tf.ones(2),
        "pictures": tf.ones((2, 4, 4, 3)), "save_samples": lambda step, pictures: np.save("samples.npy", pictures),
    }


class Loss(tf.keras.losses.MeanSquaredError):
    """For compile(), and as the value of a step."""

    def __float__(self):
        return 0.5


def samples(ds):
    return ds.map(lambda x: (x, x[:1]))


def pairs(ds):
    return samples(ds).batch(4)


def use(names, made):
    if "ds" in made:
        next(iter(names["ds"]))
    if "model" in made or "compile" in str(made):
        names["model"].fit(pairs(world("")["ds"]), verbose=0)
    if "prepare" in made:
        names["prepare"](tf.ones(4))
    if "train_step" in made and callable(names["train_step"]):
        step = names["train_step"]
        wants = getattr(step, "input_signature", None)
        if wants is None:
            step(np.ones((4, 8), np.float32))
    if "save_later" in made:
        for t in threading.enumerate():
            if t is not threading.current_thread() and not t.daemon:
                t.join()
        model = names["model"]
        for v, x in zip(model.variables, np.load("weights.npz").values(), strict=True):
            v.assign(x)
    if "gradients" in made:
        names["tape"].__exit__(None, None, None)
        if any(g is None for g in names["gradients"]):
            raise ValueError("a variable has no gradient")
    if "later" in made:
        names["later"].shutdown(wait=True)
        if np.load("samples.npy").shape != (2, 4, 4, 3):
            raise ValueError("the samples were not written")
    if "strategy" in made:
        with names["strategy"].scope():
            tf.Variable(1.0)


if __name__ == "__main__":
    jobs.main(world, {"tf": tf}, use)
