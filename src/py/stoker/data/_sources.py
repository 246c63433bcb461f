# SPDX-License-Identifier: Apache-2.0
"""Datasets of files, as classes."""

from ._dataset import Dataset


class TFRecordDataset(Dataset):
    """Records of TFRecord files."""


class TextLineDataset(Dataset):
    """Lines of text files."""


class FixedLengthRecordDataset(Dataset):
    """Records of one length."""


class CsvDataset(Dataset):
    """Rows of CSV files."""


class TarDataset(Dataset):
    """Samples of tar files (WebDataset shards)."""


class NpyDataset(Dataset):
    """Rows of .npy files."""


class IndexedDataset(Dataset):
    """Elements of a cache file."""
