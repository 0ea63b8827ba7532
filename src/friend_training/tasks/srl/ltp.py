"""LTP tiny, read by our own code from safetensors, so that it runs in large batches beside our other models."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModel, AutoTokenizer

from friend_training.core.json_files import read_json_object
from friend_training.errors import FriendTrainingError
from friend_training.examples import Predicate, Sentence, SentenceArgument, SentenceRoles
from friend_training.nn.devices import AUTO, PROCESSOR, choose_device, on_device
from friend_training.nn.training import Progress, no_progress
from friend_training.tasks.srl.bio import labelled_spans
from friend_training.tasks.srl.ltp_heads import LtpHeads
from friend_training.tasks.srl.parsed import Frame, ParsedSentence, answers, words_at

FILES = ("config.json", "model.safetensors", "vocab.txt", "task_heads.json", "task_heads.safetensors")
PIECES_PER_BATCH = 512
"""Padding included. The role scores take some 50 kB per piece: on a CPU larger batches leave the cache and are slow."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Item:
    """One text on its way through a batch. `predicates`: the rows asked for, None for all words."""

    text: str
    ids: list[int]
    offsets: list[Span]
    predicates: Sequence[Predicate] | None


class LtpParser:
    """The encoder (ELECTRA) and the heads for words, parts of speech and roles: a parser, and a bridge.

    A text beyond the encoder's 512 pieces is read up to there, as LTP itself does: no words are found in the rest.
    """

    name = "ltp"

    def __init__(
        self,
        *,
        encoder: Any,
        tokenizer: Any,
        heads: LtpHeads,
        pos: Sequence[str],
        roles: Sequence[str],
        device: str = AUTO,
    ) -> None:
        self.device_name, self.device = device, choose_device(device)
        self.encoder, self.tokenizer = encoder.to(self.device), tokenizer
        self.heads = on_device(heads, self.device)
        self.pos, self.roles = tuple(pos), tuple(roles)
        self.progress: Progress = no_progress

    def __getstate__(self) -> dict[str, Any]:
        """To another process it goes by way of the processor: the device of that name may be another one there."""
        if self.device == PROCESSOR:
            return self.__dict__
        moved = {"encoder": deepcopy(self.encoder).to(PROCESSOR), "heads": on_device(self.heads, PROCESSOR)}
        return self.__dict__ | moved

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.device = choose_device(self.device_name)
        self.encoder, self.heads = self.encoder.to(self.device), on_device(self.heads, self.device)

    @classmethod
    def load(cls, folder: str | Path, *, device: str = AUTO) -> "LtpParser":
        folder = Path(folder)
        missing = [name for name in FILES if not (folder / name).is_file()]
        if missing:
            raise FriendTrainingError(f"{folder} is not an LTP folder: {', '.join(missing)} not found there")
        labels = read_json_object(folder / "task_heads.json", "the labels of the heads", needed=("labels",))["labels"]
        return cls(
            encoder=AutoModel.from_pretrained(folder, trust_remote_code=False).eval(),
            tokenizer=AutoTokenizer.from_pretrained(folder, trust_remote_code=False),
            heads=LtpHeads.from_tensors(load_file(folder / "task_heads.safetensors")),
            pos=labels["pos"],
            roles=labels["srl"],
            device=device,
        )

    def parse(self, texts: Sequence[str]) -> list[ParsedSentence]:
        """Words, parts of speech, and the roles of every word that has any."""
        return self._parse(texts, [None] * len(texts))

    def tag(self, texts: Sequence[str]) -> list[ParsedSentence]:
        """Words and parts of speech alone: no row is asked for, so there are no frames."""
        return self._parse(texts, [()] * len(texts))

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        """The roles of the predicates asked for: as from `parse`, but only their rows are computed.

        LTP decodes a row for any word taken as a predicate and calls it none when the row holds no label. Answering
        from the row asked for and answering only for LTP's own predicates is therefore the same thing.
        """
        parsed = self._parse([s.text for s in sentences], [s.predicates for s in sentences])
        return [answers(sentence, parse) for sentence, parse in zip(sentences, parsed, strict=True)]

    @torch.inference_mode()
    def _parse(self, texts: Sequence[str], predicates: Sequence[Sequence[Predicate] | None]) -> list[ParsedSentence]:
        parsed = [ParsedSentence(text, (), (), ()) for text in texts]
        if not parsed:
            return parsed  # the tokenizer refuses an empty batch
        longest = self.encoder.config.max_position_embeddings
        encoded = self.tokenizer(list(texts), truncation=True, max_length=longest, return_offsets_mapping=True)
        ids, offsets = encoded["input_ids"], encoded["offset_mapping"]
        done = 0
        for batch in _batches([len(pieces) for pieces in ids]):
            items = [_Item(texts[i], ids[i], offsets[i], predicates[i]) for i in batch]
            for i, sentence in zip(batch, self._parse_batch(items), strict=True):
                parsed[i] = sentence
            done += len(batch)
            self.progress(done, len(texts))
        return parsed

    def _parse_batch(self, items: Sequence[_Item]) -> list[ParsedSentence]:
        ids = pad_sequence([torch.tensor(item.ids) for item in items], batch_first=True)  # [B, pieces]
        lengths = torch.tensor([len(item.ids) for item in items])
        mask = torch.arange(ids.size(1)) < lengths.unsqueeze(1)
        there, seen = on_device((ids, mask.long()), self.device)
        hidden: Tensor = self.encoder(input_ids=there, attention_mask=seen).last_hidden_state

        begins = (self.heads.cws(hidden).argmax(-1) == 0).tolist()  # the labels are B-W, I-W
        cut = [_words(item.offsets, starts) for item, starts in zip(items, begins, strict=True)]
        spans = [tuple(span for _, span in words) for words in cut]
        pieces = pad_sequence([torch.tensor([piece for piece, _ in words]) for words in cut], batch_first=True)
        counts = torch.tensor([len(own) for own in spans])
        asked = torch.zeros(pieces.shape, dtype=torch.bool)  # [B, n]
        for b, item in enumerate(items):
            asked[b, _asked(item.predicates, spans[b])] = True

        # Words were cut here, all else is computed there: the second and last time that something comes back.
        found_there = self.heads.tags_and_roles(hidden, *on_device((pieces, counts, asked), self.device))
        tags, *rows = (part.tolist() for part in on_device(found_there, PROCESSOR))
        frames: list[list[Frame]] = [[] for _ in items]
        for b, word, row in zip(*rows, strict=True):
            frames[b].append(Frame(word, self._arguments(row, spans[b])))
        return [
            ParsedSentence(item.text, own, tuple(self.pos[tag] for tag in row[: len(own)]), tuple(found))
            for item, own, row, found in zip(items, spans, tags, frames, strict=True)
        ]

    def _arguments(self, row: Sequence[int], words: Sequence[Span]) -> tuple[SentenceArgument, ...]:
        labels = [self.roles[label] for label in row]
        return tuple(SentenceArgument(role, words[i][0], words[j - 1][1]) for role, i, j in labelled_spans(labels))


def _asked(predicates: Sequence[Predicate] | None, words: Sequence[Span]) -> list[int]:
    if predicates is None:
        return list(range(len(words)))
    return [word for predicate in predicates for word in words_at(predicate, words)]


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Texts of similar length, as many at a time as fill `PIECES_PER_BATCH`; those without any piece are left out."""
    order = sorted((i for i, length in enumerate(lengths) if length > 2), key=lambda i: lengths[i])
    batch: list[int] = []
    for i in order:
        if batch and (len(batch) + 1) * lengths[i] > PIECES_PER_BATCH:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _words(offsets: Sequence[Span], begins: Sequence[bool]) -> list[tuple[int, Span]]:
    """(first piece, character span) of each word. Several pieces of one and the same span count once, as in LTP."""
    words: list[tuple[int, Span]] = []
    for piece in range(1, len(offsets) - 1):  # without [CLS] and [SEP]
        start, end = offsets[piece]
        if (start, end) == offsets[piece - 1]:
            continue
        if begins[piece] or not words:
            words.append((piece, (start, end)))
        else:
            first, (word_start, _) = words[-1]
            words[-1] = (first, (word_start, end))
    return words
