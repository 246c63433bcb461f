# SPDX-License-Identifier: Apache-2.0
"""A small CNN in PyTorch on the CPU, fed sequentially, by a prefetching pipeline, and by a DataLoader.

Needs torch. The images are PNG files in memory, decoded and shifted at random in each epoch.
"""

import numpy as np
import stoker.data as sd

import digits
import timing

BATCH = 64


def network():
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    layers = [
        torch.nn.Conv2d(1, 8, 3, 2),
        torch.nn.ReLU(),
        torch.nn.Conv2d(8, 16, 3, 2),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(16 * 36, digits.CLASSES),
    ]
    return torch.nn.Sequential(*layers)


def train(batches):
    """One epoch; reads the final loss, so that no work is left pending."""
    import torch

    net, n = network(), 0
    optimiser = torch.optim.Adam(net.parameters(), 3e-3)
    for x, y in timing.steps(batches):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimiser.step()
        n += len(y)
    train.loss = loss.item()
    return n


def prepare(data, label):
    image = sd.image.resize_with_crop_or_pad(
        sd.io.decode_png(data, channels=1), digits.SIZE + 4, digits.SIZE + 4
    )
    image = sd.cast(sd.image.random_crop(image, [digits.SIZE, digits.SIZE, 1]), "float32") / 255.0
    return sd.transpose(image, [2, 0, 1]), label


def before(is_small):
    """stoker.data, sequential"""
    return train(
        sd.Dataset.from_tensor_slices(digits.drawn(is_small)).map(prepare).batch(BATCH).to_torch()
    )


def after(is_small):
    """stoker.data, parallel map and prefetch"""
    ds = (
        sd.Dataset.from_tensor_slices(digits.drawn(is_small))
        .shuffle(2048)
        .map(prepare, sd.AUTOTUNE)
    )
    return train(ds.batch(BATCH).prefetch(sd.AUTOTUNE).to_torch())


def torch_loader(is_small):
    """DataLoader in process, Pillow"""
    import io

    import torch
    from PIL import Image

    files, labels = digits.drawn(is_small)

    class Digits(torch.utils.data.Dataset):
        def __len__(self):
            return len(files)

        def __getitem__(self, i):
            image = np.pad(np.asarray(Image.open(io.BytesIO(files[i]))), 2)
            top, left = np.random.randint(0, 5, 2)
            image = (
                image[top : top + digits.SIZE, left : left + digits.SIZE].astype(np.float32) / 255
            )
            return image[None], labels[i]

    return train(torch.utils.data.DataLoader(Digits(), BATCH, shuffle=True))


def tf_after(is_small):
    """tf.data, parallel map and prefetch, given to torch as NumPy arrays"""
    import tensorflow as tf
    import torch

    def tf_prepare(data, label):
        image = tf.image.resize_with_crop_or_pad(
            tf.io.decode_png(data, channels=1), digits.SIZE + 4, digits.SIZE + 4
        )
        image = (
            tf.cast(tf.image.random_crop(image, [digits.SIZE, digits.SIZE, 1]), tf.float32) / 255.0
        )
        return tf.transpose(image, [2, 0, 1]), label

    files, labels = digits.drawn(is_small)
    ds = (
        tf.data.Dataset.from_tensor_slices((list(files), labels))
        .shuffle(2048)
        .map(tf_prepare, tf.data.AUTOTUNE)
    )
    ds = ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)
    return train(
        (torch.from_numpy(x.copy()), torch.from_numpy(y.copy())) for x, y in ds.as_numpy_iterator()
    )


if __name__ == "__main__":
    timing.main(
        __doc__.split("\n")[0],
        [before, after, torch_loader, tf_after],
        "images",
        prepare=digits.drawn,
    )
