# SPDX-License-Identifier: Apache-2.0
"""As torch.utils.data.dataloader: an iterator class with __next__ behind each loader. A data set may say what a batch
takes (delay, seconds): without workers that is waited for, with workers it is not."""

import time


class IterableDataset:
    pass


class _BaseDataLoaderIter:
    def __init__(self, loader):
        self._dataset = loader.dataset
        self._delay = 0 if loader.num_workers else getattr(loader.dataset, "delay", 0)
        self._it = iter(loader.dataset)

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._dataset)

    def __next__(self):
        if self._delay:
            time.sleep(self._delay)
        return next(self._it)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    pass


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    pass


class DataLoader:
    def __init__(
        self, dataset, batch_size=1, num_workers=0, pin_memory=False, prefetch_factor=None, persistent_workers=False
    ):
        self.dataset, self.num_workers = dataset, num_workers
        if num_workers and hasattr(dataset, "starts_workers"):
            dataset.starts_workers()

    def __iter__(self):
        return (_MultiProcessingDataLoaderIter if self.num_workers else _SingleProcessDataLoaderIter)(self)
