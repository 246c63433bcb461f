# SPDX-License-Identifier: Apache-2.0
"""Python's integers on their way to torch: there they are int64, but here and in TensorFlow int32.

`from_tensor_slices((images, [3, 1, 2]))` makes the labels int32, but torch's losses take int64. So to_torch widens
components that are unchanged Python numbers; values with their own dtype (a NumPy array, the result of an operation)
keep it.
"""

import numpy as np

from . import _call, _spec

_INT32 = np.dtype("int32")
# Stages that pass on the components of their first input.
_HANDS_ON = (
    "shuffle batch padded_batch prefetch take skip shard repeat cache snapshot ignore_errors unbatch "
    "filter take_while concatenate"
).split()


def literal_places(tensors):
    """Which leaves of a structure are Python integers: a set of component numbers."""
    leaves = _spec.flatten(tensors)
    if any(hasattr(v, "parts") for v in leaves):  # several components each; none is Python's
        return frozenset()
    return frozenset(i for i, v in enumerate(leaves) if not _call.is_typed(v))


def _passed_on(fn, k):
    """The input that a function returns unchanged as result k, or None."""
    recipe = getattr(fn, "recipe", None)
    if recipe is None:
        return None
    specs, _, _, results = recipe
    return results[k] if results[k] < len(specs) else None


def _part_of(inputs, k):
    """Which of the zipped datasets component k comes from, and its number there."""
    for part in inputs:
        count = len(_spec.components(part.element_spec))
        if k < count:
            return part, k
        k -= count
    raise IndexError(k)


def _is_literal(ds, k):
    """Is component k of the dataset's elements an unchanged Python number?"""
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
    """For each leaf of the elements: should torch get int64?"""
    leaves, k, out = _spec.flatten(dataset.element_spec), 0, []
    for leaf in leaves:
        is_number = isinstance(leaf, _spec.TensorSpec) and leaf.dtype == _INT32
        out.append(is_number and _is_literal(dataset, k))
        k += len(leaf.parts()) if hasattr(leaf, "parts") else 1
    return out
