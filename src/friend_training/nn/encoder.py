"""The encoder under a task: pre-trained from a folder or hub name, or a small one made from its shape.

`open_encoder` opens either kind, a transformer over tokens or a BiLSTM over words. On processors dropout is our own,
and the encoder can compute in bf16.

The encoder of words is trained from scratch: word and affix vectors, then a BiLSTM over the sentence. For a few hundred
labelled sentences it is the better bet than a transformer: it need not learn what order is. The vocabulary is fixed
before training; affixes tell something of words that are not in it.

Encoders made from scratch are pre-trained so that characters, or words, that occur alike begin with like vectors.
A masked language model needs thousands of steps before it learns more than frequencies (on the synthetic dialogues:
6.0 nats after 300 steps, those of the unigram model). The classical way takes two seconds: positive pointwise mutual
information of each character with its neighbours at the distances 1 to 3 on either side, cut down by a singular value
decomposition (Levy & Goldberg 2014). Surnames meet surnames and verbs meet verbs; attention is left to the labels.
"""

import json
import os
import re
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field
from inspect import signature
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Generator, Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers import AttentionInterface, AttentionMaskInterface, AutoModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from friend_training.errors import ConfigError, DataError, RunError
from friend_training.nn.devices import PROCESSOR
from friend_training.nn.pretrained import empty_model, read_config, read_model, read_tokenizer
from friend_training.nn.tokenizer import Tokenizer, write_character_vocabulary

if TYPE_CHECKING:
    import scipy.sparse as sp

VOCABULARY = "words.json"

PADDING, UNKNOWN = 0, 1
"""The first two rows of the word table; the vocabulary begins behind them."""


BUCKETS = 8192
"""Rows of the affix table. Affixes are hashed into them: nothing to be saved, and no affix is unknown."""


AFFIXES = 8
"""How many affixes each word has."""


_DIGIT = re.compile(r"\d")


def form(word: str) -> str:
    """Words that differ in case or digits only share a vector; their affixes still tell them apart."""
    return _DIGIT.sub("0", word).lower()


def affixes(word: str) -> tuple[str, ...]:
    """Endings and beginnings of up to four and three characters, and the shape: Xx, 0.0, x-x, …"""
    shape = "".join(kind for kind, _ in groupby(map(_kind, word)))
    lower = form(word)
    endings = (f"-{length}{lower[-length:]}" for length in (1, 2, 3, 4))
    beginnings = (f"{length}-{lower[:length]}" for length in (1, 2, 3))
    return (*endings, *beginnings, f"={shape[:8]}")


def _kind(character: str) -> str:
    if character.isalpha():
        return "X" if character.isupper() else "x"
    return "0" if character.isdigit() else character


