# SPDX-License-Identifier: Apache-2.0
"""Mirrors: a custom loop with MirroredStrategy over two logical devices of the CPU, and a distributed dataset from
memory. Step marks.

Truth: compute-bound, nothing is wrong; there is one rank.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 4, 10


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    (processor,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(processor, [tf.config.LogicalDeviceConfiguration() for _ in range(2)])
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        shapes = ((384, 1024), (1024, 1))
        weights = [tf.Variable(tf.random.stateless_normal(s, (0, n)) / 32) for n, s in enumerate(shapes)]

    def replica_step(angles, light):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.nn.relu(angles @ weights[0]) @ weights[1] - light))
        gradients = tape.gradient(loss, weights)
        context = tf.distribute.get_replica_context()
        for matrix, gradient in zip(weights, context.all_reduce("mean", gradients)):
            matrix.assign_sub(1e-3 * gradient)
        return loss

    @tf.function
    def train_step(batch):
        return strategy.reduce("mean", strategy.run(replica_step, args=batch), axis=None)

    rng = np.random.default_rng(0)
    data = rng.standard_normal((4096, 384), np.float32), rng.standard_normal((4096, 1), np.float32)
    dataset = tf.data.Dataset.from_tensor_slices(data).repeat().batch(512).prefetch(2)
    batches = iter(strategy.experimental_distribute_dataset(dataset))
    watch = StopWatch(WARMUP, STEPS, host_tracer_level=2)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            batch = next(batches)
            watch.fetched()
            float(train_step(batch))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
