# SPDX-License-Identifier: Apache-2.0
"""As torch.utils.data.dataloader: an iterator class with __next__ behind each loader."""


class _BaseDataLoaderIter:
    def __init__(self, loader):
        self._dataset = loader.dataset
        self._it = iter(loader.dataset)

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._dataset)

    def __next__(self):
        return next(self._it)


class DataLoader:
    def __init__(self, dataset):
        self.dataset = dataset

    def __iter__(self):
        return _BaseDataLoaderIter(self)
