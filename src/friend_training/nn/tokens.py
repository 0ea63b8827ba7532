"""Text → word pieces with their character offsets, each distinct text once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from friend_training.errors import ConfigError

MOST_TEXTS = 20_000
"""So many texts are remembered, some 25 MB: a pool of a few thousand dialogues, and a fixed part of a large one."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """The word pieces of one text and the characters [start, end) each stands for."""

    ids: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


@dataclass
class Tokenizer:
    """A fast transformers tokenizer that remembers what it has cut: dialogues are met again in every iteration."""

    backend: Any
    memory: dict[str, Pieces] = field(default_factory=dict)

    @classmethod
    def load(cls, source: str | Path) -> "Tokenizer":
        backend = AutoTokenizer.from_pretrained(str(source))
        if not backend.is_fast:
            raise ConfigError(f"encoder {source}: its tokenizer has no character offsets; a fast tokenizer is needed")
        return cls(backend)

    @property
    def cls_id(self) -> int:
        return int(self.backend.cls_token_id)

    @property
    def sep_id(self) -> int:
        return int(self.backend.sep_token_id)

    @property
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
        cut = self.backend(new, add_special_tokens=False, return_offsets_mapping=True, return_attention_mask=False)
        for text, ids, offsets in zip(new, cut["input_ids"], cut["offset_mapping"], strict=True):
            self.memory[text] = Pieces(tuple(ids), tuple(s for s, _ in offsets), tuple(e for _, e in offsets))

    def __call__(self, text: str) -> Pieces:
        if text not in self.memory:
            self.remember([text])
        return self.memory[text]

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
