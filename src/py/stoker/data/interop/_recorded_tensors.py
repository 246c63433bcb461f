# SPDX-License-Identifier: Apache-2.0
"""Tensors of recorded images (_recorded_images.py): ToTensor, PILToTensor, Normalize and the like are steps of the
recipe, and a batch that stacks such tensors is a list of recipes.

In a process that has called `begin`, torchvision's functions return a tensor with a shape but no values if the image is
recorded. Any other operation on it first makes the values, with torchvision's own functions, in place. From then on it
is an ordinary tensor.

Limits: float32 and uint8; Normalize with numbers. If a batch mixes recipes and values, the values are sent along with
the recipes.
"""

import numpy as np
import torch
import torchvision
from torchvision.transforms import _functional_pil as of_pillow
from torchvision.transforms import functional as own

from . import _recipes as steps
from . import _recorded_images as images

_Tensor = torch.Tensor
_AS_IT_IS = {
    _Tensor.shape.__get__, _Tensor.dtype.__get__, _Tensor.device.__get__, _Tensor.ndim.__get__, _Tensor.layout.__get__,
    _Tensor.requires_grad.__get__, _Tensor.size, _Tensor.dim, _Tensor.numel, _Tensor.is_floating_point,
    torch.is_floating_point, _Tensor.__len__, _Tensor.is_nested.__get__, _Tensor.is_sparse.__get__, _Tensor.is_cuda.__get__,
}  # fmt: skip
_OWN = {n: getattr(own, n) for n in ("to_tensor", "pil_to_tensor", "convert_image_dtype", "normalize", "erase")}
_FILLED = (of_pillow.adjust_hue, of_pillow.to_grayscale)


def _values(v):
    """Makes lazy tensors real ones, also in lists, tuples and dicts."""
    if isinstance(v, Lazy):
        return v.settled()
    if isinstance(v, (list, tuple)) and not hasattr(v, "_fields"):
        return type(v)(map(_values, v)) if type(v) in (list, tuple) else v
    return {k: _values(x) for k, x in v.items()} if type(v) is dict else v


def _scaled(x, how):
    if how == steps.CONVERTED:
        return _OWN["convert_image_dtype"](x, torch.float32)
    return torchvision.transforms.v2.functional.to_dtype(x, torch.float32, scale=True)


def _normalized(x, *a):
    n = x.shape[0]
    f = _OWN["normalize"] if type(x) is torch.Tensor else torchvision.transforms.v2.functional.normalize
    return f(x, list(a[:n]), list(a[3 : 3 + n]))


def _erased(x, i, j, h, w, *v):
    return _OWN["erase"](x, i, j, h, w, torch.tensor(v)[: x.shape[0], None, None])


def _patched(x, i, j, h, w, channels, values):
    x[:, i : i + h, j : j + w] = torch.frombuffer(bytearray(values), dtype=torch.float32).view(channels, h, w)
    return x


_BY_TORCH = {steps.SCALE: _scaled, steps.NORMALIZE: _normalized, steps.ERASE: _erased, steps.PATCH: _patched}
_BOXES = (steps.ERASE, steps.PATCH)  # after these, floats are no longer a table of levels


