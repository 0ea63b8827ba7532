"""Text classification on any encoder of transformers: a unit is a text, its label one of the classes."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from friend_training.core.task import Evaluation, Prediction, PseudoLabel
from friend_training.nn.class_names import Numbering, check_names, save_names
from friend_training.nn.devices import AUTO
from friend_training.nn.encoder import Encoder
from friend_training.nn.heads import Head
from friend_training.nn.interfaces import pad
from friend_training.nn.task import TorchTask
from friend_training.nn.tokenizer import Tokenizer
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.auto_classifier import AutoClassifier, describe_classifier
from friend_training.tasks.class_metrics import ClassMetric, classification_scores
from friend_training.tasks.given_examples import GivenExamples, check_classes, known_classes
from friend_training.tasks.text_classification.model import TEXTS, TextBatch, TextItem
from friend_training.types import Text, text_of

SETTINGS = TrainingSettings(encoder_rate=4e-5)


class TextClassificationDefinition:
    """Examples are pairs of a text and its class; inputs are anything that has a text (`types.text_of`).

    Texts longer than `max_length` tokens are cut at their end.
    """

    label_type = str

    def __init__(
        self,
        *,
        encoder: str | Path,
        name: str,
        labels: Sequence[str] | None,
        metric: ClassMetric = "accuracy",
        max_length: int = 128,
    ) -> None:
        check_classes(name, "labels", labels)
        self.name = name
        self.main_metric: str = metric
        self.encoder = encoder
        self._labels, self._most = labels, max_length

    @cached_property
    def labels(self) -> Numbering:
        return Numbering("labels", known_classes(self.name, "labels", self._labels))

    @cached_property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer.load(self.encoder)

    @property
    def max_length(self) -> int:
        return min(self._most, self.tokenizer.longest or self._most)

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"labels": self.labels.names, "metric": self.main_metric, "max_length": self.max_length}

    def network(self, encoder: Encoder) -> nn.Module:
        return AutoClassifier(TEXTS, encoder, len(self.labels.names), pretrained=self.encoder)

    def save(self, folder: Path) -> None:
        self.tokenizer.save(folder)
        save_names(folder, {"labels": self.labels.names})
        describe_classifier(TEXTS, folder, self.labels.names)

    def check(self, folder: Path) -> None:
        check_names(folder, {"labels": self.labels.names})

    def gold_items(self, examples: Sequence[tuple[Text, str]]) -> list[TextItem]:
        numbers = [self.labels.number(label, text.id) for text, label in examples]
        return self._items([text for text, _ in examples], numbers, [1.0] * len(examples))

    def pseudo_items(self, chosen: Sequence[PseudoLabel]) -> list[TextItem]:
        numbers = [self.labels.number(pseudo.label, pseudo.input.id) for pseudo in chosen]
        return self._items([pseudo.input for pseudo in chosen], numbers, [pseudo.weight for pseudo in chosen])

    def input_items(self, inputs: Sequence[Any]) -> list[TextItem]:
        return self._items(inputs, [None] * len(inputs), [1.0] * len(inputs))

    def _items(self, inputs: Sequence[Any], labels: Sequence[int | None], weights: Sequence[float]) -> list[TextItem]:
        texts = [text_of(given) for given in inputs]
        self.tokenizer.remember(texts)
        return [
            TextItem(given.id, self._tokens(text), label, weight)
            for given, text, label, weight in zip(inputs, texts, labels, weights, strict=True)
        ]

    def _tokens(self, text: str) -> Any:
        ids = self.tokenizer(text)[: self.max_length - 2, 0]
        return np.concatenate([[self.tokenizer.cls_id], ids, [self.tokenizer.sep_id]])

    def inputs_of(self, examples: Sequence[tuple[Text, str]]) -> list[Text]:
        return [text for text, _ in examples]

    def units_in(self, example: tuple[Text, str]) -> int:
        return 1

    def collate(self, items: Sequence[TextItem]) -> TextBatch:
        return TextBatch(
            ids=pad([item.tokens for item in items], self.tokenizer.pad_id),
            mask=pad([np.ones(item.length, dtype=np.int64) for item in items], 0),
            targets=(torch.tensor([[item.label or 0] for item in items]),),
            weights=torch.tensor([item.weight for item in items]),
            items=tuple(items),
        )

    def decode(self, heads: Sequence[Head], batch: TextBatch) -> list[list[Prediction]]:
        """The likeliest class; its probability is the confidence."""
        sure, best = heads[0].logits.squeeze(1).double().softmax(dim=1).max(dim=1)
        return [
            [Prediction(item.id, self.labels.names[number], confidence)]
            for item, number, confidence in zip(batch.items, best.tolist(), sure.clamp(max=1.0).tolist(), strict=True)
        ]

    def n_best(self, heads: Sequence[Head], batch: TextBatch, k: int) -> list[list[list[Prediction]]]:
        names = self.labels.names
        likeliest = heads[0].logits.squeeze(1).double().softmax(dim=1).topk(min(k, len(names)), dim=1)
        sure = likeliest.values.clamp(max=1.0).tolist()
        return [
            [[Prediction(item.id, names[n], p) for n, p in zip(numbers, probabilities, strict=True)]]
            for item, numbers, probabilities in zip(batch.items, likeliest.indices.tolist(), sure, strict=True)
        ]

    def log_likelihood(
        self, heads: Sequence[Head], batch: TextBatch, labels: Sequence[Sequence[Sequence[str]]]
    ) -> list[list[list[float]]]:
        logs = heads[0].logits.squeeze(1).double().log_softmax(dim=1).tolist()
        numbers = self.labels.numbers
        return [
            [[of_item[numbers[label]] if label in numbers else -math.inf for label in units[0]]]
            for of_item, units in zip(logs, labels, strict=True)
        ]

    def score(self, examples: Sequence[tuple[Text, str]], predictions: Sequence[Sequence[Prediction]]) -> Evaluation:
        return classification_scores([units[0].label for units in predictions], [label for _, label in examples])


class TextClassification(TorchTask):
    """A text classifier, ready to use. What it saves, `transformers.pipeline("text-classification", folder)` loads.

    `encoder` is a folder or hub name. `gold`, `dev` and `test` are for FriendTrainer: a file, a DataFrame, a Dataset or
    a list of dicts, with the text and its label in the columns `text` and `label`; the classes are then those of gold.
    Without FriendTrainer it needs `labels` (of gold: `label_names`).
    """

    def __init__(
        self,
        name: str,
        *,
        encoder: str | Path,
        labels: Sequence[str] | None = None,
        text: str = "text",
        label: str = "label",
        id: str | None = None,
        gold: Any = None,
        dev: Any = None,
        test: Any = None,
        metric: ClassMetric = "accuracy",
        max_length: int = 128,
        settings: TrainingSettings = SETTINGS,
        device: str = AUTO,
    ) -> None:
        self.examples = GivenExamples(gold, dev, test, {"text": text, "label": label}, id)
        self.most_tokens = max_length
        definition = TextClassificationDefinition(
            encoder=encoder, name=name, labels=labels, metric=metric, max_length=max_length
        )
        super().__init__(definition, encoder=encoder, settings=settings, device=device)


def label_names(examples: Iterable[tuple[Text, str]]) -> tuple[str, ...]:
    """The labels of gold, sorted."""
    return tuple(sorted({label for _, label in examples}))
