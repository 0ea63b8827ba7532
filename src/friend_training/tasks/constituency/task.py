"""Constituency parsing as a task of the core."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from friend_training.examples import TreeExample
from friend_training.nn.devices import AUTO
from friend_training.nn.torch_task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.nn.word_settings import WORD_SETTINGS
from friend_training.tasks.constituency.definition import ConstituencyDefinition


def constituency_task(
    encoder: str | Path,
    settings: TrainingSettings = WORD_SETTINGS,
    *,
    phrases: Sequence[str],
    tags: Sequence[str],
    device: str = AUTO,
) -> TorchTask:
    """`encoder` is a folder of `pretrain_word_encoder`, or a transformer's folder or hub name; names: `tree_names`."""
    definition = ConstituencyDefinition(encoder=encoder, phrases=phrases, tags=tags)
    return TorchTask(definition, encoder=encoder, settings=settings, device=device)


def tree_names(examples: Iterable[TreeExample]) -> dict[str, tuple[str, ...]]:
    """The names of `phrases` and `tags` in gold trees: all that a parser trained on them can ever say."""
    trees = [example.tree for example in examples]
    return {
        "phrases": tuple(sorted({bracket.label for tree in trees for bracket in tree.brackets})),
        "tags": tuple(sorted({tag for tree in trees for tag in tree.tags})),
    }
