# SPDX-License-Identifier: Apache-2.0
"""Whole numbers of Python, on their way to torch: there they are int64, here and in TensorFlow int32.

`from_tensor_slices((images, [3, 1, 2]))` makes int32 of the labels, and torch's losses take int64. So
to_torch widens components that come from Python's numbers as they are; what has a dtype of its own (a
NumPy array, the result of an operation) keeps it.
"""

import numpy as np

from . import _call, _spec

_INT32 = np.dtype("int32")
# Stages that hand on the components of their first input.
_HANDS_ON = (
    "shuffle batch padded_batch prefetch take skip shard repeat cache snapshot ignore_errors unbatch "
    "filter take_while concatenate"
).split()


def literal_places(tensors):
    """Which leaves of a structure are Python's whole numbers: a set of components' numbers."""
    leaves = _spec.flatten(tensors)
    if any(hasattr(v, "parts") for v in leaves):  # several components each; none is of Python
        return frozenset()
    return frozenset(i for i, v in enumerate(leaves) if not _call.is_typed(v))


def _passed_on(fn, k):
    """Which input a function returns unchanged as result k, or None."""
    recipe = getattr(fn, "recipe", None)
    if recipe is None:
        return None
    specs, _, _, results = recipe
    return results[k] if results[k] < len(specs) else None


def _part_of(inputs, k):
    """Which of the datasets side by side component k is of, and its number there."""
    for part in inputs:
        count = len(_spec.components(part.element_spec))
        if k < count:
            return part, k
        k -= count
    raise IndexError(k)


def _is_literal(ds, k):
    """Is component k of the dataset's elements a number of Python's, as it was given?"""
    while True:
        if ds._kind in ("tensors", "tensor_slices"):
            return k in ds.__dict__.get("_literal", ())
        if ds._kind == "map":
            k = _passed_on(ds._args["fn"], k)
            if k is None:
                return False
        elif ds._kind == "zip":
            ds, k = _part_of(ds._inputs, k)
            continue
        elif ds._kind == "enumerate":
            if k == 0:
                return False
            k -= 1
        elif ds._kind not in _HANDS_ON:
            return False
        if not ds._inputs:
            return False
        ds = ds._inputs[0]


def widened(dataset):
    """For each leaf of the elements: is it to be int64 for torch?"""
    leaves, k, out = _spec.flatten(dataset.element_spec), 0, []
    for leaf in leaves:
        is_number = isinstance(leaf, _spec.TensorSpec) and leaf.dtype == _INT32
        out.append(is_number and _is_literal(dataset, k))
        k += len(leaf.parts()) if hasattr(leaf, "parts") else 1
    return out
