# SPDX-License-Identifier: Apache-2.0
"""Hooks of `stoker run` inside a job. They patch a framework's module right after the job imported it, and import
nothing that the job doesn't. Each patch is applied separately: one that doesn't fit this version of the framework is
noted and skipped."""

import os
import sys

# Module that the job imports -> the file here that patches it, and its function. Files are loaded when needed.
_WATCHED = {
    "torch.utils.data.dataloader": ("_stoker_torch", "patch_loader"),
    "torch.autograd": ("_stoker_torch", "patch_backward"),
    "torch.nn.modules.module": ("_stoker_torch", "patch_module"),
    "torch.optim.optimizer": ("_stoker_torch", "patch_optimizer"),
    "torch.profiler.profiler": ("_stoker_torch", "patch_profiler"),
    "torch.autograd.profiler": ("_stoker_torch", "patch_autograd_profiler"),
    "torch.serialization": ("_stoker_input", "patch_save"),
    "keras.src.trainers.data_adapters": ("_stoker_input_keras", "patch_adapters"),
    "keras.src.saving.saving_api": ("_stoker_input", "patch_keras_saving"),
    "tensorflow.python.checkpoint.checkpoint": ("_stoker_input", "patch_tf_checkpoint"),
    "tensorflow.python.checkpoint.checkpoint_management": ("_stoker_input", "patch_tf_manager"),
    "tensorflow.python.saved_model.save": ("_stoker_input", "patch_saved_model"),
    "grain._src.python.data_loader": ("_stoker_grain", "patch_loader"),
    "keras.src.callbacks.callback_list": ("_stoker_keras", "patch_callbacks"),
    "keras.src.callbacks": ("_stoker_keras", "patch_callbacks"),
    "keras.callbacks": ("_stoker_keras", "patch_callbacks"),
    "tf_keras.src.callbacks": ("_stoker_keras", "patch_callbacks"),
    "tensorflow.python.data.ops.dataset_ops": ("_stoker_tfdata", "patch_data_set"),
    "tensorflow.python.data.ops.iterator_ops": ("_stoker_tfdata", "patch_iterator"),
    "tensorflow.python.eager.polymorphic_function.polymorphic_function": ("_stoker_tfdata", "patch_function"),
    "tensorflow.python.eager.backprop": ("_stoker_tfdata", "patch_gradients"),
    "tensorflow.python.profiler.profiler_v2": ("_stoker_tfdata", "patch_profiler"),
    "jax": ("_stoker_jax", "patch_jit"),
    "jax._src.profiler": ("_stoker_jax", "patch_profiler"),
}

plan = {}
more = {}  # module -> functions in addition to the one in _WATCHED: those of `stoker tune`
turner = "_stoker_window"  # the file whose Window runs after steps
recorder = None  # of this process, _stoker_record.Recorder
folder = ""  # of these files
_files = {}


def load(name):
    """A file of this folder, which is not on sys.path."""
    if name not in _files:
        import importlib.util

        spec = importlib.util.spec_from_file_location(name, f"{folder}/{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = _files[name] = module
        spec.loader.exec_module(module)
    return _files[name]


def _patch(module, name):
    patches = list(more.get(name, ()))
    if name in _WATCHED:
        file, function = _WATCHED[name]
        patches.insert(0, lambda module: getattr(load(file), function)(module))
    for patch in patches:
        try:
            patch(module)
        except Exception as e:
            recorder.note(f"the hook into {name} doesn't fit this version: {type(e).__name__}: {e}")


class _Loader:
    """Replaces a module's loader until the module is executed, then leaves no trace."""

    def __init__(self, loader, name):
        self.loader, self.name = loader, name

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = self.loader
        if getattr(module, "__spec__", None) is not None:
            module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        _patch(module, self.name)


class _Finder:
    """First on sys.meta_path. A name that isn't watched costs one dict lookup."""

    def find_spec(self, name, path=None, target=None):
        if name not in _WATCHED and name not in more:
            return None
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                        spec.loader = _Loader(spec.loader, name)
                    return spec
        return None


def _read_plan(text):
    words, _, folder = text.partition("dir=")
    found = dict(w.partition("=")[::2] for w in words.split())
    numbers = {name: int(found[name]) for name in ("steps", "warmup", "saves", "gpu", "every")}
    return {**numbers, "input": found["input"], "dir": folder}


def start(own_folder):
    global recorder, folder
    text = os.environ.get("STOKER_RUN")
    if recorder is not None or not text:
        return
    folder = own_folder
    plan.update(_read_plan(text))
    _files["_stoker_core"] = sys.modules[__name__]
    recorder = load("_stoker_record").Recorder(plan)
    if os.environ.get("STOKER_TUNE"):
        load("_stoker_tune").start(os.environ["STOKER_TUNE"])
    sys.meta_path.insert(0, _Finder())
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=recorder.forget)
    fd = os.open(folder + "/seen", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    try:
        os.write(fd, b"%d\n" % os.getpid())
    finally:
        os.close(fd)
