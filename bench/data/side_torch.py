# SPDX-License-Identifier: Apache-2.0
"""PyTorch's DataLoader with torchvision's transforms on PIL images, and WebDataset on top of it."""

import io
import itertools
import os
import sys

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

import side


def import_torchvision():
    """torchvision. Its wheel from PyPI is built for CUDA: with torch's CPU build its operators don't load, so they are
    declared here to make its transforms load. None of them is used."""
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

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
torch.set_num_threads(1)


def augment(setting):
    """The steps for an image. normalize: in each item, or when collating a batch of uint8."""
    from torchvision.transforms import v2

    is_each = setting.get("normalise") != "of the batch"
    if setting.get("transforms", "v1") == "v1":
        end = [T.ToTensor(), T.Normalize(MEAN, STD)] if is_each else [T.PILToTensor()]
        return T.Compose([T.RandomResizedCrop(224), T.RandomHorizontalFlip(), *end])
    end = [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)] if is_each else []
    return v2.Compose([v2.RandomResizedCrop(224), v2.RandomHorizontalFlip(), v2.ToImage(), *end])


SCALE = torch.tensor([1 / (255 * s) for s in STD]).view(3, 1, 1)
SHIFT = torch.tensor([m / s for m, s in zip(MEAN, STD)]).view(3, 1, 1)


def normalising(items):
    """Collates uint8 images into a batch of normalized floats."""
    return torch.stack(items).float().mul_(SCALE).sub_(SHIFT)


def collate_of(setting):
    by_name = {"torch.tensor": torch.tensor, "none": list}
    if setting.get("normalise") == "of the batch":
        return normalising
    return by_name.get(setting.get("collate"))


class PlusOne(Dataset):
    def __init__(self, n, maps, numbers="numpy"):
        self.n, self.maps, self.numbers = n, maps, numbers

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if isinstance(i, list):  # from a batch sampler
            i = torch.tensor(i) if self.numbers == "torch" else np.asarray(i)
        for _ in range(self.maps):
            i = i + 1
        return i


class PlusOnes(PlusOne):
    """Fetches a batch at once; DataLoader calls this if __getitems__ exists."""

    def __getitems__(self, indices):
        return self[indices]


class Blocks(IterableDataset):
    """Whole batches; workers divide them."""

    def __init__(self, n, batch, maps, numbers="numpy"):
        self.n, self.batch, self.maps, self.numbers = n, batch, maps, numbers

    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        first, each = (info.id, info.num_workers) if info else (0, 1)
        arange = torch.arange if self.numbers == "torch" else np.arange
        for i in range(first * self.batch, self.n, each * self.batch):
            x = arange(i, i + self.batch)
            for _ in range(self.maps):
                x = x + 1
            yield x


class Images(Dataset):
    def __init__(self, files, n, setting):
        self.files, self.n, self.augment = files, n, augment(setting)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.augment(Image.open(self.files[i % len(self.files)]).convert("RGB"))


class Arrays(Dataset):
    """Images from a mapped array, as in v2's guide: uint8 tensors, floats at the end."""

    def __init__(self, npy, n, normalised, setting):
        from torchvision.transforms import v2

        self.images, self.n, self.by = np.load(npy, mmap_mode="r"), n, setting.get("by", "array")
        crop = [v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip()]
        steps = crop + [v2.PILToTensor()] if self.by == "Pillow" else crop
        if normalised and setting.get("normalise") != "of the batch":
            steps = steps + [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]
        self.augment = v2.Compose(steps)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        image = self.images[i % len(self.images)]
        if self.by == "Pillow":
            return self.augment(Image.fromarray(image))
        image = torch.from_numpy(image if self.by.startswith("torch") else np.array(image))
        return self.augment(image.permute(2, 0, 1))


class Rows(Dataset):
    """Rows of a tensor in memory; a list of indices picks them in one operation."""

    def __init__(self, data):
        self.data = data

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return self.data[i]


class RowsAtOnce(Rows):
    def __getitems__(self, indices):
        return self.data[indices]


class Ready(IterableDataset):
    def __iter__(self):
        return itertools.repeat(torch.zeros(32, 8))


class ReadyMap(Dataset):
    def __init__(self):
        self.batch = torch.zeros(32, 8)

    def __len__(self):
        return 1 << 30

    def __getitem__(self, i):
        return self.batch


def workers_of(setting):
    """DataLoader's arguments for worker processes."""
    workers = setting["workers"]
    more = {"num_workers": workers}
    if workers:
        more.update(prefetch_factor=setting["prefetch"], persistent_workers=True)
        if "in order" in setting:
            more["in_order"] = setting["in order"]
    return more


def loader(dataset, setting, batch, **more):
    """Batches made by the loader; collate depends on the setting."""
    torch.set_num_threads(setting.get("threads", 1))
    collate = collate_of(setting)
    if setting.get("by") == "__getitems__":
        collate = as_it_is
    return DataLoader(
        dataset, batch_size=batch, collate_fn=collate, **workers_of(setting), **more
    )


def as_it_is(batch):
    return batch


def whole_batches(dataset, setting, sampler, batch):
    """Requests lists of indices from the dataset: its own indexing makes the batch."""
    torch.set_num_threads(setting.get("threads", 1))
    lists = torch.utils.data.BatchSampler(sampler, batch, True)
    return DataLoader(
        dataset, batch_size=None, sampler=lists, collate_fn=as_it_is, **workers_of(setting)
    )


def passes(made, n, **figures):
    """A pass over the loader; its workers live on between passes."""
    return lambda: side.timed(lambda: side.drain(iter(made)), elements=n, **figures)


