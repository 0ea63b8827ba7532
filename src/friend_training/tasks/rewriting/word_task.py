"""Rewriting by words as a task: whether to rewrite at all is decided first, and has a probability of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from friend_training.core.task import Evaluation, Prediction, PseudoLabel
from friend_training.nn.devices import AUTO
from friend_training.nn.encoder import Encoder
from friend_training.nn.heads import Head
from friend_training.nn.task import TorchTask
from friend_training.nn.tokenizer import Tokenizer
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.dialogue_input import (
    NOTHING,
    PointingBatch,
    Rendered,
    SpanPointer,
    Words,
    likeliest_spans,
    likeliest_together,
    pointing_batch,
    render_all,
    span_logs,
)
from friend_training.tasks.repetitions import repeated_rewrites
from friend_training.tasks.rewriting.edits import (
    FUNCTION_WORDS,
    apply_word_script,
    build_word_script,
    from_extended,
    to_extended,
    with_function_words,
)
from friend_training.tasks.rewriting.metrics import WordScore, by_need
from friend_training.types import Dialogue, Insertion, Rewrite, RewritingExample, dialogue_group, words_in

_WAYS = 4
"""So many spans of a slot, none among them, are considered for the likeliest scripts."""

WordMetric = Literal["em", "edit_f1", "needed_em"]


@dataclass(frozen=True, slots=True)
class WordItem:
    """A rendered dialogue, its function words in it; `slots` are the first tokens of u_t's words, and the end."""

    dialogue: Dialogue  # as it was given
    extended: Dialogue
    rendered: Rendered
    words: Words
    slots: NDArray[np.int64]  # [W + 1]
    spans: tuple[tuple[int, int], ...]  # of u_t's words, those that are seen
    targets: tuple[NDArray[np.int64], ...] | None  # keep [W], first and last [W + 1], rewrite [1]
    weight: float

    @property
    def length(self) -> int:
        return len(self.rendered)


@dataclass(frozen=True, slots=True)
class WordBatch:
    input: PointingBatch
    slots: Tensor  # [B, N]
    is_word: Tensor  # [B, N]
    is_slot: Tensor  # [B, N]
    targets: tuple[Tensor, ...]  # keep, first, last: [B, N] each; rewrite: [B, 1]
    weights: Tensor  # [B]
    items: tuple[WordItem, ...]


