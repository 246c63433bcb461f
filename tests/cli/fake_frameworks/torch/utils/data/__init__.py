# SPDX-License-Identifier: Apache-2.0
"""As torch.utils.data."""

from .dataloader import DataLoader  # noqa: F401
