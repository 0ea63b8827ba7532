"""Part-of-speech tagging as a task of the core."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from friend_training.examples import TagsExample
from friend_training.nn.devices import AUTO
from friend_training.nn.torch_task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.nn.word_settings import WORD_SETTINGS
from friend_training.tasks.tagging.definition import TaggingDefinition


def tagging_task(
    encoder: str | Path, settings: TrainingSettings = WORD_SETTINGS, *, tags: Sequence[str], device: str = AUTO
) -> TorchTask:
    """`encoder` is a folder of `pretrain_word_encoder`, or a transformer's folder or hub name; names: `tag_names`."""
    return TorchTask(TaggingDefinition(encoder=encoder, tags=tags), encoder=encoder, settings=settings, device=device)


def tag_names(examples: Iterable[TagsExample]) -> dict[str, tuple[str, ...]]:
    """The names of `tags` in gold sentences."""
    return {"tags": tuple(sorted({tag for example in examples for tag in example.tags.tags}))}
