# SPDX-License-Identifier: Apache-2.0
"""As torch.optim.optimizer: hooks behind the step of every optimizer."""

_hooks: list = []


def register_optimizer_step_post_hook(hook):
    _hooks.append(hook)


class Optimizer:
    def step(self):
        for hook in _hooks:
            hook(self, (), {})
