# SPDX-License-Identifier: Apache-2.0
"""As torch.optim."""

from .optimizer import Optimizer  # noqa: F401
