"""Sentences in words on their way through training and labelling: what taggers and parsers share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from friend_training.core.task import PseudoLabel
from friend_training.examples import Words
from friend_training.nn.word_reader import Row, WordInput, WordReader


@dataclass(frozen=True, slots=True)
class SentenceItem:
    """A sentence that was read, with the classes of its decisions where they are known; each task has its own."""

    sentence: Words
    row: Row
    classes: tuple[Row, ...] | None
    weight: float

    @property
    def words(self) -> int:
        return len(self.sentence.words)

    @property
    def length(self) -> int:
        """At least 1: a sentence without words is read as one unknown word."""
        return max(1, self.words)


@dataclass(frozen=True, slots=True)
class SentenceBatch:
    """B sentences of up to N words. `mask` is empty for a sentence without words: nothing is decided there."""

    input: WordInput
    mask: Tensor  # [B, N]
    targets: tuple[Tensor, ...]
    weights: Tensor  # [B]
    items: tuple[SentenceItem, ...]


def sentence_items(
    reader: WordReader,
    sentences: Sequence[Words],
    classes: Sequence[tuple[Row, ...]] | None,
    weights: Sequence[float] | None = None,
) -> list[SentenceItem]:
    return [
        SentenceItem(
            sentence=sentence,
            row=reader.read(sentence.words),
            classes=None if classes is None else classes[number],
            weight=1.0 if weights is None else weights[number],
        )
        for number, sentence in enumerate(sentences)
    ]


def pseudo_sentence_items(
    reader: WordReader,
    chosen: Sequence[PseudoLabel],
    classes_of: Callable[[Words, Any], tuple[Row, ...]],
) -> list[SentenceItem]:
    """Chosen pseudo-labels; a unit is a whole sentence, so each is an item of its own."""
    sentences = _sentences_of(chosen)
    classes = [classes_of(words, pseudo.label) for words, pseudo in zip(sentences, chosen, strict=True)]
    return sentence_items(reader, sentences, classes, [pseudo.weight for pseudo in chosen])


def _sentences_of(chosen: Sequence[PseudoLabel]) -> list[Words]:
    sentences: list[Words] = []
    for pseudo in chosen:
        assert isinstance(pseudo.input, Words)
        sentences.append(pseudo.input)
    return sentences


def collate_sentences(
    reader: WordReader,
    items: Sequence[SentenceItem],
    target_tables: Callable[[Sequence[SentenceItem], int], tuple[Tensor, ...]],
) -> SentenceBatch:
    """`target_tables` lays out the classes of items for sentences of up to so many words."""
    longest = max(item.length for item in items)
    words = torch.tensor([item.words for item in items])
    return SentenceBatch(
        input=reader.collate([item.row for item in items]),
        mask=torch.arange(longest) < words[:, None],
        targets=target_tables(items, longest),
        weights=torch.tensor([item.weight for item in items]),
        items=tuple(items),
    )


def word_table(items: Sequence[SentenceItem], longest: int, kind: int) -> Tensor:
    """The classes number `kind` of all items, one per word: [B, N]; 0 where nothing is known."""
    table = torch.zeros(len(items), longest, dtype=torch.long)
    for row, item in enumerate(items):
        if item.classes is not None:
            table[row, : item.words] = torch.from_numpy(item.classes[kind])
    return table
