# SPDX-License-Identifier: Apache-2.0
"""PyTorch's newer components on its DataLoader: torchcodec's JPEG decoder, and LitData's chunks of files. Both crop,
mirror and normalize with torchvision's transforms v2 on tensors."""

import itertools
import os

import litdata
import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import v2

import side

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
SCALE = torch.tensor([1 / (255 * s) for s in STD]).view(3, 1, 1)
SHIFT = torch.tensor([m / s for m, s in zip(MEAN, STD)]).view(3, 1, 1)
torch.set_num_threads(1)


def augment(setting):
    end = [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]
    steps = [v2.RandomResizedCrop(224, antialias=setting.get("antialias", True)), v2.RandomHorizontalFlip()]
    return v2.Compose(steps + (end if setting["normalise"] == "each" else []))


def normalising(items):
    return torch.stack(items).float().mul_(SCALE).sub_(SHIFT)


def decoded(data, setting):
    """A tensor (3, height, width) from a path or a file's bytes."""
    if setting.get("decoder") == "Pillow":
        import io

        from PIL import Image

        image = Image.open(io.BytesIO(data) if isinstance(data, bytes) else data)
        return v2.functional.pil_to_tensor(image.convert("RGB"))
    from torchcodec.decoders import decode_jpeg

    return decode_jpeg(data)


class Images(Dataset):
    def __init__(self, files, n, setting):
        self.files, self.n, self.setting, self.augment = files, n, setting, augment(setting)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.augment(decoded(self.files[i % len(self.files)], self.setting))


def arguments(setting):
    workers = setting["workers"]
    more = {"num_workers": workers}
    if workers:
        more.update(prefetch_factor=setting["prefetch"], persistent_workers=True)
    if setting["normalise"] == "of the batch":
        more["collate_fn"] = normalising
    if setting.get("in order") is False:
        more["in_order"] = False
    return more


def passes(made, batches, n):
    def epochs():
        while True:
            yield from made

    return lambda: side.timed(lambda: side.drain(itertools.islice(epochs(), batches)), elements=n)


def jpeg(files, batch, n, setting):
    made = DataLoader(Images(files, n, setting), batch, drop_last=True, **arguments(setting))
    return passes(made, n // batch, n)


def whole_file(path):
    with open(path, "rb") as f:
        return {"image": f.read()}


def chunks_of(files):
    """The folder of LitData's chunks with these files' bytes, next to the files; written once."""
    folder = os.path.join(os.path.dirname(files[0]), f"litdata-{len(files)}")
    if not os.path.exists(os.path.join(folder, "index.json")):
        litdata.optimize(whole_file, files, folder, chunk_bytes="16MB", num_workers=1)
    return folder


class Stored(litdata.StreamingDataset):
    def __init__(self, folder, setting):
        super().__init__(folder, drop_last=True)
        self.setting, self.steps = setting, augment(setting)

    def __getitem__(self, index):
        return self.steps(decoded(bytes(super().__getitem__(index)["image"]), self.setting))


def lit_jpeg(files, batch, n, setting):
    dataset = Stored(chunks_of(files), setting)
    made = litdata.StreamingDataLoader(dataset, batch_size=batch, drop_last=True, **arguments(setting))
    return passes(made, n // batch, n)


def versions():
    import importlib.metadata

    return {name: importlib.metadata.version(name) for name in ("torchcodec", "litdata")}


if __name__ == "__main__":
    side.serve({"jpeg": jpeg, "lit_jpeg": lit_jpeg}, versions)
