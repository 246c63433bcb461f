# SPDX-License-Identifier: Apache-2.0
"""Twins: MirroredStrategy on two logical CPUs, many small variables; the data are there. Step marks.

Truth: compute-bound or communication: the replicas' gradients are packed, summed and unpacked on the host; little to gain
besides.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 3, 10


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    strategy = tf.distribute.MirroredStrategy(
        ["CPU:0", "CPU:1"], cross_device_ops=tf.distribute.HierarchicalCopyAllReduce()
    )
    with strategy.scope():
        weights = [tf.Variable(tf.random.stateless_normal((256, 256), (0, n)) / 16) for n in range(8)]

    def replica_step(x):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.nn.relu(h @ w)
            loss = tf.reduce_mean(tf.square(h))
        gradients = tape.gradient(loss, weights)
        summed = tf.distribute.get_replica_context().all_reduce("sum", gradients)
        for w, g in zip(weights, summed):
            w.assign_sub(0.001 * g)
        return loss

    @tf.function
    def train_step(x):
        return strategy.reduce("mean", strategy.run(replica_step, args=(x,)), axis=None)

    x = tf.random.stateless_normal((128, 256), (1, 1))
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            train_step(x).numpy()
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
