"""The network of text classification: transformers' own AutoModelForSequenceClassification around our encoder."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING, AutoModelForSequenceClassification

from friend_training.nn.heads import Head
from friend_training.tasks.auto_classifier import ClassifierKind


@dataclass(frozen=True, slots=True)
class TextItem:
    """A text that was cut into tokens, with the number of its class where it is known."""

    id: str
    tokens: NDArray[np.int64]
    label: int | None
    weight: float

    @property
    def length(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True, slots=True)
class TextBatch:
    """B texts of up to M tokens."""

    ids: Tensor  # [B, M]
    mask: Tensor  # [B, M]
    targets: tuple[Tensor, ...]  # [B, 1]; 0 where nothing is known
    weights: Tensor  # [B]
    items: tuple[TextItem, ...]


def _tokens_of(batch: TextBatch) -> tuple[Tensor, Tensor]:
    return batch.ids, batch.mask


def _heads_of(logits: Tensor, batch: TextBatch) -> tuple[Head, ...]:
    return (Head(logits.unsqueeze(1), torch.ones_like(batch.targets[0], dtype=torch.bool)),)


TEXTS = ClassifierKind(
    auto_model=AutoModelForSequenceClassification,
    architectures=MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    tokens_of=_tokens_of,
    heads_of=_heads_of,
    problem="single_label_classification",
)
