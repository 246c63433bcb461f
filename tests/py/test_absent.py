# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's missing names give an error with the closest alternative; the table of them is complete;
operations of tf.math, tf.image and tf.ragged that are made of others give what TensorFlow's give."""

import inspect

import numpy as np

import checks as c
import stoker.data as sd

GROUPS = ("data", "data.experimental", "io", "io.gfile", "image", "strings", "math", "random", "lookup",
          "ragged", "signal", "audio", "sparse")  # fmt: skip


def ours(group):
    where = sd
    if not group:
        return where
    for part in group.split(".")[1:] if group.startswith("data") else group.split("."):
        where = getattr(where, part)
    return where


def test_absent_names_answer():
    c.true(len(sd.ops.MISSING) > 150, f"{len(sd.ops.MISSING)} names")
    for name, way in sd.ops.MISSING.items():
        group, _, own = name.rpartition(".")
        c.true(not hasattr(ours(group), own), f"{name} is there after all")
        c.raises(AttributeError, lambda: getattr(ours(group), own), f"tf.{name} is not available", way)
        c.raises(NotImplementedError, lambda: getattr(ours(group), own), way)
    c.raises(AttributeError, lambda: sd.math.no_such_thing, "no_such_thing")


def test_table_is_whole():
    """Every public name of TensorFlow's groups is here, or in the table."""
    tf = c.tensorflow()
    if tf is None:
        return
    for group in GROUPS:
        theirs = tf
        for part in group.split("."):
            theirs = getattr(theirs, part)
        names = {n for n in dir(theirs) if not n.startswith("_") and not inspect.ismodule(getattr(theirs, n))}
        lost = [n for n in sorted(names) if not hasattr(ours(group), n) and f"{group}.{n}" not in sd.ops.MISSING]
        c.same(lost, [], f"{group}: neither here nor in the table")
        made_up = [n for n in sd.ops.MISSING if n.rpartition(".")[0] == group and not hasattr(theirs, n.rpartition(".")[2])]
        c.same(made_up, [], f"{group}: in the table and not in TensorFlow")


X = np.array([[-2.5, 0.0, 0.3], [1.5, 2.5, 0.99]], np.float32)
P = np.abs(X) / 3 + 0.01


def further(m):
    """Of our module or TensorFlow's."""
    x, p = m.constant(X), m.constant(P)
    image = m.constant(np.linspace(0, 1, 60, dtype=np.float32).reshape(4, 5, 3))
    other = m.constant(np.linspace(1, 0, 60, dtype=np.float32).reshape(4, 5, 3) ** 2)
    return {
        "rint": m.math.rint(x), "erfc": m.math.erfc(x), "asinh": m.math.asinh(x),
        "acosh": m.math.acosh(p + 1), "atanh": m.math.atanh(p / 2),
        "log_sigmoid": m.math.log_sigmoid(x), "softsign": m.math.softsign(x),
        "reciprocal_no_nan": m.math.reciprocal_no_nan(x), "xlogy": m.math.xlogy(x, p),
        "xlog1py": m.math.xlog1py(x, p), "xdivy": m.math.xdivy(x, p),
        "multiply_no_nan": m.math.multiply_no_nan(p, x), "scalar_mul": m.scalar_mul(2.0, x),
        "logsumexp": m.reduce_logsumexp(x), "logsumexp 1": m.reduce_logsumexp(x, axis=1),
        "logsumexp k": m.math.reduce_logsumexp(x * 100, axis=0, keepdims=True),
        "norm": m.math.reduce_euclidean_norm(x, axis=1), "softmax": m.math.softmax(x),
        "log_softmax": m.math.log_softmax(x), "zero_fraction": m.math.zero_fraction(x),
        "polyval": m.math.polyval([1.0, -2.0, 3.0], x),
        "bincount": m.math.bincount(m.constant([1, 1, 4, 0])),
        "bincount 8": m.math.bincount(m.constant([1, 1, 4, 0]), minlength=8),
        "bincount w": m.math.bincount(m.constant([1, 1, 4]), weights=m.constant([0.5, 1.0, 2.0])),
        "searchsorted": m.searchsorted(m.constant([1.0, 3.0, 3.0, 7.0]), m.constant([0.0, 3.0, 9.0])),
        "searchsorted r": m.searchsorted(m.constant([1.0, 3.0, 3.0, 7.0]), m.constant([0.0, 3.0, 9.0]), side="right"),
        "searchsorted 2": m.searchsorted(m.constant([[1, 3], [5, 6]]), m.constant([[3, 0, 9], [6, 5, 4]]), out_type="int64"),
        "bincount max": m.math.bincount(m.constant([1, 1, 4, 0]), maxlength=2, dtype="int64"),
        "bincount 0": m.math.bincount(m.constant([], "int32")),
        "yiq": m.image.rgb_to_yiq(image), "and back": m.image.yiq_to_rgb(m.image.rgb_to_yiq(image)),
        "psnr": m.image.psnr(image, other, 1.0), "variation": m.image.total_variation(image),
        "ragged": m.ragged.constant([[1, 2], [], [3]]).flat_values,
        "splits": m.ragged.constant([[1, 2], [], [3]]).row_splits,
        "ragged 2": m.ragged.constant([[[1.5], []], [[2.5, 3.5]]]).flat_values,
        "range": m.ragged.range([3, 0, 2]).flat_values,
        "ranges": m.ragged.range([3, 5], [5, 9], 2).row_splits,
    }  # fmt: skip