def overhead(n, batch, maps, setting):
    return passes(loader(PlusOne(n, maps), setting, batch), n)


def overhead_of_blocks(n, batch, maps, setting):
    numbers = setting.get("numbers", "numpy")
    if setting["by"] == "__getitems__":
        return passes(loader(PlusOnes(n, maps), setting, batch), n)
    if setting["by"] == "batch sampler":
        dataset = PlusOne(n, maps, numbers)
        sampler = torch.utils.data.SequentialSampler(dataset)
        return passes(whole_batches(dataset, setting, sampler, batch), n)
    blocks = Blocks(n, batch, maps, numbers)
    return passes(DataLoader(blocks, batch_size=None, collate_fn=as_it_is, **workers_of(setting)), n)


def next_ready(rounds, ready, setting):
    dataset = ReadyMap() if setting.get("by") == "map-style dataset" else Ready()
    it = iter(DataLoader(dataset, batch_size=None, **workers_of(setting)))
    return lambda: side.ready_next(it, rounds, ready)


def jpeg(files, batch, n, setting):
    return passes(loader(Images(files, n, setting), setting, batch, drop_last=True), n)


def raw(npy, bare, batch, n, normalised, setting):
    dataset = Arrays(npy, 1 << 30, normalised, setting)
    return side.warm(iter(loader(dataset, setting, batch, drop_last=True)), n // batch, elements=n)


def assemble(count, batch, batches, setting):
    data = torch.ones(count, 3, 224, 224)
    by = setting.get("by")
    dataset = {None: torch.utils.data.TensorDataset, "__getitems__": RowsAtOnce}.get(by, Rows)(data)
    sampler = torch.utils.data.RandomSampler(dataset, True, num_samples=1 << 30)
    made = (
        whole_batches(dataset, setting, sampler, batch)
        if by == "batch sampler"
        else loader(dataset, setting, batch, sampler=sampler)
    )
    size = batches * batch * 3 * 224 * 224 * 4
    return side.warm(iter(made), batches, elements=batches, bytes=size)


def jpeg_paced(files, batch, step, seconds, setting):
    made = loader(Images(files, 1 << 30, setting), setting, batch)
    return lambda: side.paced(iter(made), step, seconds)


def shuffle(n, buffer, batch, setting):
    by = setting.get("by")
    if by == "__getitems__":
        return passes(loader(PlusOnes(n, 0), setting, batch, shuffle=True), n)
    if by == "batch sampler":
        dataset = PlusOne(n, 0)
        sampler = torch.utils.data.RandomSampler(dataset)
        return passes(whole_batches(dataset, setting, sampler, batch), n)
    if by:

        def run():
            rows = torch.randperm(n)[: n // batch * batch].view(-1, batch)
            return side.drain(iter(DataLoader(Rows(rows), batch_size=None, **workers_of(setting))))

        return lambda: side.timed(run, elements=n)
    return passes(loader(PlusOne(n, 0), setting, batch, shuffle=True), n)


def split_tar(tar, shards):
    """The tar's images in several shards next to it, written once."""
    import tarfile

    if shards == 1:
        return [tar]
    paths = [f"{tar}.{i}-of-{shards}.tar" for i in range(shards)]
    if not all(os.path.exists(p) for p in paths):
        with tarfile.open(tar) as source:
            members = source.getmembers()
            for i, path in enumerate(paths):
                with tarfile.open(path + ".partial", "w") as t:
                    for member in members[i::shards]:
                        t.addfile(member, source.extractfile(member))
                os.replace(path + ".partial", path)
    return paths


def own_decode(data):
    return Image.open(io.BytesIO(data)).convert("RGB")


def web_jpeg(tar, batch, n, setting):
    import webdataset as wds

    shards = split_tar(tar, setting["shards"])
    ds = wds.WebDataset(shards, shardshuffle=False, empty_check=False, resampled=True)
    steps = augment(setting)
    if setting.get("decode") == "own":
        ds = ds.to_tuple("jpg").map_tuple(lambda data: steps(own_decode(data)))
    else:
        ds = ds.decode("pil").to_tuple("jpg").map_tuple(steps)
    is_inside = setting["batched by"] == "pipeline"
    if is_inside:
        ds = ds.batched(batch, collation_fn=web_collate_of(setting))
    workers = setting["workers"]
    more = {"prefetch_factor": setting["prefetch"]} if workers else {}
    made = wds.WebLoader(ds, batch_size=None if is_inside else batch, num_workers=workers, **more)

    def run():
        return side.timed(lambda: side.drain(itertools.islice(iter(made), n // batch)), elements=n)

    return run


def web_collate_of(setting):
    """For samples that are tuples of one image."""
    import webdataset as wds

    if setting.get("normalise") == "of the batch":
        return lambda samples: normalising([s[0] for s in samples])
    return wds.filters.default_collation_fn


def web_shuffle(n, buffer, batch, setting):
    import webdataset as wds

    collates = {"np.array": np.array}
    first = buffer if setting["initial"] == "buffer" else setting["initial"]
    make = wds.detshuffle if setting.get("deterministic") else wds.shuffle
    batched = wds.batched(batch, collation_fn=collates.get(setting.get("collate")))

    def pipeline():
        return wds.DataPipeline(lambda: iter(range(n)), make(buffer, initial=first), batched)

    def run():
        ds = pipeline()
        if setting.get("workers"):
            ds = wds.WebLoader(ds, batch_size=None, num_workers=setting["workers"])
        return side.timed(lambda: side.drain(iter(ds)), elements=n)

    return run


CASES = {
    "overhead": overhead,
    "overhead_of_blocks": overhead_of_blocks,
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