@dataclass
class WordVocabulary:
    """The forms that have a vector of their own. Each distinct word is read once and then remembered."""

    forms: tuple[str, ...]
    numbers: dict[str, int] = field(init=False, repr=False)
    memory: dict[str, tuple[int, ...]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.numbers = {known: number for number, known in enumerate(self.forms, start=UNKNOWN + 1)}

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> "WordVocabulary":
        """All forms of raw text, sorted: the same text in another order gives the same vocabulary."""
        return cls(tuple(sorted({form(word) for words in sentences for word in words})))

    @classmethod
    def load(cls, folder: Path) -> "WordVocabulary":
        return cls(tuple(json.loads((folder / VOCABULARY).read_text(encoding="utf-8"))))

    def __len__(self) -> int:
        return len(self.forms) + UNKNOWN + 1

    def __call__(self, word: str) -> tuple[int, ...]:
        """The word's number, then the buckets of its affixes."""
        known = self.memory.get(word)
        if known is None:
            buckets = (zlib.crc32(affix.encode()) % BUCKETS for affix in affixes(word))
            known = self.memory[word] = (self.numbers.get(form(word), UNKNOWN), *buckets)
        return known

    def save(self, folder: Path) -> None:
        (folder / VOCABULARY).write_text(json.dumps(self.forms, ensure_ascii=False) + "\n", encoding="utf-8")

    def check(self, folder: Path) -> None:
        """Weights that were trained with other words would be read as if they were these."""
        if WordVocabulary.load(folder).forms != self.forms:
            raise RunError(f"{folder} was saved with another vocabulary than that of this task's encoder")


SHAPE, WEIGHTS = "word_encoder.json", "word_encoder.safetensors"


@dataclass(frozen=True, slots=True)
class WordEncoderShape:
    """`word` and `affix` are the widths of their vectors, `width` that of each direction of the BiLSTM.

    `forget` is the share of words that training sees as unknown ones, so that it learns to do without.
    """

    word: int = 100
    affix: int = 50
    width: int = 128
    layers: int = 2
    dropout: float = 0.33
    forget: float = 0.2


class WordEncoder(nn.Module):
    """Words in, vectors out; their width is `self.width`, its first half has read the sentence from the left."""

    def __init__(self, shape: WordEncoderShape, vocabulary: int) -> None:
        super().__init__()
        self.shape, self.vocabulary = shape, vocabulary
        self.width = 2 * shape.width
        # A batch touches few rows: the others get neither gradient nor optimizer state.
        self.words = nn.Embedding(vocabulary, shape.word, padding_idx=PADDING, sparse=True)
        self.affixes = nn.EmbeddingBag(BUCKETS, shape.affix, mode="sum", sparse=True)
        nn.init.zeros_(self.words.weight)  # what is never met adds nothing
        nn.init.zeros_(self.affixes.weight)
        self.dropout = nn.Dropout(shape.dropout)
        self.lstm = nn.LSTM(
            shape.word + shape.affix,
            shape.width,
            shape.layers,
            batch_first=True,
            bidirectional=True,
            dropout=shape.dropout if shape.layers > 1 else 0.0,
        )

    def forward(self, ids: Tensor, affixes: Tensor, lengths: Sequence[int]) -> Tensor:
        """[B, N], [B, N, AFFIXES], B lengths → [B, N, H]; nothing but zeros behind a sentence's end."""
        if self.training and self.shape.forget:
            ids = ids.masked_fill(torch.rand(ids.shape, device=ids.device) < self.shape.forget, UNKNOWN)
        spelt = self.affixes(affixes.flatten(0, 1)).view(*ids.shape, -1)
        vectors = self.dropout(torch.cat([self.words(ids), spelt], dim=2))
        counts = torch.tensor(lengths, device=PROCESSOR)  # where packing reads them
        packed = pack_padded_sequence(vectors, counts, batch_first=True, enforce_sorted=False)
        hidden, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=ids.size(1))
        out: Tensor = self.dropout(hidden)
        return out

    def save_shape(self, folder: Path) -> None:
        """All that is needed to make this encoder again, but for its weights and words."""
        described = asdict(self.shape) | {"vocabulary": self.vocabulary}
        (folder / SHAPE).write_text(json.dumps(described, indent=2) + "\n")


def is_word_encoder(source: str | Path) -> bool:
    return (Path(source) / SHAPE).is_file()


def empty_word_encoder(folder: Path) -> WordEncoder:
    """The encoder that a folder describes, without its weights."""
    described = json.loads((folder / SHAPE).read_text())
    vocabulary = described.pop("vocabulary")
    return WordEncoder(WordEncoderShape(**described), vocabulary)


def load_word_encoder(folder: Path) -> WordEncoder:
    if not (folder / WEIGHTS).is_file():
        raise ConfigError(f"encoder {folder} has no {WEIGHTS}: a task's folder is not one to start from")
    encoder = empty_word_encoder(folder)
    encoder.load_state_dict(load_file(folder / WEIGHTS))
    return encoder


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


for _cache in ("LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"):
    # In bf16 torch keeps a compiled product for each of the last 1,024 shapes, and hardly two batches have the same:
    # gigabytes, and a heap in pieces. The shapes of a step are some dozen. Read when the first product is computed.
    os.environ.setdefault(_cache, "64")


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
    from transformers import RoFormerConfig, RoFormerModel

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


DISTANCES = (1, 2, 3)

CONTEXT_SMOOTHING = 0.75
"""The usual damping of context frequencies: rare neighbours are not worth more than common ones."""


