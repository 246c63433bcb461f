# SPDX-License-Identifier: Apache-2.0
"""As torch.utils."""

from . import data  # noqa: F401
