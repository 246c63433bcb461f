import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
X = rng.integers(-9, 9, (5, 4, 7)).astype(np.float32)
IMAGES = rng.integers(0, 255, (4, 9, 11, 3)).astype(np.uint8)
WORDS = np.array([b"", b"a", b"stoker", b"12345678", b"longer than one block of sixteen"], object)


def best(x):
    top = tf.math.top_k(x, k=3)
    first = tf.nn.top_k(x[0], k=2)
    return top.values, top.indices, first.values


def found(i):
    v = tf.range(i * 3) % (i + 1)
    y, idx = tf.unique(v)
    words, at, count = tf.unique_with_counts(tf.as_string(v))
    return y, idx, words, at, count


def patches(x):
    one = tf.image.extract_patches(x, [1, 3, 2, 1], [1, 2, 3, 1], [1, 1, 2, 1], "SAME")
    return one, tf.image.extract_patches(x, [1, 4, 4, 1], [1, 4, 4, 1], [1, 1, 1, 1], padding="VALID")


def chosen(i):
    word = tf.switch_case(
        tf.cast(i, tf.int32), [lambda: tf.constant("none"), lambda: tf.constant("one")],
        default=lambda: tf.as_string(i),
    )
    size = tf.case(
        [(i < 2, lambda: tf.constant(1)), (i < 4, lambda: tf.cast(i, tf.int32) * 10)],
        default=lambda: tf.constant(-1),
    )
    return word, size


def checked(i):
    tf.debugging.assert_less(i, tf.constant(100, tf.int64))
    tf.debugging.assert_non_negative(i)
    tf.debugging.Assert(i != 77, [i])
    return i


def hashed(s):
    return (
        tf.strings.to_hash_bucket(s, 10**12),
        tf.strings.to_hash_bucket_fast(s, 10**12),
        tf.strings.to_hash_bucket_strong(s, 10**12, key=[5, 2**40]),
    )


def cast(x):
    bits = tf.bitcast(x, tf.int32)
    return bits, tf.bitcast(x, tf.uint8), tf.bitcast(tf.bitcast(bits, tf.uint16), tf.float32)


def picked(x):
    at = tf.constant([[0, 6, 2], [1, 1, 5], [3, 0, 0], [6, 5, 4]])
    return tf.gather(x, at, axis=1, batch_dims=1), tf.gather(x[None], [[1, 0, 3]], axis=2, batch_dims=1)


def failing():
    ds = tf.data.Dataset.range(5).map(lambda i: (tf.debugging.assert_less(i, tf.constant(3, tf.int64)), i)[1])
    out = []
    try:
        for i in ds:
            out.append(int(i))
    except tf.errors.InvalidArgumentError:
        out.append("invalid")
    return out


D = tf.data.Dataset
results = {
    "best": list(D.from_tensor_slices(X).map(best).as_numpy_iterator()),
    "found": list(D.range(1, 6).map(found).as_numpy_iterator()),
    "patches": list(D.from_tensor_slices(IMAGES).batch(2).map(patches).as_numpy_iterator()),
    "chosen": list(D.range(6).map(chosen).as_numpy_iterator()),
    "checked": list(D.range(3).map(checked).as_numpy_iterator()),
    "hashed": list(D.from_tensor_slices(WORDS).batch(2).map(hashed).as_numpy_iterator()),
    "cast": list(D.from_tensor_slices(X).map(cast).as_numpy_iterator()),
    "picked": list(D.from_tensor_slices(X).map(picked).as_numpy_iterator()),
    "failing": failing(),
}
