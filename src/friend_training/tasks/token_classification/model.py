"""The network of token classification: transformers' own AutoModelForTokenClassification around our encoder."""

from torch import Tensor
from transformers import MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING, AutoModelForTokenClassification

from friend_training.nn.heads import Head
from friend_training.nn.word_input import SentenceBatch, TokenInput
from friend_training.tasks.auto_classifier import ClassifierKind


def _tokens_of(batch: SentenceBatch) -> tuple[Tensor, Tensor]:
    assert isinstance(batch.input, TokenInput)
    return batch.input.ids, batch.input.mask


def _heads_of(logits: Tensor, batch: SentenceBatch) -> tuple[Head, ...]:
    """A word's tag is that of its first token."""
    assert isinstance(batch.input, TokenInput)
    of_words = logits.gather(1, batch.input.first.unsqueeze(2).expand(-1, -1, logits.size(2)))  # [B, N, C]
    return (Head(of_words, batch.mask),)


TOKENS = ClassifierKind(
    auto_model=AutoModelForTokenClassification,
    architectures=MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING,
    tokens_of=_tokens_of,
    heads_of=_heads_of,
)
