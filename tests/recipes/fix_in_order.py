# SPDX-License-Identifier: Apache-2.0
"""A fix with a hook: fixes/torch.dataloader.in_order.txt, and this function in _stoker_fix_torch.py."""

from _stoker_tune import change, fix


@fix("torch.dataloader")
def torch_dataloader_in_order(value, now):
    return change(now, "in_order", value == "True")
