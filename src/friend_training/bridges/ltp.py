"""LTP: its tiny model read by our own code, in large batches beside our other models; larger ones by the `ltp` package.

Our own code reads safetensors. The package (4.2) is for people who have it and one of its larger models.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn.functional import linear, pad
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModel, AutoTokenizer

from friend_training.bridges.bridge import Frame, ParsedSentence, answers, word_spans, words_at
from friend_training.errors import FriendTrainingError, naming_missing_packages
from friend_training.nn.devices import AUTO, PROCESSOR, choose_device, on_device
from friend_training.nn.training import Progress, no_progress
from friend_training.runs.files import read_json_object
from friend_training.types import Predicate, Sentence, SentenceArgument, SentenceRoles

# Reading spans off BIO labels.


def labelled_spans(labels: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """(name, first, one past the last) of each span. An I that continues nothing opens a span, as in LTP."""
    start = 0
    for i in range(1, len(labels) + 1):
        ends = i == len(labels) or labels[i] != f"I-{labels[start][2:]}" or labels[start] == "O"
        if ends:
            if labels[start] != "O":
                yield labels[start][2:], start, i
            start = i


# Exact decoding of a linear-chain CRF, many sequences at once.


@dataclass(frozen=True, slots=True)
class LinearChain:
    """The weights of a linear-chain CRF over L labels. `transitions[i, j]` is the score of j after i."""

    start: Tensor  # [L]
    transitions: Tensor  # [L, L]
    end: Tensor  # [L]


def viterbi(emissions: Tensor, lengths: Tensor, chain: LinearChain) -> Tensor:
    """The best label sequence of each row; 0 beyond a row's length.

    Only the best scores are kept on the way forward. Which predecessor gave them is queried again on the way back, for
    the one label that is on the best path: this replaces an argmax over L x L by one over L at every step, and the
    maximum alone is several times faster than the maximum with its index.
    """
    steps = emissions.size(1)  # emissions [N, T, L], lengths [N], each at least 1
    into = chain.transitions.t().contiguous()  # [to, from]: the maximum runs over the last dimension
    best = [chain.start + emissions[:, 0]]
    for t in range(1, steps):
        best.append((best[-1].unsqueeze(1) + into).amax(-1) + emissions[:, t])  # [N, L]

    labels = torch.zeros(emissions.shape[:2], dtype=torch.long, device=emissions.device)
    following = torch.zeros_like(lengths)
    for t in range(steps - 1, -1, -1):
        onwards = torch.where((lengths == t + 1).unsqueeze(1), chain.end, into[following])  # [N, L]
        following = torch.where(t < lengths, (best[t] + onwards).argmax(-1), following)
        labels[:, t] = torch.where(t < lengths, following, 0)
    return labels


def outside_is_best(lead: Tensor, chain: LinearChain) -> Tensor:
    """Rows whose best sequence is certainly label 0 (O) throughout, seen without decoding them.

    `lead[..., t]` is how far the best label other than O is ahead of O at position t by emission alone (minus infinity
    where there is no position). Against the sequence of Os a run of k other labels gains at most their leads, plus what
    it gains by entering, by leaving and k - 1 times within. If every lead is smaller than minus the larger of
    (entering + leaving) and (within), no run of any length can gain. Exact, and true of most words of a sentence.
    """
    stay = chain.transitions[0, 0]
    entering = torch.maximum((chain.transitions[0, 1:] - stay).amax(), (chain.start[1:] - chain.start[0]).amax())
    leaving = torch.maximum((chain.transitions[1:, 0] - stay).amax(), (chain.end[1:] - chain.end[0]).amax())
    within = (chain.transitions[1:, 1:] - stay).amax()
    return lead.amax(-1) + torch.maximum(entering + leaving, within) < 0


# What LTP computes on top of its encoder: words, parts of speech and semantic roles (SOURCE.txt, "Heads").


@dataclass(frozen=True, slots=True)
class Affine:
    weight: Tensor  # [out, in]
    bias: Tensor  # [out]

    def __call__(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


@dataclass(frozen=True, slots=True)
class LtpHeads:
    """The heads this project uses; those for entities and dependencies are not read."""

    cws: Affine
    pos: Affine
    srl_mlp: Affine
    srl_attention: Tensor  # [D + 1, L * (D + 1)]: the biaffine weight of every label, laid side by side
    srl_labels: int
    srl_chain: LinearChain

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> "LtpHeads":
        weights = {name: tensor.float() for name, tensor in tensors.items()}  # stored in half precision
        attention = weights["srl.atten.weight"]  # [L, D + 1 (predicate), D + 1 (argument)]
        return cls(
            cws=Affine(weights["cws.classifier.0.weight"], weights["cws.classifier.0.bias"]),
            pos=Affine(weights["pos.classifier.0.weight"], weights["pos.classifier.0.bias"]),
            srl_mlp=Affine(weights["srl.mlp.0.weight"], weights["srl.mlp.0.bias"]),
            srl_attention=attention.transpose(0, 1).reshape(attention.size(1), -1).contiguous(),
            srl_labels=attention.size(0),
            srl_chain=LinearChain(
                start=weights["srl.crf.start_transitions"],
                transitions=weights["srl.crf.transitions"],
                end=weights["srl.crf.end_transitions"],
            ),
        )

    def tags_and_roles(
        self, hidden: Tensor, tokens: Tensor, counts: Tensor, queried: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The part of speech of every word [B, n], and `role_rows`; `tokens` [B, n] are the first ones of words."""
        words = hidden.gather(1, tokens.unsqueeze(-1).expand(-1, -1, hidden.size(-1)))  # [B, n, hidden]
        return self.pos(words).argmax(-1), *self.role_rows(words, counts, queried)

    def role_rows(self, words: Tensor, counts: Tensor, queried: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The words queried, each taken as a predicate, and the role labels of all words of its sentence for it.

        Returns (sentence, word, labels): the rows that hold any label but O, in text order.
        """
        z = torch.relu(self.srl_mlp(words)).reshape(*words.shape[:2], 2, -1)  # words [B, n, hidden], z [B, n, 2, D]
        z = pad(z, (0, 1), value=1.0)  # the 1 makes the product biaffine
        sentence, word = torch.nonzero(queried, as_tuple=True)  # queried [B, n]; N rows in all
        as_predicate = z[sentence, word, 0] @ self.srl_attention  # [N, L * (D + 1)]
        as_argument = z[:, :, 1].transpose(1, 2)[sentence]  # [N, D + 1, n]
        by_label = as_predicate.reshape(word.size(0), self.srl_labels, z.size(-1))
        scores = by_label @ as_argument  # [N, L, n]

        no_word = torch.arange(words.size(1), device=words.device) >= counts[sentence].unsqueeze(1)  # [N, n]
        lead = (scores[:, 1:].amax(1) - scores[:, 0]).masked_fill(no_word, -torch.inf)
        open_rows = ~outside_is_best(lead, self.srl_chain)
        sentence, word = sentence[open_rows], word[open_rows]
        labels = viterbi(scores[open_rows].transpose(1, 2), counts[sentence], self.srl_chain)  # [N, n]
        found = labels.any(-1)
        return sentence[found], word[found], labels[found]


FILES = ("config.json", "model.safetensors", "vocab.txt", "task_heads.json", "task_heads.safetensors")

TOKENS_PER_BATCH = 512
"""Padding included. The role scores take some 50 kB per token: on a CPU larger batches leave the cache and are slow."""


Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Item:
    """One text on its way through a batch. `predicates`: the rows queried, None for all words."""

    text: str
    ids: list[int]
    offsets: list[Span]
    predicates: Sequence[Predicate] | None


def check_ltp(folder: Path) -> None:
    """Whether a folder has what the parser is loaded from."""
    if not folder.is_dir():
        raise FriendTrainingError(
            f"LTP's folder {str(folder)!r} is not there, neither as given nor below FRIEND_TRAINING_MODELS"
        )
    if missing := [name for name in FILES if not (folder / name).is_file()]:
        raise FriendTrainingError(f"{folder} is not an LTP folder: {', '.join(missing)} not found there")


class LtpParser:
    """The encoder (ELECTRA) and the heads for words, parts of speech and roles: a parser, and a bridge.

    A text beyond the encoder's 512 tokens is read up to there, as LTP itself does: no words are found in the rest.
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
        check_ltp(folder)
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
        """Words and parts of speech alone: no row is queried, so there are no frames."""
        return self._parse(texts, [()] * len(texts))

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        """The roles of the predicates queried: as from `parse`, but only their rows are computed.

        LTP decodes a row for any word taken as a predicate and calls it none when the row holds no label. Answering
        from the row queried and answering only for LTP's own predicates is therefore the same thing.
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
        for batch in _batches([len(tokens) for tokens in ids]):
            items = [_Item(texts[i], ids[i], offsets[i], predicates[i]) for i in batch]
            for i, sentence in zip(batch, self._parse_batch(items), strict=True):
                parsed[i] = sentence
            done += len(batch)
            self.progress(done, len(texts))
        return parsed

    def _parse_batch(self, items: Sequence[_Item]) -> list[ParsedSentence]:
        ids = pad_sequence([torch.tensor(item.ids) for item in items], batch_first=True)  # [B, tokens]
        lengths = torch.tensor([len(item.ids) for item in items])
        mask = torch.arange(ids.size(1)) < lengths.unsqueeze(1)
        there, seen = on_device((ids, mask.long()), self.device)
        hidden: Tensor = self.encoder(input_ids=there, attention_mask=seen).last_hidden_state

        begins = (self.heads.cws(hidden).argmax(-1) == 0).tolist()  # the labels are B-W, I-W
        cut = [_words(item.offsets, starts) for item, starts in zip(items, begins, strict=True)]
        spans = [tuple(span for _, span in words) for words in cut]
        tokens = pad_sequence([torch.tensor([token for token, _ in words]) for words in cut], batch_first=True)
        counts = torch.tensor([len(own) for own in spans])
        queried = torch.zeros(tokens.shape, dtype=torch.bool)  # [B, n]
        for b, item in enumerate(items):
            queried[b, _queried(item.predicates, spans[b])] = True

        # Words were cut here, all else is computed there: the second and last time that something comes back.
        found_there = self.heads.tags_and_roles(hidden, *on_device((tokens, counts, queried), self.device))
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


def _queried(predicates: Sequence[Predicate] | None, words: Sequence[Span]) -> list[int]:
    if predicates is None:
        return list(range(len(words)))
    return [word for predicate in predicates for word in words_at(predicate, words)]


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Texts of similar length, as many at a time as fill `TOKENS_PER_BATCH`; those without any token are left out."""
    order = sorted((i for i, length in enumerate(lengths) if length > 2), key=lambda i: lengths[i])
    batch: list[int] = []
    for i in order:
        if batch and (len(batch) + 1) * lengths[i] > TOKENS_PER_BATCH:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _words(offsets: Sequence[Span], begins: Sequence[bool]) -> list[tuple[int, Span]]:
    """(first token, character span) of each word. Several tokens of one and the same span count once, as in LTP."""
    words: list[tuple[int, Span]] = []
    for token in range(1, len(offsets) - 1):  # without [CLS] and [SEP]
        start, end = offsets[token]
        if (start, end) == offsets[token - 1]:
            continue
        if begins[token] or not words:
            words.append((token, (start, end)))
        else:
            first, (word_start, _) = words[-1]
            words[-1] = (first, (word_start, end))
    return words


TASKS = ["cws", "pos", "srl"]
TEXTS_PER_CALL = 32
"""The package pads a call to its longest text: few texts, of similar length, at a time."""


class LtpPackageParser:
    """LTP by its own package. `pipeline` stands in for the package where a test or a wrapper brings its own."""

    name = "ltp-package"

    def __init__(self, model: str = "LTP/tiny", *, pipeline: Callable[..., Any] | None = None) -> None:
        self.pipeline = _load(model) if pipeline is None else pipeline

    def parse(self, texts: Sequence[str]) -> list[ParsedSentence]:
        parsed = [ParsedSentence(text, (), (), ()) for text in texts]
        order = sorted((i for i, text in enumerate(texts) if text.strip()), key=lambda i: len(texts[i]))
        for first in range(0, len(order), TEXTS_PER_CALL):
            batch = order[first : first + TEXTS_PER_CALL]
            output = self.pipeline([texts[i] for i in batch], tasks=TASKS)
            for i, words, tags, frames in zip(batch, output.cws, output.pos, output.srl, strict=True):
                spans = word_spans(texts[i], words)
                found = tuple(_frame(frame, spans) for frame in frames)
                parsed[i] = ParsedSentence(texts[i], spans, tuple(tags), found)
        return parsed


def _frame(frame: dict[str, Any], spans: Sequence[tuple[int, int]]) -> Frame:
    """The package gives (role, text, first word, last word): both ends belong to the argument."""
    arguments = (SentenceArgument(role, spans[i][0], spans[j][1]) for role, _, i, j in frame["arguments"])
    return Frame(frame["index"], tuple(arguments))


def _load(model: str) -> Callable[..., Any]:
    with naming_missing_packages():
        from ltp import LTP

    ltp = LTP(model)
    restore_batch_encode_plus(ltp.tokenizer)
    return ltp.pipeline  # type: ignore[no-any-return]


def restore_batch_encode_plus(tokenizer: Any) -> None:
    """ltp 4.2.14 calls `batch_encode_plus`, which transformers 5 no longer has: calling the tokenizer does the same."""
    if not hasattr(tokenizer, "batch_encode_plus"):
        tokenizer.batch_encode_plus = tokenizer.__call__
