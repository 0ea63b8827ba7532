"""Dependency parsing: a unit is one sentence, its label the head of each word and, where known, the relation to it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from torch import Tensor, nn

from friend_training.core.counts import Evaluation
from friend_training.core.task import Prediction, PseudoLabel
from friend_training.errors import DataError
from friend_training.examples import Heads, HeadsExample, Words
from friend_training.nn.encoders import AnyEncoder
from friend_training.nn.heads import Head
from friend_training.nn.names import Numbering, check_names, save_names
from friend_training.nn.sentences import (
    SentenceBatch,
    SentenceItem,
    collate_sentences,
    pseudo_sentence_items,
    sentence_items,
    word_table,
)
from friend_training.nn.word_reader import Row, word_reader
from friend_training.tasks.dependency.decoding import decode_heads
from friend_training.tasks.dependency.metrics import Punctuation, attachment_scores
from friend_training.tasks.dependency.model import BiaffineParser


class DependencyDefinition:
    """Each word chooses its head; the tree is the best projective one with a single root.

    Without names of `relations` only heads are learnt and predicted. Trees that are not projective can be learnt from.
    `punctuation` says whether the score counts it.
    """

    name = "dependency"
    label_type = Heads
    main_metric = "uas"

    def __init__(
        self, *, encoder: str | Path, relations: Sequence[str] = (), punctuation: Punctuation = "counted"
    ) -> None:
        self.reader = word_reader(encoder)
        self.punctuation = punctuation
        self.relations = Numbering("relations", tuple(relations))

    @property
    def per_head(self) -> int:
        """Classes for each head: a word's class is head · per_head + relation."""
        return max(1, len(self.relations.names))

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
        return (classes,)

    def inputs_of(self, examples: Sequence[HeadsExample]) -> list[Words]:
        return [example.words for example in examples]

    def units_in(self, example: HeadsExample) -> int:
        return 1

    def collate(self, items: Sequence[SentenceItem]) -> SentenceBatch:
        return collate_sentences(self.reader, items, _targets)

    def decode(self, heads: Sequence[Head], batch: SentenceBatch) -> list[list[Prediction]]:
        """The tree of a single word says nothing."""
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
