# SPDX-License-Identifier: Apache-2.0
"""Layers in traced functions, with a stand-in for Keras (tests/peers/keras_layers uses the real one): which calls
become native, which stay the layer's, and that its class isn't changed."""

import sys
import types

import numpy as np

import checks as c
import stoker.data as sd


class Layer:
    compute_dtype = "float32"
    calls = 0

    def __call__(self, x, training=None):
        type(self).calls += 1
        return self.call(np.asarray(x))


class Rescaling(Layer):
    scale, offset = 2.0, 1.0

    def call(self, x):
        return x.astype("float32") * 2 + 1


class Own(Layer):
    def call(self, x):
        return x + 1


class Sequential(Layer):
    layers = [Rescaling(), Rescaling()]


Rescaling.__module__ = Sequential.__module__ = "keras.src.layers"


def with_keras(f):
    keras = types.ModuleType("keras")
    keras.layers = types.SimpleNamespace(Layer=Layer)
    sys.modules["keras"] = keras
    before = Layer.__call__
    try:
        f()
    finally:
        del sys.modules["keras"]
    c.true(Layer.__call__ is before, "the class is as it was")


def test_native():
    def run():
        layer, own, both = Rescaling(), Own(), Sequential()
        ds = sd.Dataset.range(4).map(lambda x: layer(x))
        c.true(ds._function.is_native, f"{ds._function.why}")
        c.same(list(ds), [np.float32(2 * i + 1) for i in range(4)])
        c.same(Rescaling.calls, 0, "the layer itself did not run")
        ds = sd.Dataset.range(4).map(lambda x: both(x))
        c.true(ds._function.is_native, f"{ds._function.why}")
        c.same(list(ds), [np.float32(4 * i + 3) for i in range(4)])
        ds = sd.Dataset.range(4).map(lambda x: own(x))
        c.true(not ds._function.is_native, "a class of the user's own runs itself")
        c.same([int(v) for v in ds], [1, 2, 3, 4])
        c.same(layer(np.float32(3)), np.float32(7), "called with an array it is the layer's")

    with_keras(run)


def test_failing_trace():
    def run():
        layer = Rescaling()

        def f(x):
            layer(x)
            raise RuntimeError("inside")

        c.raises(Exception, lambda: list(sd.Dataset.range(2).map(f)))

    with_keras(run)


c.main(globals())
