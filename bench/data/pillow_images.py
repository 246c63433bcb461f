# SPDX-License-Identifier: Apache-2.0
"""The JPEG case with Pillow and NumPy, for tools without a decoder and transforms."""

import math
import random

import numpy as np

MEAN, STD = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)


def window(w, h):
    """(x, y, width, height) of a random-resized crop."""
    for _ in range(10):
        area = w * h * random.uniform(0.08, 1.0)
        ratio = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        cw, ch = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < cw <= w and 0 < ch <= h:
            return random.randint(0, w - cw), random.randint(0, h - ch), cw, ch
    return 0, 0, w, h


def by_pillow(path):
    from PIL import Image

    image = Image.open(path)
    x, y, w, h = window(*image.size)
    image = image.convert("RGB").resize((224, 224), Image.BILINEAR, (x, y, x + w, y + h))
    return np.asarray(image.transpose(Image.FLIP_LEFT_RIGHT) if random.random() < 0.5 else image)


def normalised(batch):
    return (batch.astype(np.float32) - MEAN * 255) * (1 / (STD * 255))


def collate(images):
    return normalised(np.stack(images))
