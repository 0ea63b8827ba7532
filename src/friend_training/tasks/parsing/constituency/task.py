"""Constituency parsing as a task: a unit is one sentence, its label the phrases and the preterminals of the words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
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
from friend_training.tasks.parsing.constituency.metrics import bracket_scores
from friend_training.tasks.parsing.constituency.model import NO_PHRASE, SpanParser, decode_trees, slot_of
from friend_training.types import Tree, TreeExample, Words

SPANS, TAGS = 0, 1
"""The two kinds of decisions, in the order of the network's heads."""


class ConstituencyDefinition:
    """A chart parser over independent decisions about spans; chains of unary phrases are labels of their own (A+B)."""

    label_type = Tree
    main_metric = "f1"

    def __init__(
        self, *, encoder: str | Path, phrases: Sequence[str], tags: Sequence[str], name: str = "constituency"
    ) -> None:
        self.name = name
        if not phrases or not tags:
            raise ConfigError("constituency parsing needs the names of some phrases and tags")
        self.reader = word_reader(encoder)
        self.phrases, self.tags = Numbering("phrases", tuple(phrases)), Numbering("tags", tuple(tags))

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"phrases": self.phrases.names, "tags": self.tags.names}

    def network(self, encoder: AnyEncoder) -> nn.Module:
        return SpanParser(encoder, labels=1 + len(self.phrases.names), tags=len(self.tags.names))

    def save(self, folder: Path) -> None:
        self.reader.save(folder)
        save_names(folder, self._names())

    def check(self, folder: Path) -> None:
        self.reader.check(folder)
        check_names(folder, self._names())

    def _names(self) -> dict[str, tuple[str, ...]]:
        return {"phrases": self.phrases.names, "tags": self.tags.names}

    def gold_items(self, examples: Sequence[TreeExample]) -> list[SentenceItem]:
        classes = [self._classes(example.words, example.tree) for example in examples]
        return sentence_items(self.reader, self.inputs_of(examples), classes)

    def pseudo_items(self, chosen: Sequence[PseudoLabel]) -> list[SentenceItem]:
        return pseudo_sentence_items(self.reader, chosen, self._pseudo_classes)

    def input_items(self, inputs: Sequence[Words]) -> list[SentenceItem]:
        return sentence_items(self.reader, inputs, None)

    def _classes(self, words: Words, tree: Tree) -> tuple[Row, ...]:
        """Phrases as rows of (first fence, last fence, class), and the tag of each word."""
        if len(tree.tags) != len(words.words):
            raise DataError(f"sentence {words.id}: {len(words.words)} words, but {len(tree.tags)} tags")
        spans = [(b.start, b.end, self.phrases.number(b.label, words.id) + NO_PHRASE + 1) for b in tree.brackets]
        spans += [(*span, UNKNOWN) for span in tree.unsure]
        outside = [span for span in spans if not 0 <= span[0] < span[1] <= len(words.words)]
        if outside:
            raise DataError(f"sentence {words.id}: phrase {outside[0][:2]} is not within its {len(words.words)} words")
        tags = np.array([self.tags.number(tag, words.id) for tag in tree.tags], dtype=np.int64)
        tags[list(tree.unsure_tags)] = UNKNOWN
        return np.array(spans, dtype=np.int64).reshape(-1, 3), tags

    def _pseudo_classes(self, words: Words, tree: Tree) -> tuple[Row, ...]:
        """Phrases of names that gold has not, which only a friend can have proposed, are left open."""
        known = [bracket for bracket in tree.brackets if bracket.label in self.phrases.numbers]
        foreign = tuple((b.start, b.end) for b in tree.brackets if b.label not in self.phrases.numbers)
        return self._classes(words, replace(tree, brackets=tuple(known), unsure=(*tree.unsure, *foreign)))

    def inputs_of(self, examples: Sequence[TreeExample]) -> list[Words]:
        return [example.words for example in examples]

    def units_in(self, example: TreeExample) -> int:
        return 1

    def collate(self, items: Sequence[SentenceItem]) -> SentenceBatch:
        return collate_sentences(self.reader, items, span_targets)

    def decode(self, heads: Sequence[Head], batch: SentenceBatch) -> list[list[Prediction]]:
        """A tree whose only phrase is the sentence has no content."""
        decoded = decode_trees(heads, batch, self.phrases.names, self.tags.names)
        return [
            [Prediction(item.sentence.id, tree, confidence, content=len(tree.brackets) > 1)]
            for item, (tree, confidence) in zip(batch.items, decoded, strict=True)
        ]

    def score(self, examples: Sequence[TreeExample], predictions: Sequence[Sequence[Prediction]]) -> Evaluation:
        return bracket_scores([units[0].label for units in predictions], [example.tree for example in examples])


def span_targets(items: Sequence[SentenceItem], longest: int) -> tuple[Tensor, ...]:
    spans = torch.full((len(items), longest * (longest + 1) // 2), NO_PHRASE)
    for row, item in enumerate(items):
        if item.classes is not None:
            first, last, label = torch.from_numpy(item.classes[SPANS]).unbind(dim=1)
            spans[row, slot_of(first, last, longest)] = label
    return spans, word_table(items, longest, TAGS)


def constituency_task(
    encoder: str | Path,
    settings: TrainingSettings = WORD_SETTINGS,
    *,
    phrases: Sequence[str],
    tags: Sequence[str],
    name: str = "constituency",
    device: str = AUTO,
) -> TorchTask:
    """`encoder` is a folder of `pretrain_word_encoder`, or a transformer's folder or hub name; names: `tree_names`."""
    definition = ConstituencyDefinition(encoder=encoder, phrases=phrases, tags=tags, name=name)
    return TorchTask(definition, encoder=encoder, settings=settings, device=device)


def tree_names(examples: Iterable[TreeExample]) -> dict[str, tuple[str, ...]]:
    """The names of `phrases` and `tags` in gold trees: all that a parser trained on them can ever predict."""
    trees = [example.tree for example in examples]
    return {
        "phrases": tuple(sorted({bracket.label for tree in trees for bracket in tree.brackets})),
        "tags": tuple(sorted({tag for tree in trees for tag in tree.tags})),
    }
