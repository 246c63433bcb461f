# SPDX-License-Identifier: Apache-2.0
"""What the operation image_recipes reads: a head, steps, and the source's bytes, as op_image_recipe.c describes them."""

import struct

FILE, PIXELS, TENSOR = range(3)  # sources
GRAY, COLOR, CROP, RESIZE, TRANSPOSE, BRIGHTNESS, CONTRAST, SATURATION, HUE, LEVELS = range(1, 11)
BLUR, AFFINE, AUTOCONTRAST, EQUALIZE, SHARPNESS = range(11, 16)
SCALE, NORMALIZE, ERASE, PATCH = range(20, 24)
BLUR_MAX = 1000  # a blur's radius is less
TO_TENSOR, TO_DTYPE, CONVERTED = range(3)  # what scales: only TO_DTYPE multiplies by 1 / 255


def _packed(step):
    kind, *arguments = step
    if kind == LEVELS:
        return struct.pack("=i", kind) + bytes(arguments).ljust(768, b"\0")
    if kind == AFFINE:
        return struct.pack("=3i6d4i", kind, *arguments)
    if kind == PATCH:  # its values are in the payload
        arguments = arguments[:5]
    return struct.pack("=i", kind) + b"".join(struct.pack("=f" if isinstance(a, float) else "=i", a) for a in arguments)


def written(head, steps, payload):
    """A recipe's bytes. head: the source, its height, width and channels; steps: (kind, arguments...)."""
    words = struct.pack("=4i", *head) + b"".join(map(_packed, steps))
    return struct.pack("=i", len(words) // 4) + words + payload


def is_of_file(recipe):
    """Is its source a file?"""
    return struct.unpack_from("=i", recipe, 4)[0] == FILE
