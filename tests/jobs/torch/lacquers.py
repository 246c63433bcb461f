# SPDX-License-Identifier: Apache-2.0
"""Lacquers: everything at the top of the file: the loop itself flips, shifts and blurs its images with NumPy and makes a tensor of
them; there is no function of the job's own. Stacks on.

Truth: input-bound, by what the loop does with NumPy before the model is called.
"""

import numpy as np
import torch
import torch.nn as nn

from stopwatch import StopWatch

torch.set_num_threads(1)
torch.manual_seed(0)
np.random.seed(0)
images = np.random.rand(400, 3, 48, 48).astype(np.float32)
labels = np.random.randint(0, 5, 400)
net = nn.Sequential(nn.Conv2d(3, 8, 5, stride=4), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 11 * 11, 5))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters())

with StopWatch(2, 2, 7, with_stack=True) as sw:
    while not sw.full():
        idx = np.random.choice(len(images), 32, replace=False)
        imgs = np.where(np.random.rand(32, 1, 1, 1) < 0.5, images[idx], images[idx, :, :, ::-1])
        imgs = np.roll(imgs, np.random.randint(-6, 6), axis=2)
        imgs = (imgs + np.roll(imgs, 1, 2) + np.roll(imgs, -1, 2) + np.roll(imgs, 1, 3) + np.roll(imgs, -1, 3)) / 5
        imgs = imgs * np.random.uniform(0.8, 1.2, (32, 1, 1, 1)) + np.random.normal(0, 0.02, imgs.shape)
        inputs = torch.tensor(np.clip(imgs, 0, 1), dtype=torch.float32)
        targets = torch.tensor(labels[idx])
        sw.fetched()
        optimizer.zero_grad()
        loss = criterion(net(inputs), targets)
        loss.backward()
        optimizer.step()
        sw.step()
sw.save("torch")
