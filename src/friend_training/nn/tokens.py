"""Text → word pieces with their character offsets, each distinct text once."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray
from transformers import AutoTokenizer

from friend_training.errors import ConfigError

MOST_TEXTS = 20_000
"""So many texts are remembered, some 15 MB by their size: a small pool, or a fixed part of a large one."""

Table = NDArray[np.int64]
"""A row for each piece [n, 3]: its number, and the characters [start, end) that it stands for."""


@contextmanager
def explaining_damage(what: str) -> Iterator[None]:
    """Around a load by transformers: the libraries under it say damage in exceptions of their own, of any type."""
    try:
        yield
    except OSError:  # nothing is there, which its message says
        raise
    except Exception as error:
        said = " ".join(str(error).split())[:200]
        raise ConfigError(f"{what} cannot be read; it is damaged or not what it should be ({said})") from error


class _Memory(dict[str, Table]):
    """What was cut before. Tokenizers that cut alike share one, so that two tasks cut a pool once."""


_memories: WeakValueDictionary[str, _Memory] = WeakValueDictionary()


@dataclass(frozen=True)
class Tokenizer:
    """A fast transformers tokenizer that remembers what it has cut: dialogues are met again in every iteration."""

    backend: Any

    @classmethod
    def load(cls, source: str | Path) -> "Tokenizer":
        with explaining_damage(f"encoder {source}: its tokenizer"):
            backend = AutoTokenizer.from_pretrained(str(source), trust_remote_code=False)
        if not backend.is_fast:
            raise ConfigError(f"encoder {source}: its tokenizer has no character offsets; a fast tokenizer is needed")
        return cls(backend)

    @cached_property
    def memory(self) -> dict[str, Table]:
        """Text → its pieces."""
        rules = sha256(self.backend.backend_tokenizer.to_str().encode()).hexdigest()
        return _memories.setdefault(rules, _Memory())

    @cached_property
    def cls_id(self) -> int:
        return int(self.backend.cls_token_id)

    @cached_property
    def sep_id(self) -> int:
        return int(self.backend.sep_token_id)

    @cached_property
    def pad_id(self) -> int:
        return int(self.backend.pad_token_id)

    def id_of(self, piece: str) -> int:
        return int(self.backend.convert_tokens_to_ids(piece))

    def remember(self, texts: Iterable[str]) -> None:
        """Cut all texts that are new in one call, which is many times faster than one by one.

        All of these are in memory afterwards, however many: who asks for them together reads them together.
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
        self.memory.update(zip(new, np.split(whole, ends[:-1]), strict=True))

    def __call__(self, text: str) -> Table:
        if text not in self.memory:
            self.remember([text])
        return self.memory[text]

    def ids(self, text: str) -> list[int]:
        found: list[int] = self(text)[:, 0].tolist()
        return found

    def save(self, folder: Path) -> None:
        self.backend.save_pretrained(str(folder))


def write_character_vocabulary(folder: Path, texts: Sequence[str]) -> None:
    """Make a BERT vocabulary of single characters, for encoders trained from scratch.

    Letters and digits also get their '##' form, because BERT's tokenizer cuts a run of them into continuing pieces.
    """
    characters = sorted({character for text in texts for character in text.lower() if not character.isspace()})
    continuing = [f"##{character}" for character in characters if character.isascii() and character.isalnum()]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters, *continuing]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "BertTokenizer", "do_lower_case": true, "tokenize_chinese_chars": true}\n'
    )
