"""Dependency parsing as a task of the core."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from friend_training.examples import HeadsExample
from friend_training.nn.devices import AUTO
from friend_training.nn.torch_task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.nn.word_settings import WORD_SETTINGS
from friend_training.tasks.dependency.definition import DependencyDefinition
from friend_training.tasks.dependency.metrics import Punctuation


def dependency_task(
    encoder: str | Path,
    settings: TrainingSettings = WORD_SETTINGS,
    *,
    relations: Sequence[str] = (),
    punctuation: Punctuation = "counted",
    device: str = AUTO,
) -> TorchTask:
    """`encoder` is a folder of `pretrain_word_encoder`, or a transformer's folder or hub name; names: `relation_names`.

    Universal Dependencies counts `punctuation` in its scores, work on the Penn Treebank skips it.
    """
    definition = DependencyDefinition(encoder=encoder, relations=relations, punctuation=punctuation)
    return TorchTask(definition, encoder=encoder, settings=settings, device=device)


def relation_names(examples: Iterable[HeadsExample]) -> dict[str, tuple[str, ...]]:
    """The names of `relations` in gold trees; none if some tree does without them."""
    relations = [example.heads.relations for example in examples]
    known = {name for names in relations for name in names or ()}
    return {"relations": () if None in relations else tuple(sorted(known))}
