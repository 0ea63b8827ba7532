"""Part-of-speech tagging as a task: a unit is one sentence, its label a tag for each word."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from friend_training.core.task import Evaluation, Prediction, PseudoLabel
from friend_training.errors import ConfigError, DataError
from friend_training.nn.class_names import Numbering, check_names, save_names
from friend_training.nn.devices import AUTO
from friend_training.nn.encoder import AnyEncoder
from friend_training.nn.heads import UNKNOWN, Head
from friend_training.nn.task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.nn.word_input import (
    WORD_SETTINGS,
    Row,
    SentenceBatch,
    SentenceItem,
    collate_sentences,
    pseudo_sentence_items,
    sentence_items,
    word_reader,
    word_table,
)
from friend_training.tasks.parsing.tagging.metrics import tag_scores
from friend_training.types import Tags, TagsExample, Words


class Tagger(nn.Module):
    """A softmax over the tags for every word."""

    def __init__(self, encoder: AnyEncoder, tags: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.tag = nn.Linear(encoder.width, tags)

    def forward(self, batch: SentenceBatch) -> tuple[Head, ...]:
        return (Head(self.tag(batch.input.encode(self.encoder)), batch.mask),)


class TaggingDefinition:
    """Words are tagged one by one; what their neighbours are is the encoder's business."""

    label_type = Tags
    main_metric = "accuracy"

    def __init__(self, *, encoder: str | Path, tags: Sequence[str], name: str = "tagging") -> None:
        self.name = name
        if not tags:
            raise ConfigError("tagging needs the names of some tags")
        self.reader = word_reader(encoder)
        self.tags = Numbering("tags", tuple(tags))

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"tags": self.tags.names}

    def network(self, encoder: AnyEncoder) -> nn.Module:
        return Tagger(encoder, tags=len(self.tags.names))

    def save(self, folder: Path) -> None:
        self.reader.save(folder)
        save_names(folder, {"tags": self.tags.names})

    def check(self, folder: Path) -> None:
        self.reader.check(folder)
        check_names(folder, {"tags": self.tags.names})

    def gold_items(self, examples: Sequence[TagsExample]) -> list[SentenceItem]:
        classes = [self._classes(example.words, example.tags) for example in examples]
        return sentence_items(self.reader, self.inputs_of(examples), classes)

    def pseudo_items(self, chosen: Sequence[PseudoLabel]) -> list[SentenceItem]:
        return pseudo_sentence_items(self.reader, chosen, self._classes)

    def input_items(self, inputs: Sequence[Words]) -> list[SentenceItem]:
        return sentence_items(self.reader, inputs, None)

    def _classes(self, words: Words, label: Tags) -> tuple[Row, ...]:
        if len(label.tags) != len(words.words):
            raise DataError(f"sentence {words.id}: {len(words.words)} words, but {len(label.tags)} tags")
        classes = np.array([self.tags.number(tag, words.id) for tag in label.tags], dtype=np.int64)
        classes[list(label.unsure)] = UNKNOWN
        return (classes,)

    def inputs_of(self, examples: Sequence[TagsExample]) -> list[Words]:
        return [example.words for example in examples]

    def units_in(self, example: TagsExample) -> int:
        return 1

    def collate(self, items: Sequence[SentenceItem]) -> SentenceBatch:
        return collate_sentences(self.reader, items, _targets)

    def decode(self, heads: Sequence[Head], batch: SentenceBatch) -> list[list[Prediction]]:
        """The likeliest tags; the confidence is the geometric mean of their probabilities."""
        head, names = heads[0], self.tags.names
        logs, best = head.logits.log_softmax(dim=2).max(dim=2)  # [B, N]
        words = head.mask.sum(dim=1)
        means = torch.where(head.mask, logs, 0.0).double().sum(dim=1) / words.clamp(min=1)
        confidence = torch.where(words > 0, means.exp(), 0.0).tolist()
        return [
            [Prediction(item.sentence.id, Tags(tuple(names[n] for n in row[: item.words])), sure, item.words > 0)]
            for item, row, sure in zip(batch.items, best.tolist(), confidence, strict=True)
        ]

    def score(self, examples: Sequence[TagsExample], predictions: Sequence[Sequence[Prediction]]) -> Evaluation:
        return tag_scores([units[0].label for units in predictions], [example.tags for example in examples])


def _targets(items: Sequence[SentenceItem], longest: int) -> tuple[Tensor, ...]:
    return (word_table(items, longest, 0),)


def tagging_task(
    encoder: str | Path,
    settings: TrainingSettings = WORD_SETTINGS,
    *,
    tags: Sequence[str],
    name: str = "tagging",
    device: str = AUTO,
) -> TorchTask:
    """`encoder` is a folder of `pretrain_word_encoder`, or a transformer's folder or hub name; names: `tag_names`."""
    definition = TaggingDefinition(encoder=encoder, tags=tags, name=name)
    return TorchTask(definition, encoder=encoder, settings=settings, device=device)


def tag_names(examples: Iterable[TagsExample]) -> dict[str, tuple[str, ...]]:
    """The names of `tags` in gold sentences."""
    return {"tags": tuple(sorted({tag for example in examples for tag in example.tags.tags}))}
