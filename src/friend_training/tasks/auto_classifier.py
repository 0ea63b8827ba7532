"""transformers' own classifiers of texts and of tokens around our encoder: the network of both classification tasks."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModel

from friend_training.errors import ConfigError
from friend_training.nn.encoder import Encoder, computing
from friend_training.nn.heads import Head
from friend_training.nn.pretrained import read_config


@dataclass(frozen=True, slots=True)
class ClassifierKind:
    """A kind of classifier that transformers knows: its AutoModelFor… class and the table of its architectures.

    `tokens_of` gives the tokens of a batch and their mask, `heads_of` makes heads of the logits of a batch.
    """

    auto_model: Any
    architectures: Any
    tokens_of: Callable[[Any], tuple[Tensor, Tensor]]
    heads_of: Callable[[Tensor, Any], tuple[Head, ...]]
    problem: str | None = None


class AutoClassifier(nn.Module):
    """The encoder below the classifier that transformers puts on that architecture.

    The names of its weights are those of transformers, so that others can load them. Several networks may share one
    encoder, and then its pooler too.
    """

    def __init__(self, kind: ClassifierKind, encoder: Encoder, classes: int, *, pretrained: str | Path) -> None:
        super().__init__()
        config: Any = deepcopy(encoder.model.config)
        if type(config) not in kind.architectures:
            raise ConfigError(f"encoder {pretrained} is a {config.model_type!r}: transformers has no classifier for it")
        config.num_labels = classes
        whole: Any = kind.auto_model.from_config(config, trust_remote_code=False)
        below: str = whole.base_model_prefix
        _give_pooler(encoder.model, getattr(whole, below), pretrained)
        # The encoder is a module of this network; the classifier knows it, but does not count it as a part.
        del whole._modules[below]
        whole.__dict__[below] = encoder.model
        self.kind, self.encoder, self.classifier, self.below = kind, encoder, whole, below
        self.register_state_dict_post_hook(_to_names_of_transformers)  # type: ignore[no-untyped-call]
        self.register_load_state_dict_pre_hook(_from_names_of_transformers)  # type: ignore[no-untyped-call]

    def forward(self, batch: Any) -> tuple[Head, ...]:
        ids, mask = self.kind.tokens_of(batch)
        more = {"token_type_ids": torch.zeros_like(ids)} if self.encoder.takes_types else {}
        with computing(self.encoder.precision, ids.device.type):
            logits = self.classifier(input_ids=ids, attention_mask=mask, **more).logits
        return self.kind.heads_of(logits.float(), batch)


def describe_classifier(kind: ClassifierKind, folder: Path, labels: tuple[str, ...]) -> None:
    """Say in a saved encoder's config that it is a classifier, and of what: `transformers.pipeline` looks there."""
    config = read_config(folder)
    config.architectures = [kind.architectures[type(config)].__name__]
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: number for number, label in enumerate(labels)}
    config.problem_type = kind.problem
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
