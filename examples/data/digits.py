# SPDX-License-Identifier: Apache-2.0
"""Small synthetic images to learn from, without a download: noise, and a bar whose angle is the class."""

import functools

import numpy as np
import stoker.data as sd

SIZE, CLASSES = 28, 10


@functools.lru_cache
def drawn(is_small):
    """(PNG files as bytes in an object array, labels int64)."""
    n = 512 if is_small else 8192
    rng = np.random.default_rng(0)
    labels = rng.integers(0, CLASSES, n)
    y, x = np.mgrid[0:SIZE, 0:SIZE] - SIZE / 2 + 0.5
    files = np.empty(n, object)
    for i, label in enumerate(labels):
        angle = (label + rng.uniform(0.1, 0.9)) * np.pi / CLASSES
        bar = np.exp(-((x * np.sin(angle) - y * np.cos(angle)) ** 2) / 6)
        image = np.clip(200 * bar + rng.normal(30, 25, (SIZE, SIZE)), 0, 255).astype(np.uint8)
        files[i] = bytes(sd.io.encode_png(image[..., None]))
    return files, labels
