"""Dependency parsing as a task: a unit is one sentence, its label each word's head and, where known, the relation."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from friend_training.core.task import Evaluation, Prediction, PseudoLabel
from friend_training.errors import DataError
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
from friend_training.tasks.parsing.dependency.metrics import Punctuation, attachment_scores
from friend_training.tasks.parsing.dependency.model import BiaffineParser, decode_heads
from friend_training.types import Heads, HeadsExample, Words


class DependencyDefinition:
    """Each word chooses its head; the tree is the best projective one with a single root.

    Without names of `relations` only heads are learnt and predicted. Trees that are not projective can be learnt from.
    `punctuation`: whether the score counts it.
    """

    label_type = Heads
    main_metric = "uas"

    def __init__(
        self,
        *,
        encoder: str | Path,
        relations: Sequence[str] = (),
        punctuation: Punctuation = "counted",
        name: str = "dependency",
    ) -> None:
        self.name = name
        self.reader = word_reader(encoder)
        self.punctuation = punctuation
        self.relations = Numbering("relations", tuple(relations))

    @property
    def per_head(self) -> int:
        """Classes for each head: a word's class is head · per_head + relation."""
        return max(1, len(self.relations.names))

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"relations": self.relations.names, "punctuation": self.punctuation}

    def network(self, encoder: AnyEncoder) -> nn.Module:
        return BiaffineParser(encoder, relations=self.per_head)

    def save(self, folder: Path) -> None:
        self.reader.save(folder)
        save_names(folder, {"relations": self.relations.names})

    def check(self, folder: Path) -> None:
        self.reader.check(folder)
        check_names(folder, {"relations": self.relations.names})

    def gold_items(self, examples: Sequence[HeadsExample]) -> list[SentenceItem]:
        classes = [self._classes(example.words, example.heads) for example in examples]
        return sentence_items(self.reader, self.inputs_of(examples), classes)

    def pseudo_items(self, chosen: Sequence[PseudoLabel]) -> list[SentenceItem]:
        return pseudo_sentence_items(self.reader, chosen, self._classes)

    def input_items(self, inputs: Sequence[Words]) -> list[SentenceItem]:
        return sentence_items(self.reader, inputs, None)

    def _classes(self, words: Words, label: Heads) -> tuple[Row, ...]:
        count = len(words.words)
        if len(label.heads) != count:
            raise DataError(f"sentence {words.id}: {count} words, but {len(label.heads)} heads")
        for word, head in enumerate(label.heads, start=1):
            if not 0 <= head <= count or head == word:
                raise DataError(f"sentence {words.id}: word {word} of {count} cannot have the head {head}")
        classes = np.array(label.heads, dtype=np.int64) * self.per_head
        if self.relations.names:
            if label.relations is None or len(label.relations) != count:
                raise DataError(f"sentence {words.id}: a relation for each of its {count} words is needed")
            classes += np.array([self.relations.number(name, words.id) for name in label.relations], dtype=np.int64)
        classes[list(label.unsure)] = UNKNOWN
        return (classes,)

    def inputs_of(self, examples: Sequence[HeadsExample]) -> list[Words]:
        return [example.words for example in examples]

    def units_in(self, example: HeadsExample) -> int:
        return 1

    def collate(self, items: Sequence[SentenceItem]) -> SentenceBatch:
        return collate_sentences(self.reader, items, _targets)

    def decode(self, heads: Sequence[Head], batch: SentenceBatch) -> list[list[Prediction]]:
        """The tree of a single word has no content."""
        return [
            [Prediction(item.sentence.id, tree, confidence, content=item.words > 1)]
            for item, (tree, confidence) in zip(
                batch.items, decode_heads(heads[0], batch, self.relations.names), strict=True
            )
        ]

    def score(self, examples: Sequence[HeadsExample], predictions: Sequence[Sequence[Prediction]]) -> Evaluation:
        return attachment_scores(
            [units[0].label for units in predictions],
            [example.heads for example in examples],
            self.inputs_of(examples),
            punctuation=self.punctuation,
        )


def _targets(items: Sequence[SentenceItem], longest: int) -> tuple[Tensor, ...]:
    return (word_table(items, longest, 0),)


def dependency_task(
    encoder: str | Path,
    settings: TrainingSettings = WORD_SETTINGS,
    *,
    relations: Sequence[str] = (),
    punctuation: Punctuation = "counted",
    name: str = "dependency",
    device: str = AUTO,
) -> TorchTask:
    """`encoder` is a folder of `pretrain_word_encoder`, or a transformer's folder or hub name; names: `relation_names`.

    Universal Dependencies counts `punctuation` in its scores, work on the Penn Treebank skips it.
    """
    definition = DependencyDefinition(encoder=encoder, relations=relations, punctuation=punctuation, name=name)
    return TorchTask(definition, encoder=encoder, settings=settings, device=device)


def relation_names(examples: Iterable[HeadsExample]) -> dict[str, tuple[str, ...]]:
    """The names of `relations` in gold trees; none if some tree does without them."""
    relations = [example.heads.relations for example in examples]
    known = {name for names in relations for name in names or ()}
    return {"relations": () if None in relations else tuple(sorted(known))}
