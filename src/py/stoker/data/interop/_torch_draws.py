# SPDX-License-Identifier: Apache-2.0
"""The random numbers of torchvision's transforms, drawn from a given generator.

A transform's own public make_params (v1: get_params) draws from torch's generator and takes 80 to 200 us, mostly for
tensors with one number. The most common transforms have a shorter form here, which makes the same draws in the same
order. Before it is used, it is compared with the transform's own for some sizes. If a number differs, and for any other
transform, make_params draws, in a mode in which torch uses the given generator.
"""

import math

_SIZES = ((375, 500), (64, 48), (40, 40), (33, 70), (500, 300))  # heights and widths compared


def private(torch):
    """A mode in which torch draws from a separate generator, on this thread."""
    tensor = torch.Tensor
    drawing = {torch.rand, torch.randn, torch.randint, torch.randperm, torch.multinomial, torch.bernoulli, torch.normal,
               tensor.uniform_, tensor.normal_, tensor.random_, tensor.bernoulli_, tensor.exponential_}  # fmt: skip

    class Private(torch.overrides.TorchFunctionMode):
        def __init__(self, generator):
            super().__init__()
            self.generator = generator

        def __torch_function__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if function in drawing and kwargs.get("generator") is None:
                kwargs = dict(kwargs, generator=self.generator)
            return function(*args, **kwargs)

    return Private


def by_transform(torch, own):
    """own(size), which draws from torch's generator, as a function of the size and a generator."""
    mode = private(torch)

    def draw(size, generator):
        with mode(generator):
            return own(size)

    return draw


def _as_own(torch, short, own):
    """Does the short form return the same as the transform's own, and leave the generator in the same state?"""
    there = by_transform(torch, own)
    for seed, size in enumerate(_SIZES * 3):
        mine, theirs = (torch.Generator().manual_seed(seed) for _ in range(2))
        try:
            want = tuple(there(size, theirs))
        except ValueError:  # too large a crop: the short form isn't used for it
            continue
        if tuple(short(size, mine)) != want or not torch.equal(mine.get_state(), theirs.get_state()):
            return False
    return True


def drawn(torch, short, own):
    """short if it draws like own, else own."""
    return short if short is not None and _as_own(torch, short, own) else by_transform(torch, own)


def resized_crop(torch, scale, ratio):
    """The box of RandomResizedCrop: top, left, height, width."""
    low, high = (float(v) for v in torch.log(torch.tensor(ratio)))
    one, least, most = torch.empty(1), min(ratio), max(ratio)

    def box(size, generator):
        height, width = size
        for _ in range(10):
            area = height * width * one.uniform_(scale[0], scale[1], generator=generator).item()
            aspect = one.uniform_(low, high, generator=generator).exp_().item()
            w, h = int(round(math.sqrt(area * aspect))), int(round(math.sqrt(area / aspect)))
            if 0 < w <= width and 0 < h <= height:
                top = torch.randint(0, height - h + 1, (1,), generator=generator).item()
                return top, torch.randint(0, width - w + 1, (1,), generator=generator).item(), h, w
        w, h = width, height
        if width / height < least:
            h = int(round(w / least))
        elif width / height > most:
            w = int(round(h * most))
        return (height - h) // 2, (width - w) // 2, h, w

    return box


def crop(torch, size, draws_each):
    """The box of RandomCrop. draws_each: doesn't draw a side that fits (v2); else draws both or none (v1)."""
    h, w = size

    def box(have, generator):
        down, right = have[0] - h, have[1] - w
        if down < 0 or right < 0:
            raise ValueError(f"Required crop size {size} is larger than input image size {have}")
        is_drawn = (down > 0, right > 0) if draws_each else (down > 0 or right > 0,) * 2
        top = torch.randint(0, down + 1, (1,), generator=generator).item() if is_drawn[0] else 0
        return top, torch.randint(0, right + 1, (1,), generator=generator).item() if is_drawn[1] else 0, h, w

    return box


def chance(torch, p):
    """1 with that probability, drawn like the flips do."""
    one = torch.empty(1)

    def draw(size, generator):
        return (int(one.uniform_(generator=generator).item() < p),)

    return draw


def batches(loader, torch):
    """(indices of a batch's items, the generator that its worker would draw from), for each batch of a pass."""
    base = int(torch.empty((), dtype=torch.int64).random_(generator=loader.generator))
    workers, streams = loader.num_workers, {}
    for n, numbers in enumerate(loader.batch_sampler):
        worker = n % workers if workers else 0
        if worker not in streams:
            streams[worker] = _stream(torch, base + worker if workers else None)
        yield numbers, streams[worker]


def _stream(torch, seed):
    made = torch.Generator()
    if seed is None:  # without workers, items draw from torch's own
        return made.set_state(torch.get_rng_state())
    return made.manual_seed(seed)
