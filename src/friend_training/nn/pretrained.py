"""What transformers finds for an encoder's folder or hub name: config, tokenizer, model; or one sentence why not."""

import os
import socket
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import torch
from huggingface_hub import constants, try_to_load_from_cache
from huggingface_hub.errors import HFValidationError
from torch import nn
from transformers import MODEL_MAPPING, AutoConfig, AutoModel, AutoTokenizer

from friend_training.errors import ConfigError

ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout", "attn_pdrop")
"""What configs call the dropout inside attention."""

FEWEST_POSITIONS = 8
"""An encoder that takes fewer tokens than that has no room for a dialogue."""

NO_LIMIT = 10**9
"""Tokenizers that were told no `model_max_length` give 10^30."""

T = TypeVar("T")


def read_config(source: str | Path) -> Any:
    return _opened(source, "config.json", lambda: AutoConfig.from_pretrained(str(source), trust_remote_code=False))


def read_tokenizer(source: str | Path) -> Any:
    """The fast tokenizer of that encoder: others do not tell which characters a token stands for."""
    backend = _opened(source, "tokenizer", lambda: AutoTokenizer.from_pretrained(str(source), trust_remote_code=False))
    if not backend.is_fast:
        raise ConfigError(f"encoder {source}: its tokenizer has no character offsets; a fast tokenizer is needed")
    # Some are published with the padding and cutting of their makers' own program: a text would not be its tokens.
    backend.backend_tokenizer.no_padding()
    backend.backend_tokenizer.no_truncation()
    return backend


def read_model(source: str | Path) -> nn.Module:
    """The encoder with its weights, ready to be trained."""
    config = read_config(source)
    for name in ATTENTION_DROPOUT:
        if hasattr(config, name):
            # Dropout inside attention keeps torch from its fused kernel and costs a fifth of a training step here.
            setattr(config, name, 0.0)
    extra = _without_pooler(config)
    model: nn.Module = _opened(
        source,
        "weights",
        lambda: AutoModel.from_pretrained(
            str(source), config=config, dtype=torch.float32, trust_remote_code=False, **extra
        ),
    )
    _check_encoder(source, model)
    return model


def empty_model(config: Any) -> nn.Module:
    """The architecture that a config describes, without its weights."""
    model: nn.Module = AutoModel.from_config(  # type: ignore[no-untyped-call]
        config, trust_remote_code=False, **_without_pooler(config)
    )
    return model


def longest_input(source: str | Path, config: Any, tokenizer: Any) -> int | None:
    """So many tokens that encoder takes at most; None where it has no table of positions and its makers name no limit.

    Tables are searched in the architecture itself: RoBERTa and its relatives count from behind the padding token, so
    two rows of theirs are never used, and a config does not say so.
    """
    with torch.device("meta"):  # shapes only
        model = empty_model(config)
    tables = [
        part
        for name, part in model.named_modules()
        if isinstance(part, nn.Embedding) and _is_of_positions(name.rpartition(".")[2])
    ]
    limits = [table.num_embeddings - (0 if table.padding_idx is None else table.padding_idx + 1) for table in tables]
    if tables and (named := getattr(config, "max_position_embeddings", None)):
        limits.append(named)
    if tokenizer.model_max_length < NO_LIMIT:
        limits.append(tokenizer.model_max_length)
    if limits and min(limits) < FEWEST_POSITIONS:
        raise ConfigError(f"encoder {source} takes {min(limits)} tokens; at least {FEWEST_POSITIONS} are needed")
    return min(limits, default=None)


def _is_of_positions(name: str) -> bool:
    """Whether a table of this name is indexed by the place in the input; those of distances have other names."""
    return "position" in name or name == "wpe"


def _without_pooler(config: Any) -> dict[str, bool]:
    """A pooler is never used here; most architectures can be made without it."""
    architecture: Any = MODEL_MAPPING.get(type(config), None)  # several for some
    can = isinstance(architecture, type) and "add_pooling_layer" in signature(architecture).parameters
    return {"add_pooling_layer": False} if can else {}


def _check_encoder(source: str | Path, model: Any) -> None:
    kind = model.config.model_type
    if model.config.is_encoder_decoder:
        raise ConfigError(f"encoder {source} is a {kind!r}, which has a decoder too; expected an encoder alone")
    missing = {"input_ids", "attention_mask"} - set(signature(model.forward).parameters)
    if missing:
        raise ConfigError(f"encoder {source} is a {kind!r}, which takes no {' and no '.join(sorted(missing))}")


def _opened(source: str | Path, part: str, read: Callable[[], T]) -> T:
    if not Path(source).is_dir() and not _is_downloaded(str(source)) and not _hub_answers():
        raise ConfigError(f"{_not_found(source)}; and the hub cannot be reached from here")
    try:
        return read()
    except Exception as error:  # the libraries under transformers tell of damage in exceptions of any type
        if not Path(source).is_dir():
            raise ConfigError(f"{_not_found(source)} or on the hub") from error
        reason = " ".join(str(error).split())[:300]
        raise ConfigError(f"encoder {source}: its {part} cannot be read ({reason})") from error


def _not_found(source: str | Path) -> str:
    return (
        f"encoder {str(source)!r} was not found: there is no such folder, neither as given nor below"
        " FRIEND_TRAINING_MODELS, and no such name among the models that were downloaded before"
    )


def _is_downloaded(source: str) -> bool:
    try:
        return isinstance(try_to_load_from_cache(source, "config.json"), str)
    except HFValidationError:  # a path that is no name of the hub
        return False


_PATIENCE = 5.0
_PROXIES = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")


def _hub_answers() -> bool:
    """Whether the hub can be reached: its library would try for half a minute before it says no."""
    if any(os.environ.get(name) for name in _PROXIES):
        return True
    hub = urlsplit(constants.ENDPOINT)
    try:
        socket.create_connection((hub.hostname or "", hub.port or 443), timeout=_PATIENCE).close()
    except OSError:
        return False
    return True
