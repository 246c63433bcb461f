# SPDX-License-Identifier: Apache-2.0
"""The verdict at the end of a training run, with one line in the program:

    Trainer(callbacks=[stoker.callbacks.lightning()])               # Lightning
    model.fit(..., callbacks=[stoker.callbacks.keras()])            # Keras 3, tf.keras
    Trainer(..., callbacks=[stoker.callbacks.transformers()])       # Hugging Face Transformers
    accelerator = stoker.callbacks.accelerate(Accelerator())        # Accelerate: at end_training()

Each counts steps, records a window of them with the framework's own profiler, and at the end prints the report of
`stoker why` to standard error, from the first rank only. It is then also in `report`. Arguments, all by name:

    steps, warmup   steps to record (5) and to skip first (10)
    folder          where the profiles go, in a separate folder for each run (stoker-profiles, or $STOKER_PROFILES)
    log             "tensorboard", "wandb", "mlflow", or several: the verdict, and the shares of the step as figures. W&B
                    and MLflow need a run that the program has begun
    log_dir         TensorBoard's folder (the framework's own, else stoker-tensorboard)

Limits: a failure never ends the training; it prints one line. Nothing is recorded under `stoker run`, which records
itself, or while another profiler is active. A run that ends before the warm-up and one step has no verdict.
"""

import sys
from collections.abc import Iterable
from typing import Any, Optional, Union

from ._window import Window

Log = Union[str, "Iterable[str]"]
__all__ = ["accelerate", "keras", "lightning", "transformers"]


def _loaded(*names: str) -> Any:
    """The first of these modules that the program has imported, else the first one installed."""
    for name in names:
        if name in sys.modules:
            return sys.modules[name]
    error: Optional[ImportError] = None
    for name in names:
        try:
            __import__(name)
            return sys.modules[name]
        except ImportError as e:
            error = error or e
    assert error
    raise error


class _HasReport:
    """Shared by all: the window, and its result."""

    stoker_window: Window

    @property
    def report(self) -> Any:
        """The report; None until the training has ended, or if no report could be made."""
        return self.stoker_window.report


def lightning(*, steps: int = 5, warmup: int = 10, folder: Optional[str] = None, log: Log = (), log_dir: Optional[str] = None) -> Any:
    """A callback of lightning.pytorch or pytorch_lightning, whichever the program uses."""
    base = _loaded("lightning.pytorch", "pytorch_lightning").Callback

    class StokerCallback(_HasReport, base):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            super().__init__()
            self.stoker_window = Window("torch", steps, warmup, folder, log, log_dir)

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            self.stoker_window.begin(trainer.global_rank)

        def on_train_batch_end(self, trainer: Any, *args: Any, **more: Any) -> None:
            self.stoker_window.stepped()

        def on_train_end(self, trainer: Any, pl_module: Any) -> None:
            self.stoker_window.end(getattr(trainer, "log_dir", None) if trainer.loggers else None)

        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
            self.stoker_window.end()

    return StokerCallback()


def transformers(*, steps: int = 5, warmup: int = 10, folder: Optional[str] = None, log: Log = (), log_dir: Optional[str] = None) -> Any:
    """A callback of transformers.Trainer and its subclasses. Its steps are the optimizer's."""
    base = _loaded("transformers.trainer_callback").TrainerCallback

    class StokerCallback(_HasReport, base):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            self.stoker_window = Window("torch", steps, warmup, folder, log, log_dir)

        def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            self.stoker_window.begin(int(getattr(args, "process_index", 0)))

        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            self.stoker_window.stepped()

        def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            self.stoker_window.end(getattr(args, "logging_dir", None))

    return StokerCallback()


def keras(*, steps: int = 5, warmup: int = 10, folder: Optional[str] = None, log: Log = (), log_dir: Optional[str] = None) -> Any:
    """A callback of Keras 3 with any backend, or of tf.keras with TensorFlow. With steps_per_execution, a call is a step."""
    module = _loaded("keras", "tf_keras")
    backend = module.backend.backend() if hasattr(module.backend, "backend") else "tensorflow"

    class StokerCallback(_HasReport, module.callbacks.Callback):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.stoker_window = Window(backend, steps, warmup, folder, log, log_dir)

        def on_train_begin(self, logs: Any = None) -> None:
            self.stoker_window.begin()

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.stoker_window.stepped()

        def on_train_end(self, logs: Any = None) -> None:
            self.stoker_window.end()

    return StokerCallback()


def accelerate(
    accelerator: Any, *, steps: int = 5, warmup: int = 10, folder: Optional[str] = None, log: Log = (), log_dir: Optional[str] = None
) -> Any:
    """The accelerator itself. A step is a backward() call after which gradients are in sync; end_training() prints the
    verdict, which is also in `stoker_window.report`."""
    window = Window("torch", steps, warmup, folder, log, log_dir)
    backward, end_training = accelerator.backward, accelerator.end_training

    def stoker_backward(*args: Any, **more: Any) -> Any:
        window.begin(int(accelerator.process_index))
        result = backward(*args, **more)
        if accelerator.sync_gradients:
            window.stepped()
        return result

    def stoker_end_training(*args: Any, **more: Any) -> Any:
        window.end(getattr(accelerator, "logging_dir", None))
        return end_training(*args, **more)

    accelerator.stoker_window = window
    accelerator.backward, accelerator.end_training = stoker_backward, stoker_end_training
    return accelerator