class Lazy(torch.Tensor):
    """A tensor given by a recipe: an image, and steps on its floats. With several images: a batch of them."""

    _image, _steps, _made, _parts, _kind = None, (), None, None, torch.Tensor

    @staticmethod
    def of(image, dtype, recorded=(), kind=None):
        size = (images.channels_of(image), image.height, image.width)
        out = torch.Tensor._make_wrapper_subclass(kind or Lazy, size, dtype=dtype)
        out._image, out._steps = image, recorded
        return out

    @staticmethod
    def stacked(parts):
        size = (len(parts), *parts[0].shape)
        out = torch.Tensor._make_wrapper_subclass(Lazy, size, dtype=parts[0].dtype)
        out._parts = parts
        return out

    def settled(self):
        """Its values, made once."""
        if self._made is None:
            with torch._C.DisableTorchFunctionSubclass():
                if self._parts is not None:
                    self._made = torch.stack([_values(p) for p in self._parts])
                elif self._image is None:  # torch made it from one
                    return self.as_subclass(self._kind)
                else:
                    self._made = self._of_image()
            self._image = self._parts = None
        return self._made

    def _of_image(self):
        """Computed by torchvision's own functions."""
        x, left = self._image, list(self._steps)
        if left and left[0] == (steps.SCALE, steps.TO_TENSOR):
            x = _OWN["to_tensor"](x)
            left.pop(0)
        else:
            x = _OWN["pil_to_tensor"](x)
            x = x if self._kind is torch.Tensor else self._kind(x)
        for kind, *a in left:
            x = _BY_TORCH[kind](x, *a)
        return x

    def is_open(self):
        """Are its values not made yet?"""
        return self._image is not None

    def then(self, dtype, *step):
        return Lazy.of(self._image, dtype, (*self._steps, step), type(self))

    def is_table(self):
        """Are its floats a function of the levels?"""
        return self.is_open() and not any(kind in _BOXES for kind, *_ in self._steps)

    def patch(self, at, value):
        """Records values that a box of all channels is set to. False: it is something else."""
        if not (self.is_open() and self.dtype == torch.float32 and isinstance(at, tuple) and len(at) == 3):
            return False
        is_box = all(isinstance(s, slice) and s.step in (None, 1) for s in at)
        if not is_box or type(value) is not torch.Tensor or value.dtype != torch.float32 or value.dim() > 3:
            return False
        (first, end), (i, bottom), (j, right) = (s.indices(n)[:2] for s, n in zip(at, self.shape))
        if first != 0 or end != self.shape[0] or bottom <= i or right <= j:
            return False
        values = value.detach().expand(end, bottom - i, right - j).contiguous().numpy().tobytes()
        self._steps = (*self._steps, (steps.PATCH, i, j, bottom - i, right - j, end, values))
        return True

    def recipe(self):
        """(path, recipe) of an image."""
        patches = [s[-1] for s in self._steps if s[0] == steps.PATCH]
        return images.recipe(self._image, self._steps, b"".join(patches))

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func in _AS_IT_IS:
            with torch._C.DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {}))
        if func is torch.stack and not kwargs and (len(args) == 1 or args[1] == 0) and _alike(args[0]):
            return Lazy.stacked(list(args[0]))
        if func is _Tensor.__setitem__ and not kwargs and isinstance(args[0], Lazy) and args[0].patch(*args[1:]):
            return None
        return func(*_values(tuple(args)), **_values(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return func(*_values(tuple(args)), **_values(kwargs or {}))


class LazyImage(Lazy, torchvision.tv_tensors.Image if hasattr(torchvision, "tv_tensors") else object):
    """The same as a tv_tensors.Image, for v2 transforms."""

    _kind = getattr(getattr(torchvision, "tv_tensors", None), "Image", None)


def _alike(parts):
    """Can they become a batch of recipes?"""
    if not isinstance(parts, (list, tuple)) or not any(isinstance(p, Lazy) and p.is_open() for p in parts):
        return False
    first = parts[0]
    return all(
        isinstance(p, torch.Tensor) and p.dim() == 3 and p.shape == first.shape and p.dtype == first.dtype for p in parts
    )


def _open_lazy(x):
    return isinstance(x, Lazy) and x.is_open()


def _has_recipe(image):
    return images.channels_of(image) is not None and torch.get_default_dtype() == torch.float32


def _to_tensor(pic):
    return Lazy.of(pic, torch.float32, ((steps.SCALE, steps.TO_TENSOR),)) if _has_recipe(pic) else _OWN["to_tensor"](pic)


def _pil_to_tensor(pic):
    return Lazy.of(pic, torch.uint8) if images.is_recorded(pic) else _OWN["pil_to_tensor"](pic)


def _to_image(pic):
    if images.is_recorded(pic):
        return Lazy.of(pic, torch.uint8, (), LazyImage)
    return torchvision.tv_tensors.Image(_OWN["pil_to_tensor"](pic)) if images.channels_of(pic) else _OWN["to_image"](pic)


def _to_dtype(image, dtype=torch.float32, scale=False):
    if _open_lazy(image) and image.dtype == torch.uint8 and dtype == torch.float32 and scale:
        return image.then(torch.float32, steps.SCALE, steps.TO_DTYPE)
    f = torchvision.transforms.v2.functional.to_dtype
    return image if _open_lazy(image) and image.dtype == dtype else f(_values(image), dtype, scale)


def _convert_image_dtype(image, dtype=torch.float32):
    if _open_lazy(image) and image.dtype == torch.uint8 and dtype == torch.float32:
        return image.then(torch.float32, steps.SCALE, steps.CONVERTED)
    return _OWN["convert_image_dtype"](_values(image), dtype)


def _normalize(tensor, mean, std, inplace=False):
    if _open_lazy(tensor) and tensor.dtype == torch.float32 and tensor.is_table() and not inplace:
        n = tensor.shape[0]
        wide = [[float(v) for v in list(given) * (n if len(given) == 1 else 1)] for given in (mean, std)]
        if len(wide[0]) == len(wide[1]) == n and all(torch.tensor(wide[1])):
            (m, s), rest = wide, [0.0] * (3 - n)
            return tensor.then(torch.float32, steps.NORMALIZE, *m, *rest, *s, *rest)
    f = torchvision.transforms.v2.functional.normalize if isinstance(tensor, LazyImage) else _OWN["normalize"]
    return f(_values(tensor), mean, std, inplace)


def _erase(img, i, j, h, w, v, inplace=False):
    if _open_lazy(img) and img.dtype == torch.float32 and isinstance(v, torch.Tensor) and v.numel() in (1, img.shape[0]):
        values = [float(x) for x in v.flatten().tolist()] * (img.shape[0] // v.numel())
        return img.then(torch.float32, steps.ERASE, int(i), int(j), int(h), int(w), *values, *[0.0] * (3 - len(values)))
    return _OWN["erase"](_values(img), i, j, h, w, v, inplace)


def _adjust_hue(img, hue_factor):
    hue, _ = _FILLED
    if not images.is_recorded(img) or img.mode != "RGB" or not -0.5 <= hue_factor <= 0.5:
        return hue(img, hue_factor)
    return img._with(img.size, img.mode, steps.HUE, int(np.int32(hue_factor * 255).astype(np.uint8)))


def _to_grayscale(img, num_output_channels):
    if images.is_recorded(img) and num_output_channels in (1, 3):
        gray = img.convert("L")
        return gray if num_output_channels == 1 else gray.convert("RGB")
    return _FILLED[1](img, num_output_channels)


def _collated(batch, *, collate_fn_map=None):
    """default_collate of tensors, some or all of which are recorded."""
    if _alike(batch):
        return Lazy.stacked(list(batch))
    return collate_fn_map[torch.Tensor](_values(list(batch)), collate_fn_map=collate_fn_map)


def begin():
    """Makes torchvision's functions record in this process from now on."""
    images.begin()
    if own.to_tensor is _to_tensor:
        return
    own.to_tensor, own.pil_to_tensor, own.convert_image_dtype = _to_tensor, _pil_to_tensor, _convert_image_dtype
    own.normalize, own.erase = _normalize, _erase
    of_pillow.adjust_hue, of_pillow.to_grayscale = _adjust_hue, _to_grayscale
    table = torch.utils.data._utils.collate.default_collate_fn_map
    kept = dict(table)
    table.clear()
    table.update({Lazy: _collated, LazyImage: _collated, **kept})
    _begin_v2()


def _begin_v2():
    """The same for v2 transforms, if torchvision has them."""
    v2 = getattr(torchvision.transforms, "v2", None)
    if v2 is None:
        import torchvision.transforms.v2 as v2
    f = v2.functional
    _OWN["to_image"] = f.to_image
    f.to_image = _to_image
    kernels = f._utils._KERNEL_REGISTRY
    kernels[f.to_dtype][LazyImage] = _to_dtype
    kernels[f.normalize][LazyImage] = _normalize
