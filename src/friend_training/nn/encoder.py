"""The encoder under a task: pre-trained from a folder or hub name, or a small transformer made from its shape."""

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, RoFormerConfig, RoFormerModel

from friend_training.errors import ConfigError
from friend_training.nn.precision import Precision, computing, prepare
from friend_training.nn.tokens import Tokenizer, explaining_damage, write_character_vocabulary

FAMILIES = ("bert", "roberta", "electra", "ernie", "roformer")


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """A small transformer to be trained from scratch, with rotary positions (RoFormer, Su et al. 2021).

    A few hundred labels cannot teach absolute positions what "nearest before" means: on the embedded dialogues the same
    shape as a BERT reaches 51 F1 and 35 EM on dev where this one reaches 68 and 50 (docs/results.md).
    """

    layers: int = 2
    width: int = 128
    heads: int = 4
    dropout: float = 0.1

    def __post_init__(self) -> None:
        # Rotary positions turn the numbers of a head in pairs.
        if self.width % (2 * self.heads):
            raise ConfigError(f"{self.heads} heads cannot share a width of {self.width}: each needs an even part of it")


class Encoder(nn.Module):
    """E = BERT(x_1 … x_M): pieces in, vectors out (section 4.1). The width is `self.width`."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        config = model.config
        self.width: int = config.hidden_size  # type: ignore[union-attr, assignment]
        self.types: int = getattr(config, "type_vocab_size", 0)
        self.precision: Precision = "fp32"
        # A batch touches a few hundred of many thousand rows: the others get neither gradient nor optimizer state.
        self.words.sparse = True

    @property
    def words(self) -> nn.Embedding:
        words: nn.Embedding = self.model.get_input_embeddings()  # type: ignore[operator]
        return words

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor, added: Tensor | None = None) -> Tensor:
        """[B, M] → [B, M, H]; `added` [B, M, E] is put on top of the word embeddings."""
        vectors = self.words(ids)
        if added is not None:
            vectors = vectors + added
        types = types if self.types > 1 else torch.zeros_like(types)
        with computing(self.precision, vectors.device.type):
            encoded = self.model(inputs_embeds=vectors, token_type_ids=types, attention_mask=mask)
        hidden: Tensor = encoded.last_hidden_state.float()
        return hidden

    def save_shape(self, folder: Path) -> None:
        """All that is needed to make this encoder again, but for its weights and tokenizer."""
        self.model.config.save_pretrained(str(folder))  # type: ignore[union-attr, operator]


def compute_in(precision: Precision, network: nn.Module) -> nn.Module:
    """The same network, whose encoders compute in that precision from now on."""
    for part in network.modules():
        if isinstance(part, Encoder):
            part.precision = precision
            prepare(part.model, precision)
    return network


def load_encoder(source: str | Path) -> Encoder:
    """Weights from a local folder or a hub name, through transformers."""
    with explaining_damage(f"encoder {source}: its config"):
        config = AutoConfig.from_pretrained(str(source), trust_remote_code=False)
    if config.model_type not in FAMILIES:
        raise ConfigError(f"encoder {source} is a {config.model_type!r}; known are {', '.join(FAMILIES)}")
    # Dropout inside attention keeps torch from its fused kernel and costs a fifth of a training step here.
    config.attention_probs_dropout_prob = 0.0
    extra = {"add_pooling_layer": False} if config.model_type in ("bert", "roberta", "ernie") else {}
    with explaining_damage(f"encoder {source}: its weights"):
        loaded = AutoModel.from_pretrained(
            str(source), config=config, dtype=torch.float32, trust_remote_code=False, **extra
        )
    return Encoder(loaded)


def empty_encoder(folder: Path) -> Encoder:
    """The architecture that a task folder describes, without its weights (they come from the task's own file)."""
    config = AutoConfig.from_pretrained(str(folder), trust_remote_code=False)
    extra = {"add_pooling_layer": False} if config.model_type in ("bert", "roberta", "ernie") else {}
    return Encoder(AutoModel.from_config(config, trust_remote_code=False, **extra))  # type: ignore[no-untyped-call]


def make_encoder(folder: Path, texts: list[str], shape: EncoderShape, *, seed: int) -> Tokenizer:
    """Write a small untrained encoder and its character vocabulary into `folder`, in transformers' own format."""
    write_character_vocabulary(folder, texts)
    tokenizer = Tokenizer.load(folder)
    torch.manual_seed(seed)
    model = RoFormerModel(  # type: ignore[no-untyped-call]
        RoFormerConfig(
            vocab_size=len(tokenizer.backend),
            embedding_size=shape.width,
            hidden_size=shape.width,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads,
            intermediate_size=4 * shape.width,
            max_position_embeddings=512,
            hidden_dropout_prob=shape.dropout,
            attention_probs_dropout_prob=shape.dropout,
            pad_token_id=tokenizer.pad_id,
            rotary_value=False,
        )
    )
    model.save_pretrained(str(folder))
    tokenizer.save(folder)
    return tokenizer
