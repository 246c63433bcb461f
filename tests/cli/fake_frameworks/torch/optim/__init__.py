# SPDX-License-Identifier: Apache-2.0
"""As torch.optim."""

from .optimizer import Optimizer


class Adam(Optimizer):
    def __init__(self, params=(), fused=None, foreach=None):
        super().__init__(params, {"fused": fused, "foreach": foreach})
