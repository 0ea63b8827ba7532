"""The encoder under a task: pre-trained from a folder or hub name, or a small transformer made from its shape.

`open_encoder` opens either kind, a transformer over tokens or a BiLSTM over words (word_encoder.py). On processors
dropout is our own, and the encoder can compute in bf16.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, RoFormerConfig, RoFormerModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from friend_training.errors import ConfigError
from friend_training.nn.devices import PROCESSOR
from friend_training.nn.pretrained import empty_model, read_config, read_model, read_tokenizer
from friend_training.nn.tokenizer import Tokenizer, write_character_vocabulary
from friend_training.nn.word_encoder import WordEncoder, empty_word_encoder, is_word_encoder, load_word_encoder

# Dropout that draws one byte per element. Torch's draws a whole number for each: 5 to 10 % of a training step here.
#
# That is so on processors; on any other device torch's own is used.


LEVELS = 256


_of_this_thread_dropout = threading.local()


@contextmanager
def drawing_from(generator: Generator) -> Iterator[None]:
    """In this thread dropout draws from that generator: threads that shared one would take turns by chance."""
    _of_this_thread_dropout.generator = generator
    try:
        yield
    finally:
        del _of_this_thread_dropout.generator


class ByteDropout(nn.Module):
    """`nn.Dropout` with p rounded to a multiple of 1/256 (0.1 becomes 26/256), scaled by the share that really stays.

    The bytes come from torch's own generator, so its seed decides, as everywhere; or from one of `drawing_from`. On any
    other device than the processor it is `nn.Dropout`.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.given = p
        self.dropped = round(p * LEVELS)
        self.p = self.dropped / LEVELS  # attention of transformers reads it off its dropout

    def forward(self, values: Tensor) -> Tensor:
        if not self.training or self.dropped == 0:
            return values
        if values.device != PROCESSOR:
            return F.dropout(values, self.given)
        generator: Generator | None = getattr(_of_this_thread_dropout, "generator", None)
        words = torch.empty(-(-values.numel() // 8), dtype=torch.int64, device=PROCESSOR)
        words.random_(-(2**63), None, generator=generator)
        levels = words.view(torch.int8)[: values.numel()].view(values.shape)  # -128 to 127, all equally likely
        keep = torch.empty_like(values, requires_grad=False)
        torch.ge(levels, self.dropped - LEVELS // 2, out=keep)  # 0 or 1 at once: by way of bool it is ten times slower
        return values * keep.mul_(1 / (1 - self.p))

    def extra_repr(self) -> str:
        return f"p={self.p:.4f}"


def with_byte_dropout(module: nn.Module) -> nn.Module:
    """The same module with each `nn.Dropout` in it replaced."""
    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Dropout):
                setattr(parent, name, ByteDropout(child.p))
    return module


# Encoders that compute in bf16: weights, gradients, heads and losses stay fp32, only the encoder's products do not.
#
# A processor with instructions for bf16 multiplies over twice as fast in it; one without them is slower than in fp32.
# Attention itself stays in fp32 there: torch's fused kernel for processors goes backward three times slower in bf16. A
# graphics card has fast kernels for bf16 alone.


Precision = Literal["fp32", "bf16"]


ATTENTION = "sdpa_in_fp32"


def _attend_in_fp32(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **how: Any
) -> tuple[Tensor, None]:
    if query.device.type != "cpu":
        return sdpa_attention_forward(module, query, key, value, attention_mask, **how)
    with torch.autocast(query.device.type, enabled=False):
        mixed, _ = sdpa_attention_forward(module, query.float(), key.float(), value.float(), attention_mask, **how)
    return mixed.to(query.dtype), None


AttentionInterface.register(ATTENTION, _attend_in_fp32)

AttentionMaskInterface.register(ATTENTION, sdpa_mask)


def prepare(model: Any, precision: Precision) -> None:
    """Choose the attention of a transformers model; those with one of their own (RoFormer) keep it."""
    if model.config._attn_implementation in ("sdpa", ATTENTION):
        model.config._attn_implementation = ATTENTION if precision == "bf16" else "sdpa"


def computing(precision: Precision, device: str) -> AbstractContextManager[Any]:
    """Inside it, products are computed in that precision."""
    return torch.autocast(device, torch.bfloat16, enabled=precision == "bf16")


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """A small transformer to be trained from scratch, with rotary positions (RoFormer, Su et al. 2021).

    A few hundred labels cannot teach absolute positions what "nearest before" means: on the synthetic dialogues the
    same shape as a BERT reaches 51 F1 and 35 EM on dev where this one reaches 68 and 50 (docs/results.md).
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
    """E = BERT(x_1 … x_M): tokens in, vectors out (section 4.1). The width is `self.width`.

    Any encoder of transformers will do: it is given what its own `forward` takes, and nothing else is required of it.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        config: Any = model.config
        self.width: int = config.hidden_size
        # One segment is what a model assumes by itself.
        several_types = getattr(config, "type_vocab_size", 0) > 1
        self.takes_types = several_types and "token_type_ids" in signature(model.forward).parameters
        self.precision: Precision = "fp32"
        # A batch touches a few hundred of many thousand rows: the others get neither gradient nor optimizer state.
        self.words.sparse = _can_be_sparse(self.words, model)
        self.words.register_forward_hook(_add_mark)

    @property
    def words(self) -> nn.Embedding:
        words: nn.Embedding = self.model.get_input_embeddings()  # type: ignore[operator]
        return words

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor, added: Tensor | None = None) -> Tensor:
        """[B, M] → [B, M, H]; `added` [B, M, E] is put on top of the word embeddings."""
        more = {"token_type_ids": types} if self.takes_types else {}
        with computing(self.precision, ids.device.type), _marking(added):
            encoded = self.model(input_ids=ids, attention_mask=mask, **more)
        hidden: Tensor = encoded.last_hidden_state.float()
        return hidden

    def save_shape(self, folder: Path) -> None:
        """All that is needed to make this encoder again, but for its weights and tokenizer."""
        self.model.config.save_pretrained(str(folder))  # type: ignore[union-attr, operator]


_of_this_thread = threading.local()


@contextmanager
def _marking(added: Tensor | None) -> Iterator[None]:
    """In this thread, the next word embeddings that are looked up have `added` on top.

    Embeddings could be given to most models in place of tokens (`inputs_embeds`), but not to all, and some then leave
    out a part of what they do with tokens.
    """
    _of_this_thread.added = added
    try:
        yield
        if _of_this_thread.added is not None:
            raise ConfigError("predicate_mark 'input': this encoder does not look up its word embeddings; use 'after'")
    finally:
        _of_this_thread.added = None


def _add_mark(table: nn.Module, ids: Any, vectors: Any) -> Any:
    added: Tensor | None = getattr(_of_this_thread, "added", None)
    _of_this_thread.added = None
    return vectors if added is None else vectors + added


def _can_be_sparse(table: nn.Embedding, model: nn.Module) -> bool:
    """Whether all gradients of this table come from looking up rows: not where it is used for anything else too."""
    users = [part for part in model.modules() if any(w is table.weight for w in part.parameters(recurse=False))]
    return type(table) is nn.Embedding and not table.scale_grad_by_freq and users == [table]


def compute_in(precision: Precision, network: nn.Module) -> nn.Module:
    """The same network, whose encoders compute in that precision from now on."""
    for part in network.modules():
        if isinstance(part, Encoder):
            part.precision = precision
            prepare(part.model, precision)
    return network


def load_encoder(source: str | Path) -> Encoder:
    """Weights from a local folder or a hub name, through transformers."""
    return Encoder(read_model(source))


def empty_encoder(folder: Path) -> Encoder:
    """The architecture that a task folder describes, without its weights (they come from the task's own file)."""
    return Encoder(empty_model(read_config(folder)))


def make_encoder(folder: Path, texts: list[str], shape: EncoderShape, *, seed: int) -> Tokenizer:
    """Write a small untrained encoder and its character vocabulary into `folder`, in transformers' own format."""
    write_character_vocabulary(folder, texts)
    tokenizer = Tokenizer(read_tokenizer(folder))
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
    return Tokenizer.load(folder)


AnyEncoder = Encoder | WordEncoder


def open_encoder(source: str | Path) -> AnyEncoder:
    """The encoder that training starts from, with its weights: a local folder, or a hub name."""
    return load_word_encoder(Path(source)) if is_word_encoder(source) else load_encoder(source)


def shaped_encoder(folder: Path) -> AnyEncoder:
    """The encoder that a task's folder describes, without its weights (they come from the task's own file)."""
    return empty_word_encoder(folder) if is_word_encoder(folder) else empty_encoder(folder)
