"""The two tasks of the case study, as a config describes them."""

from pathlib import Path
from typing import Literal

from friend_training.nn.task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.study.config import Config, TrainingConfig
from friend_training.tasks.csrl.task import csrl_task
from friend_training.tasks.rewriting.model import Scorer
from friend_training.tasks.rewriting.task import rewriting_task
from friend_training.tasks.role_labelling import PredicateMark

# Config sections as the settings of the library's parts.


def training_settings(section: TrainingConfig) -> TrainingSettings:
    return TrainingSettings(**section.model_dump())


TaskName = Literal["csrl", "rewriting"]

TASKS: tuple[TaskName, ...] = ("csrl", "rewriting")


def make_task(config: Config, name: TaskName, encoder: str | Path) -> TorchTask:
    """A task without weights; `encoder` is a folder or hub name, or a checkpoint, which has all that an encoder has."""
    if name == "csrl":
        return _csrl(config, encoder, config.predicate_mark)
    return _rewriting(config, encoder, "dot")


def make_second_task(config: Config, name: TaskName, encoder: str | Path) -> TorchTask:
    """Another model of the same task, for co-training: the same encoder, a different head.

    CSRL is told of its predicate at the other place (in the encoder's input instead of after it, or the reverse);
    rewriting scores its spans by a biaffine product.
    """
    if name == "csrl":
        return _csrl(config, encoder, "input" if config.predicate_mark == "after" else "after")
    return _rewriting(config, encoder, "biaffine")


def _csrl(config: Config, encoder: str | Path, mark: PredicateMark) -> TorchTask:
    settings = training_settings(config.tasks.csrl.training)
    return csrl_task(
        encoder,
        settings,
        max_length=config.max_length,
        mark=mark,
        adjacent=config.repeated_roles,
        itself=config.predicate_as_argument,
        device=config.device,
    )


def _rewriting(config: Config, encoder: str | Path, scorer: Scorer) -> TorchTask:
    return rewriting_task(
        encoder,
        training_settings(config.tasks.rewriting.training),
        max_length=config.max_length,
        span_source=config.span_source,
        scorer=scorer,
        spans=config.insertion_spans,
        context_turns=config.rewriting_turns,
        main_metric=config.rewriting_metric,
        device=config.device,
    )
