# SPDX-License-Identifier: Apache-2.0
"""dataloader-rs's side: PyTorch's loader with threads in Rust; Pillow and NumPy process images."""

import itertools

import dataloader_rs
import numpy as np

import pillow_images
import side


class Images(dataloader_rs.PyDataset):
    def __init__(self, files, n, is_each):
        super().__init__()
        self.files, self.n, self.is_each = files, n, is_each

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        image = pillow_images.by_pillow(self.files[i % len(self.files)])
        return pillow_images.normalised(image) if self.is_each else image


class PlusOne(dataloader_rs.PyDataset):
    def __init__(self, n, maps):
        super().__init__()
        self.n, self.maps = n, maps

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        for _ in range(self.maps):
            i = i + 1
        return i


class PlusOnes(PlusOne):
    """Fetches a batch at once."""

    def __getitems__(self, indices):
        return self[np.asarray(indices)]


def as_array(items):
    return items if isinstance(items, np.ndarray) else np.array(items)


def loader(dataset, batch, collate, setting):
    more = {"prefetch_depth": setting["prefetch"]} if "prefetch" in setting else {}
    if "items in parallel" in setting:
        more["items_in_parallel"] = setting["items in parallel"]
    return dataloader_rs.PyDataloader(
        dataset, batch, num_workers=setting["workers"], collate_fn=collate, drop_last=True, **more
    )


def passes(made, n):
    return lambda: side.timed(lambda: side.drain(iter(made)), elements=n)


def jpeg(files, batch, n, setting):
    is_each = setting["normalise"] == "each"
    collate = np.stack if is_each else pillow_images.collate
    return passes(loader(Images(files, n, is_each), batch, collate, setting), n)


def overhead(n, batch, maps, setting):
    kind = PlusOnes if setting.get("by") == "__getitems__" else PlusOne
    return passes(loader(kind(n, maps), batch, as_array, setting), n)


def shuffle(n, buffer, batch, setting):
    """A full shuffle: it has no buffer."""
    more = {"prefetch_depth": setting["prefetch"]} if "prefetch" in setting else {}
    made = dataloader_rs.PyDataloader(
        PlusOne(n, 0), batch, shuffle=True, num_workers=setting["workers"], collate_fn=as_array, **more
    )
    return lambda: side.timed(lambda: side.drain(itertools.islice(made, n // batch)), elements=n)


def versions():
    import importlib.metadata

    return {"dataloader-rs": importlib.metadata.version("dataloader-rs")}


if __name__ == "__main__":
    side.serve({"jpeg": jpeg, "overhead": overhead, "shuffle": shuffle}, versions)
