# SPDX-License-Identifier: Apache-2.0
"""As torch.optim.optimizer: the first optimizer of a class wraps the step of its class; hooks behind each step."""

_hooks: list = []


def register_optimizer_step_post_hook(hook):
    _hooks.append(hook)


class Optimizer:
    is_inside = False  # of the record of a step

    def __init__(self, params=(), defaults=None):
        self.defaults = defaults or {}
        if not hasattr(type(self).step, "hooked"):
            type(self).step = self.profile_hook_step(type(self).step)
            type(self).step.hooked = True

    @staticmethod
    def profile_hook_step(function):
        def step(self, *args, **kwargs):
            Optimizer.is_inside = True
            result = function(self, *args, **kwargs)
            for hook in _hooks:
                hook(self, args, kwargs)
            Optimizer.is_inside = False
            return result

        return step

    def step(self):
        pass
