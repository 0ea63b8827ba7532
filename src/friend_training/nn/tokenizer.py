"""Text → tokens with their character offsets, each distinct text once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from friend_training.errors import ConfigError
from friend_training.nn.pretrained import longest_input, read_config, read_tokenizer

MOST_TEXTS = 20_000
"""So many texts are remembered, some 15 MB by their size: a small pool, or a fixed part of a large one."""

Table = NDArray[np.int64]
"""A row for each token [n, 3]: its number, and the characters [start, end) that it stands for."""


class _Memory(dict[str, Table]):
    """What was cut before. Tokenizers that cut alike share one, so that two tasks cut a pool once."""


_memories: WeakValueDictionary[str, _Memory] = WeakValueDictionary()


@dataclass(frozen=True)
class Tokenizer:
    """A fast transformers tokenizer that remembers what it has cut: dialogues are met again in every iteration."""

    backend: Any
    longest: int | None = None
    """So many tokens the encoder takes at most, those at either end included; None is any number."""

    @classmethod
    def load(cls, source: str | Path) -> "Tokenizer":
        config = read_config(source)
        backend = read_tokenizer(source)
        return cls(backend, longest_input(source, config, backend))

    @cached_property
    def memory(self) -> dict[str, Table]:
        """Text → its tokens."""
        rules = sha256(self.backend.backend_tokenizer.to_str().encode()).hexdigest()
        return _memories.setdefault(rules, _Memory())

    @cached_property
    def cls_id(self) -> int:
        """The token that every input begins with."""
        return self._special("cls", "bos", "sep", "eos", "unk")

    @cached_property
    def sep_id(self) -> int:
        """The token that every input ends with."""
        return self._special("sep", "eos", "cls", "bos", "unk")

    @cached_property
    def pad_id(self) -> int:
        """What fills up a batch: no encoder reads it, so any token will do."""
        return self._special("pad", "unk", "sep", "eos", "cls", "bos")

    @cached_property
    def unknown_id(self) -> int:
        """What stands for a word without a token of its own."""
        return self._special("unk", "mask", "sep", "eos", "cls", "bos")

    def _special(self, *kinds: str) -> int:
        """The first special token that this tokenizer has: few have all of them."""
        for kind in kinds:
            number: int | None = getattr(self.backend, f"{kind}_token_id")
            if number is not None:
                return int(number)
        raise ConfigError(f"tokenizer {self.backend.name_or_path}: it has no special token (any of {', '.join(kinds)})")

    @cached_property
    def speaker_ids(self) -> tuple[int, int]:
        """The tokens that stand for the speaker of u_t and for the other: 我 and 你, or I and you.

        That is what they mean to u_t, and a pre-trained encoder knows them. Where it knows none of these pairs, the
        last tokens of 我 and 你 are as good as any.
        """
        for same, other in (("我", "你"), ("I", "you"), ("i", "you")):
            numbers = [self.backend.backend_tokenizer.token_to_id(token) for token in (same, other)]
            if None not in numbers:
                return numbers[0], numbers[1]
        return self.ids("我")[-1], self.ids("你")[-1]

    @cached_property
    def cuts_words_alone(self) -> bool:
        """Whether a word's tokens are the same whatever stands beside it: not where blanks are part of tokens."""
        return all(self.ids(pair) == 2 * self.ids(word) for pair, word in (("a a", "a"), ("我我", "我")))

    def remember(self, texts: Iterable[str]) -> None:
        """Cut all texts that are new in one call, which is many times faster than one by one.

        All of these are in memory afterwards, however many: who wants them together reads them together.
        """
        distinct = dict.fromkeys(texts)
        new = [text for text in distinct if text not in self.memory]
        if not new:
            return
        if len(self.memory) + len(new) > MOST_TEXTS:
            self.memory.clear()
            new = list(distinct)
        # Not by way of transformers, which takes as long again to make dictionaries of what comes back.
        cut = self.backend.backend_tokenizer.encode_batch(new, add_special_tokens=False)
        ends = np.cumsum([len(found) for found in cut])
        whole = np.empty((int(ends[-1]), 3), dtype=np.int64)
        whole[:, 0] = np.fromiter(chain.from_iterable(found.ids for found in cut), dtype=np.int64, count=len(whole))
        places = chain.from_iterable(chain.from_iterable(found.offsets for found in cut))
        whole[:, 1:] = np.fromiter(places, dtype=np.int64, count=2 * len(whole)).reshape(-1, 2)
        tables = np.split(whole, ends[:-1])
        for text, table in zip(new, tables, strict=True):
            _leave_out_blanks(text, table)
        self.memory.update(zip(new, tables, strict=True))

    def __call__(self, text: str) -> Table:
        if text not in self.memory:
            self.remember([text])
        return self.memory[text]

    def ids(self, text: str) -> list[int]:
        found: list[int] = self(text)[:, 0].tolist()
        return found

    def save(self, folder: Path) -> None:
        self.backend.save_pretrained(str(folder))


def _leave_out_blanks(text: str, table: Table) -> None:
    """Let tokens that have the blank before a word in them (▁word) stand for the word alone: labels mean words."""
    if not any(map(str.isspace, text)):
        return
    blank = np.array([*map(str.isspace, text), False])
    start, end = table[:, 1], table[:, 2]
    while (early := blank[start] & (start < end)).any():
        start += early


def write_character_vocabulary(folder: Path, texts: Sequence[str]) -> None:
    """Make a BERT vocabulary of single characters, for encoders trained from scratch.

    Letters and digits also get their '##' form, because BERT's tokenizer cuts a run of them into continuing tokens.
    """
    characters = sorted({character for text in texts for character in text.lower() if not character.isspace()})
    continuing = [f"##{character}" for character in characters if character.isascii() and character.isalnum()]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters, *continuing]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "BertTokenizer", "do_lower_case": true, "tokenize_chinese_chars": true}\n'
    )
