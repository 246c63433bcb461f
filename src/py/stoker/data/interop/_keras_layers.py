# SPDX-License-Identifier: Apache-2.0
"""Keras 3 preprocessing layers in a traced function, as native operations.

While a function is traced and Keras is imported, calling one of the layers below with a symbolic value returns
equivalent operations; otherwise the layer would run as Python for each element. Results equal Keras's up to the last
bits of float32; random layers draw from the same distribution, with other numbers. Other layers, and unsupported
options (channels first, aspect ratios, bounding boxes), run as before.
"""

import sys
import threading

import numpy as np

from .. import ops, random
from ..core import _trace
from ..core._value import Value

_lock, _depth, _original = threading.Lock(), 0, None


def _float(layer, x):
    return ops.cast(x, layer.compute_dtype)


def _is_last(layer):
    return getattr(layer, "data_format", "channels_last") == "channels_last"


def _rescaling(layer, x, training):
    scale, offset = (np.asarray(v, layer.compute_dtype) for v in (layer.scale, layer.offset))
    return ops.add(ops.multiply(_float(layer, x), scale), offset)


def _normalization(layer, x, training):
    if layer.mean is None and layer.input_mean is not None:
        layer.build(tuple(x.shape))  # like the layer's first call
    if layer.mean is None:
        return None  # not adapted: Keras says what to do
    mean, variance = (np.asarray(v, layer.compute_dtype) for v in (layer.mean, layer.variance))
    deviation = np.maximum(np.sqrt(variance), np.float32(1e-7)).astype(layer.compute_dtype)
    if layer.invert:
        return ops.add(mean, ops.multiply(_float(layer, x), deviation))
    return ops.truediv(ops.subtract(_float(layer, x), mean), deviation)


def _center_crop(layer, x, training):
    sides = x.shape[-3:-1] if x.shape is not None else (None, None)
    if None in sides or sides[0] < layer.height or sides[1] < layer.width:
        return None
    y, left = ((have - want) // 2 for have, want in zip(sides, (layer.height, layer.width)))
    return _float(layer, x)[..., y : y + layer.height, left : left + layer.width, :]


def _resizing(layer, x, training):
    is_plain = not (layer.crop_to_aspect_ratio or layer.pad_to_aspect_ratio or layer.antialias)
    if not is_plain or layer.interpolation not in ("bilinear", "nearest", "bicubic"):
        return None
    size = [layer.height, layer.width]
    return ops.image.resize(_float(layer, x), size, layer.interpolation)


def _random_flip(layer, x, training):
    x = _float(layer, x)
    if not training:
        return x
    if layer.mode == "horizontal":
        return ops.image.random_flip_left_right(x)
    if layer.mode == "vertical":
        return ops.image.random_flip_up_down(x)
    count = [] if x.ndim == 3 else [ops.shape(x)[0], 1, 1, 1]
    return ops.where(random.uniform(count) <= 0.5, ops.reverse(x, [-3, -2]), x)


def _each(layer, x, training):
    for one in layer.layers:
        if type(one).__name__ != "InputLayer":
            x = one(x, training=training) if _takes_training(one) else one(x)
    return x


def _takes_training(layer):
    return getattr(layer, "_call_has_training_arg", True) or type(layer).__name__ in NATIVE


# By the layer's class name: a function of (layer, value, training) that returns the result, or None for unsupported
# options.
NATIVE = {
    "Rescaling": _rescaling,
    "Normalization": _normalization,
    "CenterCrop": _center_crop,
    "Resizing": _resizing,
    "RandomFlip": _random_flip,
    "Sequential": _each,
    "Pipeline": _each,
}


def _call(layer, *args, **kwargs):
    make = NATIVE.get(type(layer).__name__)
    is_ours = make and len(args) == 1 and isinstance(args[0], Value) and set(kwargs) <= {"training"}
    if is_ours and type(layer).__module__.startswith("keras.") and _is_last(layer):
        training = kwargs.get("training")
        result = make(layer, args[0], True if training is None else training)
        if result is not None:
            return result
    return _original(layer, *args, **kwargs)


class native:
    """A context in which Keras layers accept symbolic values. Does nothing if Keras isn't imported."""

    def __enter__(self):
        global _depth, _original
        keras = sys.modules.get("keras")
        self.layer = getattr(getattr(keras, "layers", None), "Layer", None)
        if self.layer is None:
            return self
        with _lock:
            if _depth == 0:
                _original = self.layer.__call__
                self.layer.__call__ = lambda layer, *args, **kwargs: _call(layer, *args, **kwargs)
            _depth += 1
        return self

    def __exit__(self, *exc):
        global _depth
        if self.layer is None:
            return
        with _lock:
            _depth -= 1
            if _depth == 0:
                self.layer.__call__ = _original


_trace.while_tracing.append(native)
