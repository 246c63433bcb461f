# SPDX-License-Identifier: Apache-2.0
"""As torch.autograd.profiler."""

running = 0


class profile:
    def __enter__(self):
        global running
        running += 1
        return self

    def __exit__(self, *args):
        global running
        running -= 1
