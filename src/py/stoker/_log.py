# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="import-not-found,import-untyped"
"""A report in TensorBoard, W&B or MLflow: the verdict and the report's text, the shares of the step by part, and its
duration. The figures are stoker/PART_share and stoker/step_seconds.
"""

import sys
from typing import Any

from ._program import Report


def figures(report: Report) -> "dict[str, float]":
    found = {f"stoker/{p['id']}_share": float(p["share"]) for p in report.get("breakdown", {}).get("parts", [])}
    if report.get("steps", {}).get("median_ns"):
        found["stoker/step_seconds"] = report["steps"]["median_ns"] * 1e-9
    return found


def _sentence(report: Report) -> str:
    return str(report["verdict"]["sentence"]) if "verdict" in report else "several jobs"


def _text(report: Report) -> str:
    """As Markdown, in which TensorBoard keeps the columns."""
    return f"{_sentence(report)}\n\n" + "\n".join(f"    {line}" for line in report.text.splitlines())


def _tensorboard(report: Report, folder: str, step: int) -> None:
    if "torch" not in sys.modules and "tensorflow" in sys.modules:
        import tensorflow as tf

        with tf.summary.create_file_writer(folder).as_default():
            tf.summary.text("stoker/verdict", _text(report), step)
            for name, value in figures(report).items():
                tf.summary.scalar(name, value, step)
        return
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(folder) as writer:
        writer.add_text("stoker/verdict", _text(report), step)
        for name, value in figures(report).items():
            writer.add_scalar(name, value, step)


def _wandb(report: Report) -> None:
    import wandb

    run: Any = wandb.run
    if run is None:
        raise RuntimeError("no run is active: call wandb.init() before the training")
    run.log(figures(report))
    run.summary["stoker/verdict"] = _sentence(report)


def _mlflow(report: Report) -> None:
    import mlflow

    if mlflow.active_run() is None:
        raise RuntimeError("no run is active: call mlflow.start_run() before the training")
    mlflow.log_metrics(figures(report))
    mlflow.set_tag("stoker.verdict", _sentence(report))
    mlflow.log_text(report.text, "stoker.txt")


def log_report(where: str, report: Report, folder: str, step: int) -> None:
    if where == "tensorboard":
        _tensorboard(report, folder, step)
    elif where == "wandb":
        _wandb(report)
    else:
        _mlflow(report)
