# SPDX-License-Identifier: Apache-2.0
"""Records a small Keras CNN, trained with model.fit, that waits for its tf.data input; or the same job with the fix.

Job: 64 JPEG files of 960 x 720 are read, decoded, resized and normalized by a map, then batched by 16.
  default   sequential map, no cache, no prefetch: every step decodes its 16 images while the model waits
  --fixed   map with AUTOTUNE, cache after it, prefetch at the end: decoded once, during warm-up
Two tf.data rewrites that would hide the fault are turned off in both: map_parallelization, which makes a sequential
map parallel, and inject_prefetch. Everything else has TensorFlow's defaults.

Method: one call of fit; a callback starts the profiler after WARMUP steps and stops it STEPS later, as
keras.callbacks.TensorBoard(profile_batch=...) does. The same callback times the steps. The fetch runs inside the
compiled train function, where a script cannot time it, so the truth file has two estimates that need no profile:
input_wait_share = 1 - compute / step, compute being the step time of a second fit on one constant batch, and
input_alone_share = time per batch of the pipeline without a model / step. They differ by some hundredths.
Limits: CPU only, without XLA (jit_compile="auto" chooses the same here). Threads of the model and of tf.data share the
cores. Python isn't traced, because that multiplies the size of the file.
"""

import argparse
import glob
import os
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

import truth

BATCH, FILES = 16, 64
PHOTO, SIDE = (720, 960), 96
WARMUP, STEPS = 8, 30


def make_photos(folder):
    """Write FILES photo-like JPEGs (smooth shapes with some noise); returns their paths and labels."""
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(0)
    paths = [os.path.join(folder, f"{i:03d}.jpg") for i in range(FILES)]
    for path in paths:
        coarse = rng.uniform(0, 255, (12, 16, 3)).astype("float32")
        image = tf.image.resize(coarse, PHOTO, method="bicubic").numpy() + rng.normal(0, 8, (*PHOTO, 3))
        pixels = np.clip(image, 0, 255).astype("uint8")
        tf.io.write_file(path, tf.io.encode_jpeg(pixels, quality=90))
    return paths, rng.integers(0, 10, FILES).astype("int32")


def load(path, label):
    """Preprocessing: read, decode, resize, normalize."""
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    image = tf.image.resize(image, (SIDE, SIDE))
    return tf.image.per_image_standardization(image), label


def make_dataset(paths, labels, fixed):
    """The input pipeline, endless; the top of the file describes the two variants."""
    data = tf.data.Dataset.from_tensor_slices((paths, labels))
    if fixed:
        data = data.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache()
        data = data.repeat().batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    else:
        data = data.map(load).repeat().batch(BATCH, drop_remainder=True)
    options = tf.data.Options()
    options.experimental_optimization.map_parallelization = False
    options.experimental_optimization.inject_prefetch = False
    return data.with_options(options)


def make_model():
    """A CNN of a few tens of milliseconds per step on two cores."""
    layers = keras.layers
    model = keras.Sequential([keras.Input((SIDE, SIDE, 3))])
    for filters in (16, 32, 64):
        model.add(layers.Conv2D(filters, 3, padding="same", activation="relu"))
        model.add(layers.MaxPooling2D())
    model.add(layers.GlobalAveragePooling2D())
    model.add(layers.Dense(10))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer="adam", loss=loss, jit_compile=False)
    return model


class Recorder(keras.callbacks.Callback):
    """Profiles STEPS steps after WARMUP into `logdir` (None: times them only)."""

    def __init__(self, logdir=None):
        super().__init__()
        self.logdir, self.starts, self.end = logdir, [], None

    def on_train_batch_begin(self, batch, logs=None):
        if batch == WARMUP and self.logdir:
            options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2, python_tracer_level=0)
            tf.profiler.experimental.start(self.logdir, options=options)
        if batch >= WARMUP:
            self.starts.append(time.perf_counter())

    def on_train_batch_end(self, batch, logs=None):
        if batch == WARMUP + STEPS - 1:
            self.end = time.perf_counter()
            if self.logdir:
                tf.profiler.experimental.stop()

    def step_s(self):
        """Seconds of each timed step: from its start to the next start, the last to its own end."""
        return np.diff([*self.starts, self.end]).tolist()


def fit(model, data, logdir=None):
    """Train WARMUP + STEPS steps; returns the seconds of the timed ones."""
    recorder = Recorder(logdir)
    model.fit(data, epochs=1, steps_per_epoch=WARMUP + STEPS, verbose=0, callbacks=[recorder])
    return recorder.step_s()


def time_input(data, batches=16):
    """Median seconds per batch of the pipeline alone, after one pass that fills its cache if it has one."""
    iterator, each = iter(data), []
    for _ in range(FILES // BATCH + batches):
        start = time.perf_counter()
        next(iterator)
        each.append(time.perf_counter() - start)
    return statistics.median(each[-batches:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fixed", action="store_true", help="record the repaired pipeline")
    parser.add_argument("--out", default="profiles", help="folder for the profile and its truth file")
    args = parser.parse_args()
    keras.utils.set_random_seed(0)
    name = "keras_input_fixed" if args.fixed else "keras_input"
    paths, labels = make_photos("photos")
    model = make_model()

    batch = next(iter(make_dataset(paths, labels, args.fixed)))
    compute = fit(model, tf.data.Dataset.from_tensors(batch).repeat())
    step = fit(model, make_dataset(paths, labels, args.fixed), f"log_{name}")
    alone = time_input(make_dataset(paths, labels, args.fixed))

    profile = truth.store_profile(newest(f"log_{name}"), os.path.join(args.out, f"{name}.xplane.pb"))
    kind = "parallel, cached, prefetched" if args.fixed else "sequential"
    wait = max(0.0, 1 - statistics.median(compute) / statistics.median(step))
    truth.write_truth(
        profile,
        job=f"Keras CNN, model.fit, batch {BATCH}, tf.data {kind}",
        expected="compute-bound" if args.fixed else "input-bound",
        step_s=step,
        wait_method="1 - median step on one constant batch / median recorded step",
        packages=("tensorflow_cpu", "keras", "numpy"),
        input_wait_share=round(wait, 4),
        input_alone_share=round(alone / statistics.median(step), 4),
        constant_batch_step_median_ns=round(statistics.median(compute) * 1e9),
        input_alone_median_ns=round(alone * 1e9),
    )


def newest(logdir):
    """The last .xplane.pb below a log folder."""
    return max(glob.glob(f"{logdir}/plugins/profile/*/*.xplane.pb"), key=os.path.getmtime)


if __name__ == "__main__":
    main()
