"""The network of text classification: transformers' own AutoModelForSequenceClassification around our encoder."""

from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING, AutoModel, AutoModelForSequenceClassification

from friend_training.errors import ConfigError
from friend_training.nn.encoder import Encoder, computing
from friend_training.nn.heads import Head
from friend_training.nn.pretrained import read_config
from friend_training.types import Text


@dataclass(frozen=True, slots=True)
class TextItem:
    """A text that was cut into tokens, with the number of its class where it is known."""

    text: Text
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


class TextClassifier(nn.Module):
    """The encoder below the classifier that transformers puts on that architecture.

    The names of its weights are those of transformers, so that others can load them. Several networks may share one
    encoder, and then its pooler too.
    """

    def __init__(self, encoder: Encoder, classes: int, *, pretrained: str | Path) -> None:
        super().__init__()
        config: Any = deepcopy(encoder.model.config)
        if type(config) not in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING:
            raise ConfigError(f"encoder {pretrained} is a {config.model_type!r}: transformers has no classifier for it")
        config.num_labels = classes
        whole: Any = AutoModelForSequenceClassification.from_config(config, trust_remote_code=False)  # type: ignore[no-untyped-call]
        below: str = whole.base_model_prefix
        _give_pooler(encoder.model, getattr(whole, below), pretrained)
        # The encoder is a module of this network; the classifier knows it, but does not count it as a part.
        del whole._modules[below]
        whole.__dict__[below] = encoder.model
        self.encoder, self.classifier, self.below = encoder, whole, below
        self.register_state_dict_post_hook(_to_names_of_transformers)  # type: ignore[no-untyped-call]
        self.register_load_state_dict_pre_hook(_from_names_of_transformers)  # type: ignore[no-untyped-call]

    def forward(self, batch: TextBatch) -> tuple[Head, ...]:
        more = {"token_type_ids": torch.zeros_like(batch.ids)} if self.encoder.takes_types else {}
        with computing(self.encoder.precision, batch.ids.device.type):
            logits = self.classifier(input_ids=batch.ids, attention_mask=batch.mask, **more).logits
        return (Head(logits.float().unsqueeze(1), torch.ones_like(batch.targets[0], dtype=torch.bool)),)


def describe_classifier(folder: Path, labels: tuple[str, ...]) -> None:
    """Say in a saved encoder's config that it is a classifier, and of what: `transformers.pipeline` looks there."""
    config = read_config(folder)
    architecture: Any = MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING[type(config)]
    config.architectures = [architecture.__name__]
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: number for number, label in enumerate(labels)}
    config.problem_type = "single_label_classification"
    config.save_pretrained(str(folder))


def _give_pooler(model: Any, wanted: Any, pretrained: str | Path) -> None:
    """Our encoders are read without their pooler; a classifier that needs it gets the pre-trained one."""
    missing = [name for name, part in wanted.named_children() if getattr(model, name, None) is None]
    if missing:
        read: Any = AutoModel.from_pretrained(str(pretrained), dtype=torch.float32, trust_remote_code=False)
        for name in missing:
            setattr(model, name, getattr(read, name))


ENCODER, CLASSIFIER = "encoder.model.", "classifier."


def _to_names_of_transformers(network: Any, state: dict[str, Any], prefix: str, metadata: Any) -> None:
    for name in [name for name in state if name.startswith(prefix)]:
        own = name.removeprefix(prefix)
        if own.startswith(ENCODER):
            state[f"{prefix}{network.below}.{own.removeprefix(ENCODER)}"] = state.pop(name)
        else:
            state[prefix + own.removeprefix(CLASSIFIER)] = state.pop(name)


def _from_names_of_transformers(network: Any, state: dict[str, Any], prefix: str, *how: Any) -> None:
    below = f"{network.below}."
    for name in [name for name in state if name.startswith(prefix)]:
        own = name.removeprefix(prefix)
        ours = ENCODER + own.removeprefix(below) if own.startswith(below) else CLASSIFIER + own
        state[prefix + ours] = state.pop(name)