class WordRewriter(nn.Module):
    """Keep or delete each word, which span goes before it, and whether anything is to be changed at all."""

    def __init__(self, encoder: Encoder, *, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        self.dropout = nn.Dropout(dropout)
        self.keep = nn.Linear(encoder.width, 2)
        self.span = SpanPointer(encoder.width, encoder.width)
        self.rewrite = nn.Linear(2 * encoder.width, 2)

    def forward(self, batch: WordBatch) -> tuple[Head, ...]:
        given = batch.input
        encoded = self.dropout(self.encoder(given.ids, given.types, given.mask))  # [B, M, H]
        at_slots = encoded.gather(1, batch.slots.unsqueeze(2).expand(-1, -1, encoded.size(2)))  # [B, N, H]
        mean = (at_slots * batch.is_slot.unsqueeze(2)).sum(dim=1) / batch.is_slot.sum(dim=1, keepdim=True)
        whole = torch.cat([encoded[:, NOTHING], mean], dim=1)  # [B, 2H]
        first, last = self.span(
            at_slots, encoded, (given.begins.unsqueeze(1), given.finishes.unsqueeze(1)), batch.is_slot
        )
        decided = Head(self.rewrite(whole).unsqueeze(1), batch.is_slot[:, :1])
        return Head(self.keep(at_slots), batch.is_word), first, last, decided


class WordRewritingDefinition:
    """Rewriting of utterances in words (English). Examples that edits cannot build are left out of training only.

    A rewrite is predicted where rewriting at all is likelier than not, at least `unless_sure` all in all, and where the
    edits come to a change. The confidence of a rewrite is that of the decision to rewrite times that of each of its
    edits; that of leaving the utterance as it is, is that of this decision.
    """

    label_type = Rewrite
    repeated = staticmethod(repeated_rewrites)
    """Makes gold of what unlabeled dialogues say again."""

    def __init__(
        self,
        *,
        encoder: str | Path,
        name: str = "rewriting",
        max_length: int = 125,
        function_words: Sequence[str] = FUNCTION_WORDS,
        unless_sure: float = 0.0,
        main_metric: WordMetric = "em",
    ) -> None:
        self.name = name
        self.main_metric: str = main_metric
        self.tokenizer = Tokenizer.load(encoder)
        self.max_length = max_length
        self.function_words = tuple(function_words)
        self.unless_sure = unless_sure

    @property
    def identity(self) -> Mapping[str, Any]:
        return {
            "max_length": self.max_length,
            "function_words": self.function_words,
            "unless_sure": self.unless_sure,
            "main_metric": self.main_metric,
        }

    def network(self, encoder: Encoder) -> nn.Module:
        return WordRewriter(encoder)

    def save(self, folder: Path) -> None:
        self.tokenizer.save(folder)

    def check(self, folder: Path) -> None:
        """Decisions are the same everywhere: any folder of this task will do."""

    def gold_items(self, examples: Sequence[RewritingExample]) -> list[WordItem]:
        extended = [with_function_words(e.dialogue, self.function_words) for e in examples]
        scripts = [build_word_script(d, e.rewrite) for d, e in zip(extended, examples, strict=True)]
        built = [(e.dialogue, script) for e, script in zip(examples, scripts, strict=True) if script is not None]
        return self._items([given for given, _ in built], [script for _, script in built], [1.0] * len(built))

    def pseudo_items(self, chosen: Sequence[PseudoLabel]) -> list[WordItem]:
        dialogues: list[Dialogue] = []
        for pseudo in chosen:
            assert isinstance(pseudo.input, Dialogue)
            dialogues.append(pseudo.input)
        scripts = [to_extended(pseudo.label, given) for pseudo, given in zip(chosen, dialogues, strict=True)]
        return self._items(dialogues, scripts, [pseudo.weight for pseudo in chosen])

    def input_items(self, inputs: Sequence[Dialogue]) -> list[WordItem]:
        return self._items(inputs, None, [1.0] * len(inputs))

    def _items(
        self, dialogues: Sequence[Dialogue], scripts: Sequence[Rewrite] | None, weights: Sequence[float]
    ) -> list[WordItem]:
        extended = [with_function_words(dialogue, self.function_words) for dialogue in dialogues]
        layouts = render_all(extended, self.tokenizer, speakers=False, max_length=self.max_length)
        labels: Sequence[Rewrite | None] = [None] * len(dialogues) if scripts is None else scripts
        rows = zip(dialogues, extended, layouts, labels, weights, strict=True)
        items = [_item(given, whole, layout, script, weight) for given, whole, layout, script, weight in rows]
        return items if scripts is None else [item for item in items if item.targets is not None]

    def inputs_of(self, examples: Sequence[RewritingExample]) -> list[Dialogue]:
        return [example.dialogue for example in examples]

    def units_in(self, example: RewritingExample) -> int:
        return 1

    def collate(self, items: Sequence[WordItem]) -> WordBatch:
        most = max(len(item.slots) for item in items)
        slots = torch.zeros(len(items), most, dtype=torch.long)
        targets = (
            *(torch.zeros(len(items), most, dtype=torch.long) for _ in range(3)),
            torch.zeros(len(items), 1).long(),
        )
        for row, item in enumerate(items):
            slots[row, : len(item.slots)] = torch.from_numpy(item.slots)
            for table, values in zip(targets, item.targets or (), strict=False):
                table[row, : len(values)] = torch.from_numpy(values)
        numbers = torch.arange(most)
        width = torch.tensor([[len(item.spans)] for item in items])
        return WordBatch(
            input=pointing_batch(
                [item.rendered for item in items], [item.words for item in items], self.tokenizer.pad_id
            ),
            slots=slots,
            is_word=numbers < width,
            is_slot=numbers <= width,
            targets=targets,
            weights=torch.tensor([item.weight for item in items]),
            items=tuple(items),
        )

    def decode(self, heads: Sequence[Head], batch: WordBatch) -> list[list[Prediction]]:
        keeping, first, last, decided = heads
        pointed = likeliest_spans(first, last, batch.input.turn)
        kept = keeping.logits.double().log_softmax(dim=2)  # [B, N, 2]
        sure = decided.logits.double().log_softmax(dim=2)[:, 0].exp().numpy()  # [B, 2]
        keep_logs, keep = (values.numpy() for values in kept.max(dim=2))
        found = []
        for row, item in enumerate(batch.items):
            words = len(item.spans)
            logs = keep_logs[row, :words].sum() + pointed.logs[row, : words + 1, 0].sum()
            script = _script(item, keep[row], pointed.first[row, :, 0], pointed.last[row, :, 0])
            found.append([self._prediction(item, script, float(sure[row, 1]), float(np.exp(logs)))])
        return found

    def n_best(self, heads: Sequence[Head], batch: WordBatch, k: int) -> list[list[list[Prediction]]]:
        """The likeliest scripts, and the utterance as it is among them, where it is one of the k."""
        keeping, first, last, decided = heads
        pointed = likeliest_spans(first, last, batch.input.turn, n=_WAYS)
        only = torch.full((*batch.is_slot.shape, _WAYS), -torch.inf, dtype=torch.double)
        only[..., 0] = 0.0
        keeps = only.clone()
        keeps[..., :2] = keeping.logits.double().log_softmax(dim=2)
        spans = only.clone()
        spans[..., : pointed.logs.shape[2]] = torch.from_numpy(pointed.logs)
        # Where there is no word, the first choice is the only one; "keep" is the second class.
        options = torch.cat(
            [
                torch.where(batch.is_word.unsqueeze(2), keeps, only),
                torch.where(batch.is_slot.unsqueeze(2), spans, only),
            ],
            dim=1,
        )
        choices, logs = likeliest_together(options, k)
        slots = batch.is_slot.size(1)
        sure = decided.logits.double().softmax(dim=2)[:, 0].tolist()
        found = []
        for row, item in enumerate(batch.items):
            of_item = [self._left(item, sure[row][0])]
            for rank in torch.nonzero(logs[row].isfinite()).flatten().tolist():
                ways = choices[row, rank, slots:, None].numpy()
                script = _script(
                    item,
                    choices[row, rank, :slots].numpy(),
                    np.take_along_axis(pointed.first[row], ways, axis=1)[:, 0],
                    np.take_along_axis(pointed.last[row], ways, axis=1)[:, 0],
                )
                if script.text != item.dialogue.utterance.text:
                    of_item.append(self._changed(item, script, sure[row][1] * float(logs[row, rank].exp())))
            of_item.sort(key=lambda one: -one.confidence)
            found.append([list({one.label: one for one in reversed(of_item)}.values())[::-1][:k]])
        return found

    def log_likelihood(
        self, heads: Sequence[Head], batch: WordBatch, labels: Sequence[Sequence[Sequence[Rewrite]]]
    ) -> list[list[list[float]]]:
        """Of the decision to leave u_t as it is, or of that to rewrite it and of every edit.

        It is -inf where a script inserts what is not seen.
        """
        keeping, first, last, decided = heads
        keep_logs = keeping.logits.double().log_softmax(dim=2).numpy()
        spans = span_logs(first, last, batch.input.turn).numpy()
        sure = decided.logits.double().log_softmax(dim=2)[:, 0].tolist()
        found = []
        for row, (item, [scripts]) in enumerate(zip(batch.items, labels, strict=True)):
            logs = []
            for script in scripts:
                if not script.insertions and not script.deleted:
                    logs.append(sure[row][0])
                    continue
                length = len(item.extended.utterance.text)
                made = _targets(to_extended(script, item.dialogue), item.rendered, item.spans, length)
                total = -np.inf
                if made is not None:
                    keep, begin, end, _ = made
                    more = end - begin
                    total = sure[row][1] + keep_logs[row, np.arange(len(keep)), keep].sum()
                    fits = (more < spans.shape[3]).all()
                    total += spans[row, np.arange(len(begin)), begin, more].sum() if fits else -np.inf
                logs.append(float(total))
            found.append([logs])
        return found

    def _prediction(self, item: WordItem, script: Rewrite, rewrite: float, edits: float) -> Prediction:
        """`rewrite` is the probability that there is something to rewrite, `edits` that of the script."""
        dialogue = item.dialogue
        confidence = rewrite * edits
        changed = rewrite > 0.5 and script.text != dialogue.utterance.text and confidence >= self.unless_sure
        return self._changed(item, script, confidence) if changed else self._left(item, 1 - rewrite)

    @staticmethod
    def _left(item: WordItem, confidence: float) -> Prediction:
        label = Rewrite(item.dialogue.utterance.text)
        return Prediction(item.dialogue.id, label, min(1.0, confidence), content=False, kind="unchanged")

    @staticmethod
    def _changed(item: WordItem, script: Rewrite, confidence: float) -> Prediction:
        label = from_extended(script, item.dialogue)
        content = bool(label.insertions)
        return Prediction(item.dialogue.id, label, min(1.0, confidence), content=content, kind="changed")

    def score(self, examples: Sequence[RewritingExample], predictions: Sequence[Sequence[Prediction]]) -> Evaluation:
        """All cuts of a dialogue are one group."""
        units = score_words([units[0].label.text for units in predictions], examples)
        kinds = by_need([unit.needed for unit in units], [unit.exact for unit in units])
        return Evaluation.of(units, WordScore(), [dialogue_group(example.dialogue.id) for example in examples], kinds)


def score_words(texts: Sequence[str], gold: Sequence[RewritingExample]) -> list[WordScore]:
    """The counts of each rewrite."""
    return [WordScore.of(text, e.rewrite, e.dialogue.utterance.text) for text, e in zip(texts, gold, strict=True)]


def _item(
    dialogue: Dialogue, extended: Dialogue, rendered: Rendered, script: Rewrite | None, weight: float
) -> WordItem:
    current = len(extended.turns) - 1
    words = Words.of(extended, rendered)
    slots = np.flatnonzero((rendered.turn == current) & words.begins)
    own = words_in(extended.utterance.text)[: len(slots)]  # of a very long utterance the end is not seen
    whole = np.append(slots, len(rendered) - 1)
    targets = None if script is None else _targets(script, rendered, own, len(extended.utterance.text))
    return WordItem(dialogue, extended, rendered, words, whole, tuple(own), targets, weight)


def _targets(
    script: Rewrite, rendered: Rendered, own: Sequence[tuple[int, int]], length: int
) -> tuple[NDArray[np.int64], ...] | None:
    """None if what is inserted was cut off."""
    deleted = set(script.deleted)
    keep = np.array([start not in deleted for start, _ in own], dtype=np.int64)
    first, last = (np.full(len(own) + 1, NOTHING, dtype=np.int64) for _ in range(2))
    places = {start: number for number, (start, _) in enumerate(own)} | {length: len(own)}
    for one in script.insertions:
        source = rendered.covering(one.turn, one.start, one.end)
        if source is None or rendered.start[source[0]] != one.start or rendered.end[source[1] - 1] != one.end:
            return None
        if one.before not in places:
            return None
        first[places[one.before]], last[places[one.before]] = source[0], source[1] - 1
    changed = bool(script.insertions or script.deleted)
    return keep, first, last, np.array([changed], dtype=np.int64)


def _script(item: WordItem, keep: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64]) -> Rewrite:
    """A script of the extended dialogue."""
    layout, length = item.rendered, len(item.extended.utterance.text)
    deleted = [offset for number, span in enumerate(item.spans) if not keep[number] for offset in range(*span)]
    insertions = []
    for slot in np.flatnonzero(first[: len(item.slots)] != NOTHING).tolist():
        before = item.spans[slot][0] if slot < len(item.spans) else length
        begin, end = int(first[slot]), int(last[slot])
        turn = int(layout.turn[begin])
        insertions.append(Insertion(before, turn, int(layout.start[begin]), int(layout.end[end])))
    script = Rewrite("", tuple(deleted), tuple(insertions))
    return replace(script, text=apply_word_script(item.extended, script))


def word_rewriting_task(
    encoder: str | Path,
    settings: TrainingSettings,
    *,
    name: str = "rewriting",
    max_length: int = 125,
    function_words: Sequence[str] = FUNCTION_WORDS,
    unless_sure: float = 0.0,
    main_metric: WordMetric = "em",
    device: str = AUTO,
) -> TorchTask:
    definition = WordRewritingDefinition(
        encoder=encoder,
        name=name,
        max_length=max_length,
        function_words=function_words,
        unless_sure=unless_sure,
        main_metric=main_metric,
    )
    return TorchTask(definition, encoder=encoder, settings=settings, device=device)
