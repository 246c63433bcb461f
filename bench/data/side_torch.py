# SPDX-License-Identifier: Apache-2.0
"""PyTorch's DataLoader with torchvision's transforms on PIL images, and WebDataset on top of it."""

import itertools
import sys

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

import side


def import_torchvision():
    """torchvision. Its wheel from PyPI is built for CUDA: beside torch's CPU build its operators do
    not load, and are declared here so that its transforms do. None of them is used."""
    library = torch.library.Library("torchvision", "DEF")
    for _ in range(30):
        try:
            import torchvision

            return torchvision
        except RuntimeError as e:
            words = str(e).split("torchvision::")
            if len(words) < 2 or "does not exist" not in str(e):
                raise
            for name in [m for m in sys.modules if m.startswith("torchvision")]:
                del sys.modules[name]
            library.define(f"{words[1].split()[0]}(Tensor x) -> Tensor")
    raise ImportError("torchvision does not load")


torchvision = import_torchvision()
from torchvision import transforms as T  # noqa: E402
from PIL import Image  # noqa: E402

AUGMENT = T.Compose(
    [
        T.RandomResizedCrop(224),
        T.RandomHorizontalFlip(),
        T.ToTensor(),
        T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    ]
)
torch.set_num_threads(1)


class PlusOne(Dataset):
    def __init__(self, n, maps):
        self.n, self.maps = n, maps

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        for _ in range(self.maps):
            i = i + 1
        return i


class Images(Dataset):
    def __init__(self, files, n):
        self.files, self.n = files, n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return AUGMENT(Image.open(self.files[i % len(self.files)]).convert("RGB"))


class Arrays(Dataset):
    """Images out of a mapped array, as v2's guide has it: uint8 tensors, floats at the end."""

    def __init__(self, npy, n, normalised):
        from torchvision.transforms import v2

        self.images, self.n = np.load(npy, mmap_mode="r"), n
        steps = [v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip()]
        if normalised:
            mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
            steps += [v2.ToDtype(torch.float32, scale=True), v2.Normalize(mean, std)]
        self.augment = v2.Compose(steps)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        image = torch.from_numpy(np.array(self.images[i % len(self.images)]))
        return self.augment(image.permute(2, 0, 1))


class Ready(IterableDataset):
    def __iter__(self):
        return itertools.repeat(torch.zeros(32, 8))


def loader(dataset, workers, batch, **more):
    if workers:
        more.update(prefetch_factor=4, persistent_workers=True)
    return DataLoader(dataset, batch_size=batch, num_workers=workers, **more)


def passes(made, n, **figures):
    """A pass over the loader; its workers live on between passes."""
    return lambda: side.timed(lambda: side.drain(iter(made)), elements=n, **figures)


def overhead(n, batch, maps, workers):
    return passes(loader(PlusOne(n, maps), workers, batch), n)


def next_ready(rounds, ready, workers=0):
    it = iter(
        DataLoader(
            Ready(),
            batch_size=None,
            num_workers=workers,
            prefetch_factor=ready + 2 if workers else None,
        )
    )
    return lambda: side.ready_next(it, rounds, ready)


def jpeg(files, batch, n, workers):
    return passes(loader(Images(files, n), workers, batch, drop_last=True), n)


def raw(npy, bare, batch, n, normalised, workers):
    made = loader(Arrays(npy, 1 << 30, normalised), workers, batch, drop_last=True)
    return side.warm(iter(made), n // batch, elements=n)


def assemble(count, batch, batches, workers):
    data = torch.utils.data.TensorDataset(torch.ones(count, 3, 224, 224))
    sampler = torch.utils.data.RandomSampler(data, True, num_samples=1 << 30)
    return side.warm(
        iter(loader(data, workers, batch, sampler=sampler)),
        batches,
        elements=batches,
        bytes=batches * batch * 3 * 224 * 224 * 4,
    )


def jpeg_paced(files, batch, step, seconds, workers):
    made = loader(Images(files, 1 << 30), workers, batch)
    return lambda: side.paced(iter(made), step, seconds)


def shuffle(n, buffer, batch, workers=0):
    return passes(loader(PlusOne(n, 0), workers, batch, shuffle=True), n)


def web_jpeg(tar, batch, n, workers):
    import webdataset as wds

    ds = wds.WebDataset(tar, shardshuffle=False, empty_check=False, resampled=True)
    ds = ds.decode("pil").to_tuple("jpg").map_tuple(AUGMENT).batched(batch)
    made = wds.WebLoader(
        ds, batch_size=None, num_workers=workers, **({"prefetch_factor": 4} if workers else {})
    )

    def run():
        return side.timed(lambda: side.drain(itertools.islice(iter(made), n // batch)), elements=n)

    return run


def web_shuffle(n, buffer, batch):
    import webdataset as wds

    def run():
        ds = wds.DataPipeline(
            lambda: iter(range(n)),
            wds.shuffle(buffer, initial=buffer),
            wds.batched(batch, collation_fn=None),
        )
        return side.timed(lambda: side.drain(iter(ds)), elements=n)

    return run


CASES = {
    "overhead": overhead,
    "next": next_ready,
    "jpeg": jpeg,
    "raw": raw,
    "assemble": assemble,
    "paced": jpeg_paced,
    "shuffle": shuffle,
    "web_jpeg": web_jpeg,
    "web_shuffle": web_shuffle,
}


def versions():
    import PIL

    out = {
        "torch": torch.__version__,
        "torchvision": torchvision.__version__,
        "Pillow": PIL.__version__,
    }
    try:
        import webdataset

        out["WebDataset"] = webdataset.__version__
    except ImportError:
        pass
    return out


if __name__ == "__main__":
    side.serve(CASES, versions)