def test_further_operations():
    got = further(sd)
    inside = next(iter(sd.Dataset.from_tensors(X).map(lambda x: (sd.math.log_softmax(x), sd.reduce_logsumexp(x), sd.math.bincount([1, 1])))))
    c.same(inside, (got["log_softmax"], np.float32(got["logsumexp"]), np.array([0, 2], np.int32)))
    c.same(got["softsign"], X / (1 + np.abs(X)))
    c.same(got["bincount 8"], np.bincount([1, 1, 4, 0], minlength=8).astype(np.int32))
    c.same(sd.ragged.constant([["a"], []]).to_list(), [[b"a"], []])
    c.raises(ValueError, lambda: sd.ragged.constant([1, [2]]), "nested")
    c.raises(ValueError, lambda: sd.math.bincount([1, -2]), "from 0 on, not -2")
    c.raises(ValueError, lambda: sd.searchsorted([[1, 2], [3, 4]], [[1]]), "as many sorted rows")
    numbers = np.random.default_rng(3).integers(0, 50, (40, 9))
    ds = sd.Dataset.from_tensor_slices(numbers).map(
        lambda v: (sd.math.bincount(v), sd.searchsorted(sd.sort(v), v, "right", "int64"))
    )
    for row, (counts, places) in zip(numbers, ds):  # results of many lengths
        c.same(counts, np.bincount(row).astype(np.int32))
        c.same(places, np.searchsorted(np.sort(row), row, "right"))
    tf = c.tensorflow()
    if tf is None:
        return
    for name, want in further(tf).items():
        c.same(np.asarray(got[name]), np.asarray(want.numpy()), name)


def test_version_1s_contrib_and_modes():
    for m in (sd, sd.compat.v1):
        c.same((m.estimator.ModeKeys.TRAIN, m.estimator.ModeKeys.EVAL, m.estimator.ModeKeys.PREDICT), ("train", "eval", "infer"))
        batched = sd.Dataset.range(7).apply(m.contrib.data.batch_and_drop_remainder(3))
        c.same([b.tolist() for b in batched], [[0, 1, 2], [3, 4, 5]])
        doubled = sd.Dataset.range(5).apply(m.contrib.data.map_and_batch(lambda x: x * 2, 2))
        c.same([b.tolist() for b in doubled], [[0, 2], [4, 6], [8]])
    c.raises(AttributeError, lambda: sd.estimator.Estimator, "to_tf")
    c.raises(AttributeError, lambda: sd.contrib.tpu, "contrib.tpu is not available")


c.main(globals())
