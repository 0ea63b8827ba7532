"""Token classification on any encoder of transformers: a unit is a sentence, its label a tag for each word."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from friend_training.core.task import Evaluation, Prediction, PseudoLabel
from friend_training.errors import ConfigError, DataError
from friend_training.nn.class_names import Numbering, check_names, save_names
from friend_training.nn.devices import AUTO
from friend_training.nn.encoder import Encoder
from friend_training.nn.heads import UNKNOWN, Head, best_sequence, likeliest_sequences
from friend_training.nn.task import TorchTask
from friend_training.nn.tokenizer import Tokenizer
from friend_training.nn.training import TrainingSettings
from friend_training.nn.word_input import (
    Row,
    SentenceBatch,
    SentenceItem,
    TokenReader,
    collate_sentences,
    pseudo_sentence_items,
    sentence_items,
    word_table,
)
from friend_training.tasks.auto_classifier import AutoClassifier, describe_classifier
from friend_training.tasks.given_examples import GivenExamples, check_classes, known_classes
from friend_training.tasks.token_classification.metrics import OUTSIDE, TagMetric, is_bio, token_scores
from friend_training.tasks.token_classification.model import TOKENS
from friend_training.types import Tags, TagsExample, Words

SETTINGS = TrainingSettings(encoder_rate=4e-5)


class TokenClassificationDefinition:
    """Examples are sentences with tags; inputs are anything that has words (`types.words_of`).

    Where the tags are BIO only valid sequences are predicted. `metric`, where none is named, is span_f1 for BIO tags
    and accuracy for others.
    """

    label_type = Tags

    def __init__(
        self, *, encoder: str | Path, name: str, tags: Sequence[str] | None, metric: TagMetric | None = None
    ) -> None:
        check_classes(name, "tags", tags)
        if metric == "span_f1" and tags is not None and not is_bio(tags):
            raise ConfigError(
                f"task {name}: metric is span_f1, but tags are {', '.join(tags)}; expected O, and B-x for every I-x"
            )
        self.name = name
        self.encoder = encoder
        self._tags, self._metric = tags, metric

    @cached_property
    def tags(self) -> Numbering:
        return Numbering("tags", known_classes(self.name, "tags", self._tags))

    @property
    def bio(self) -> bool:
        return is_bio(self.tags.names)

    @property
    def main_metric(self) -> str:
        return self._metric or ("span_f1" if self.bio else "accuracy")

    @cached_property
    def reader(self) -> TokenReader:
        return TokenReader(Tokenizer.load(self.encoder))

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"tags": self.tags.names, "metric": self.main_metric}

    def network(self, encoder: Encoder) -> nn.Module:
        return AutoClassifier(TOKENS, encoder, len(self.tags.names), pretrained=self.encoder)

    def save(self, folder: Path) -> None:
        self.reader.save(folder)
        save_names(folder, {"tags": self.tags.names})
        describe_classifier(TOKENS, folder, self.tags.names)

    def check(self, folder: Path) -> None:
        check_names(folder, {"tags": self.tags.names})

    def gold_items(self, examples: Sequence[TagsExample]) -> list[SentenceItem]:
        classes = [self._classes(example.words, example.tags) for example in examples]
        return sentence_items(self.reader, self.inputs_of(examples), classes)

    def pseudo_items(self, chosen: Sequence[PseudoLabel]) -> list[SentenceItem]:
        return pseudo_sentence_items(self.reader, chosen, self._classes)

    def input_items(self, inputs: Sequence[Any]) -> list[SentenceItem]:
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
        head = heads[0]
        logs = head.logits.log_softmax(dim=2)  # [B, N, C]
        best = self._best(logs, head.mask)  # [B, N]
        chosen = logs.gather(2, best.unsqueeze(2)).squeeze(2)
        words = head.mask.sum(dim=1)
        means = torch.where(head.mask, chosen, 0.0).double().sum(dim=1) / words.clamp(min=1)
        confidence = torch.where(words > 0, means.exp(), 0.0).clamp(max=1.0).tolist()
        return [
            [self._prediction(item, row[: item.words], sure)]
            for item, row, sure in zip(batch.items, best.tolist(), confidence, strict=True)
        ]

    def n_best(self, heads: Sequence[Head], batch: SentenceBatch, k: int) -> list[list[list[Prediction]]]:
        names, head = self.tags.names, heads[0]
        outside = self.tags.numbers.get(OUTSIDE, 0)
        allowed = allowed_steps(names) if self.bio else torch.ones(len(names), len(names), dtype=torch.bool)
        tags, scores = likeliest_sequences(head.logits.log_softmax(dim=2), head.mask, allowed, outside=outside, k=k)
        words = [item.words for item in batch.items]
        means = (scores / torch.tensor(words).clamp(min=1).unsqueeze(1)).exp().clamp(max=1.0).tolist()
        real = scores.isfinite().tolist()
        return [
            [
                [
                    self._prediction(item, row[: item.words], sure)
                    for row, sure, there in zip(*found, strict=True)
                    if there
                ]
            ]
            for item, *found in zip(batch.items, tags.tolist(), means, real, strict=True)
        ]

    def log_likelihood(
        self, heads: Sequence[Head], batch: SentenceBatch, labels: Sequence[Sequence[Sequence[Tags]]]
    ) -> list[list[list[float]]]:
        logs = heads[0].logits.log_softmax(dim=2).double().numpy()
        return [
            [[self._log_likelihood(of_item, label) for label in units[0]]]
            for of_item, units in zip(logs, labels, strict=True)
        ]

    def _log_likelihood(self, logs: NDArray[np.float64], label: Tags) -> float:
        """The sum over the words that the network sees; -inf for a tag that it does not know."""
        if not set(label.tags) <= self.tags.numbers.keys():
            return -math.inf
        numbers = [self.tags.numbers[tag] for tag in label.tags[: len(logs)]]
        return float(logs[np.arange(len(numbers)), numbers].sum())

    def _best(self, logs: Tensor, mask: Tensor) -> Tensor:
        if not self.bio:
            return logs.argmax(dim=2)
        allowed = allowed_steps(self.tags.names)
        return best_sequence(logs, mask, allowed, outside=self.tags.numbers[OUTSIDE])

    def _prediction(self, item: SentenceItem, numbers: Sequence[int], confidence: float) -> Prediction:
        tags = tuple(self.tags.names[number] for number in numbers)
        return Prediction(item.sentence.id, Tags(tags), confidence, any(tag != OUTSIDE for tag in tags))

    def score(self, examples: Sequence[TagsExample], predictions: Sequence[Sequence[Prediction]]) -> Evaluation:
        return token_scores([units[0].label for units in predictions], [example.tags for example in examples])


def allowed_steps(tags: Sequence[str]) -> Tensor:
    """allowed[from, to] of BIO tags: I-x may only follow B-x or I-x."""
    rows = [[to[:2] != "I-" or before in (to, f"B-{to[2:]}") for to in tags] for before in tags]
    return torch.tensor(rows, dtype=torch.bool)


def _targets(items: Sequence[SentenceItem], longest: int) -> tuple[Tensor, ...]:
    return (word_table(items, longest, 0),)


class TokenClassification(TorchTask):
    """A tagger, ready to use. What it saves, `transformers.pipeline("token-classification", folder)` loads.

    `encoder` is a folder or hub name. `gold`, `dev` and `test` are for FriendTrainer: a file, a DataFrame, a Dataset or
    a list of dicts, with a sentence's words and their tags in the columns `words` and `tag`, as lists or
    as texts with blanks; the tags are then those of gold. Without FriendTrainer it needs `tags` (of gold: `tag_set`).
    """

    def __init__(
        self,
        name: str,
        *,
        encoder: str | Path,
        tags: Sequence[str] | None = None,
        words: str = "words",
        tag: str = "tags",
        id: str | None = None,
        gold: Any = None,
        dev: Any = None,
        test: Any = None,
        metric: TagMetric | None = None,
        settings: TrainingSettings = SETTINGS,
        device: str = AUTO,
    ) -> None:
        self.examples = GivenExamples(gold, dev, test, {"words": words, "tags": tag}, id)
        self.metric = metric
        definition = TokenClassificationDefinition(encoder=encoder, name=name, tags=tags, metric=metric)
        super().__init__(definition, encoder=encoder, settings=settings, device=device)


def tag_set(examples: Iterable[TagsExample]) -> tuple[str, ...]:
    """The tags of gold, sorted; a B-x whose I-x gold has is among them even if gold lacks it."""
    found = {tag for example in examples for tag in example.tags.tags}
    if OUTSIDE in found and all(tag == OUTSIDE or tag[:2] in ("B-", "I-") for tag in found):
        found |= {f"B-{tag[2:]}" for tag in found if tag[:2] == "I-"}
    return tuple(sorted(found))
