# SPDX-License-Identifier: Apache-2.0
# The first page of every guide: datasets of lists, looped over, each element asked for its value.
import tensorflow as tf

numbers = tf.data.Dataset.from_tensor_slices([8, 3, 0, 8, 2, 1])
results = {"all": [n.numpy() for n in numbers]}
it = iter(numbers)
results["first"] = next(it).numpy()
results["sum"] = numbers.reduce(0, lambda state, value: state + value).numpy()
pairs = tf.data.Dataset.from_tensor_slices(({"a": [1, 2], "b": [b"x", b"y"]}, [[0.5, 1], [2, 3]]))
results["pairs"] = [(f["a"].numpy(), f["b"].numpy().decode(), m.numpy()) for f, m in pairs]
results["text"] = [s.numpy() for s in tf.data.Dataset.from_tensor_slices(["one", "two"])]
results["squares"] = [(n * n).numpy() for n in numbers.batch(2)]
results["python"] = [int(n) for n in numbers]
results["sums"] = [tf.reduce_sum(b).numpy() for b in numbers.batch(4)]
results["plain"] = list(numbers.take(2).as_numpy_iterator())
results["shapes"] = [tuple(b.shape) for b in numbers.batch(4)]