def pretrain_encoder(folder: str | Path, texts: Sequence[str], shape: EncoderShape, *, seed: int) -> None:
    """Write a small encoder into `folder` whose word embeddings know the company that characters keep in `texts`."""
    folder = Path(folder)
    tokenizer = make_encoder(folder, list(texts), shape, seed=seed)
    vectors, known = neighbour_vectors(texts, tokenizer, shape.width, seed=seed)
    model = AutoModel.from_pretrained(str(folder), trust_remote_code=False)
    with torch.no_grad():
        words = model.get_input_embeddings().weight
        # As long as the vectors they replace: what is added to them (turns, predicates) must not drown.
        words[torch.from_numpy(known)] = torch.from_numpy(vectors[known]) * words.norm(dim=1).mean()
    model.save_pretrained(str(folder))


def neighbour_vectors(
    texts: Sequence[str], tokenizer: Tokenizer, width: int, *, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Unit vectors [vocabulary, width] of all tokens, and which of them have neighbours at all."""
    tokenizer.remember(texts)
    return line_vectors([tokenizer.ids(text) for text in texts], len(tokenizer.backend), width, seed=seed)


def line_vectors(
    lines: Sequence[Sequence[int]], size: int, width: int, *, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """The same for lines of numbers below `size`, be they tokens or words."""
    import scipy.sparse as sp
    from scipy.sparse.linalg import svds

    gap = (-1,) * max(DISTANCES)  # no neighbours across lines
    line = np.array([number for numbers in lines for number in (*numbers, *gap)])
    tables = []
    for distance in DISTANCES:
        left, right = line[:-distance], line[distance:]
        real = (left >= 0) & (right >= 0)
        counts = sp.coo_matrix((np.ones(int(real.sum())), (left[real], right[real])), shape=(size, size)).tocsr()
        tables += [_positive_information(counts), _positive_information(counts.T)]
    table = sp.hstack(tables).tocsr()
    rank = min(width, size - 1)
    vectors, strengths, _ = svds(table, k=rank, rng=np.random.default_rng(seed))
    scaled = np.zeros((size, width), dtype=np.float32)
    scaled[:, :rank] = vectors * np.sqrt(strengths)
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    return scaled / np.maximum(length, 1e-6), length[:, 0] > 1e-6


def _positive_information(counts: "sp.csr_matrix") -> "sp.csr_matrix":
    """max(0, log p(a, b) / (p(a) p(b))) of every pair that occurs."""
    import scipy.sparse as sp

    pairs = counts.tocoo()
    total = pairs.sum()
    rows = np.asarray(pairs.sum(axis=1)).ravel()
    columns = np.asarray(pairs.sum(axis=0)).ravel() ** CONTEXT_SMOOTHING
    columns *= total / columns.sum()
    information = np.log(pairs.data * total / (rows[pairs.row] * columns[pairs.col]))
    positive = information > 0
    return sp.csr_matrix((information[positive], (pairs.row[positive], pairs.col[positive])), shape=pairs.shape)


def pretrain_word_encoder(
    folder: str | Path, sentences: Sequence[Sequence[str]], shape: WordEncoderShape, *, seed: int
) -> None:
    """Write an encoder for `sentences` (raw text: the words of gold and pool, no labels) into an existing folder.

    Its word vectors know the company that words keep in raw text, the rest is random.
    """
    folder = Path(folder)
    vocabulary = WordVocabulary.of(sentences)
    if not vocabulary.forms:
        raise DataError("a word encoder is made from raw text, and none was given")
    lines = [[vocabulary(word)[0] for word in words] for words in sentences]
    vectors, known = line_vectors(lines, len(vocabulary), shape.word, seed=seed)
    torch.manual_seed(seed)
    encoder = WordEncoder(shape, len(vocabulary))
    with torch.no_grad():
        # Unit variance per entry, as embeddings usually begin.
        encoder.words.weight[torch.from_numpy(known)] = torch.from_numpy(vectors[known]) * shape.word**0.5
    save_file(encoder.state_dict(), folder / WEIGHTS)
    encoder.save_shape(folder)
    vocabulary.save(folder)
