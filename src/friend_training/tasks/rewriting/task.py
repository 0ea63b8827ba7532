"""Dialogue rewriting as a task: a unit is one utterance, its label the edit script that completes it."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from torch import nn

from friend_training.core.task import Evaluation, Prediction, PseudoLabel
from friend_training.nn.devices import AUTO
from friend_training.nn.encoder import Encoder
from friend_training.nn.heads import Head
from friend_training.nn.task import TorchTask
from friend_training.nn.tokenizer import Tokenizer
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.dialogue_input import render_all
from friend_training.tasks.given_examples import GivenExamples
from friend_training.tasks.rewriting.edits import SpanSource, build_script, rewrite_or_utterance
from friend_training.tasks.rewriting.metrics import RewritingScore, by_need
from friend_training.tasks.rewriting.model import (
    BiaffineRewriter,
    RewriteBatch,
    RewriteItem,
    Rewriter,
    Scorer,
    SpanChoice,
    collate_rewrites,
    decode_rewrites,
    log_likelihood_of_rewrites,
    ranked_rewrites,
    rewrite_item,
)
from friend_training.types import Dialogue, Rewrite, RewritingExample


def kind_of_text(rewrite: str, dialogue: Dialogue) -> str:
    """Whether u_t is changed at all."""
    return "unchanged" if rewrite == dialogue.utterance.text else "changed"


MainMetric = Literal["em", "restored_f1"]


class RewritingDefinition:
    """Section 4.1, 'Dialogue Rewriting'. Examples that edits cannot build are left out of training, never of tests.

    Iterations are compared by `main_metric`. Exact match is right where every utterance needs a rewrite: most
    characters of a rewrite are those of u_t, so ROUGE-L hardly moves (89.6 to 89.9 on the synthetic dialogues while
    exact match goes from 32 to 37). Where many need none it would keep the model that leaves everything as it is
    (RESTORATION: 40 EM, more than any method of the paper has); restored F1 does not.

    `context_turns` are the last so many turns before u_t, which are all that is seen. Whoever has learnt from dialogues
    of three turns, where what is missing mostly stands in the first, searches it in the oldest turn of longer ones.
    """

    name = "rewriting"
    label_type = Rewrite

    def __init__(
        self,
        *,
        encoder: str | Path,
        max_length: int = 125,
        span_source: SpanSource = "dialogue",
        scorer: Scorer = "dot",
        spans: SpanChoice = "apart",
        context_turns: int | None = None,
        main_metric: MainMetric = "em",
    ) -> None:
        self.main_metric: str = main_metric
        self.tokenizer = Tokenizer.load(encoder)
        self.max_length = max_length
        self.span_source = span_source
        self.scorer = scorer
        self.spans = spans
        self.context_turns = context_turns

    @property
    def identity(self) -> Mapping[str, Any]:
        return {
            "max_length": self.max_length,
            "span_source": self.span_source,
            "scorer": self.scorer,
            "spans": self.spans,
            "context_turns": self.context_turns,
            "main_metric": self.main_metric,
        }

    def network(self, encoder: Encoder) -> nn.Module:
        return Rewriter(encoder) if self.scorer == "dot" else BiaffineRewriter(encoder)

    def save(self, folder: Path) -> None:
        self.tokenizer.save(folder)

    def check(self, folder: Path) -> None:
        """Decisions are the same everywhere: any folder of this task will do."""

    def gold_items(self, examples: Sequence[RewritingExample]) -> list[RewriteItem]:
        scripts = [build_script(e.dialogue, e.rewrite, span_source=self.span_source) for e in examples]
        built = [(e.dialogue, script) for e, script in zip(examples, scripts, strict=True) if script is not None]
        return self._items([dialogue for dialogue, _ in built], [script for _, script in built], [1.0] * len(built))

    def pseudo_items(self, chosen: Sequence[PseudoLabel]) -> list[RewriteItem]:
        dialogues: list[Dialogue] = []
        for pseudo in chosen:
            assert isinstance(pseudo.input, Dialogue)
            dialogues.append(pseudo.input)
        weights = [pseudo.weight for pseudo in chosen]
        return self._items(dialogues, [pseudo.label for pseudo in chosen], weights)

    def input_items(self, inputs: Sequence[Dialogue]) -> list[RewriteItem]:
        return self._items(inputs, [None] * len(inputs), [1.0] * len(inputs))

    def _items(
        self, dialogues: Sequence[Dialogue], scripts: Sequence[Rewrite | None], weights: Sequence[float]
    ) -> list[RewriteItem]:
        rendered = render_all(
            dialogues,
            self.tokenizer,
            speakers=False,
            max_length=self.max_length,
            context_turns=self.context_turns,
        )
        rows = zip(dialogues, rendered, scripts, weights, strict=True)
        items = [rewrite_item(dialogue, layout, script, weight=weight) for dialogue, layout, script, weight in rows]
        return [item for item in items if item is not None]

    def inputs_of(self, examples: Sequence[RewritingExample]) -> list[Dialogue]:
        return [example.dialogue for example in examples]

    def units_in(self, example: RewritingExample) -> int:
        return 1

    def collate(self, items: Sequence[RewriteItem]) -> RewriteBatch:
        return collate_rewrites(items, self.tokenizer.pad_id, span_source=self.span_source)

    def decode(self, heads: Sequence[Head], batch: RewriteBatch) -> list[list[Prediction]]:
        decoded = decode_rewrites(heads, batch, self.spans)
        return [[_prediction(item.dialogue, *found)] for item, found in zip(batch.items, decoded, strict=True)]

    def n_best(self, heads: Sequence[Head], batch: RewriteBatch, k: int) -> list[list[list[Prediction]]]:
        ranked = ranked_rewrites(heads, batch, k)
        return [
            [[_prediction(item.dialogue, *one) for one in found]]
            for item, found in zip(batch.items, ranked, strict=True)
        ]

    def log_likelihood(
        self, heads: Sequence[Head], batch: RewriteBatch, labels: Sequence[Sequence[Sequence[Rewrite]]]
    ) -> list[list[list[float]]]:
        return [[of_unit] for of_unit in log_likelihood_of_rewrites(heads, batch, [units[0] for units in labels])]

    def texts(self, examples: Sequence[RewritingExample], predictions: Sequence[Sequence[Prediction]]) -> list[str]:
        """The rewritten utterances, as they are scored."""
        return [
            rewrite_or_utterance(e.dialogue, units[0].label) for e, units in zip(examples, predictions, strict=True)
        ]

    def score(self, examples: Sequence[RewritingExample], predictions: Sequence[Sequence[Prediction]]) -> Evaluation:
        """On all cases and, beside it, on those that edits can build: `buildable_em` and so on."""
        units = score_rewrites(self.texts(examples, predictions), examples)
        buildable = [unit for unit, e in zip(units, examples, strict=True) if _can_be_built(e, self.span_source)]
        whole, part = (Evaluation.of(some, RewritingScore()) for some in (units, buildable))
        metrics = {**whole, **{f"buildable_{name}": value for name, value in part.items()}}
        needed = [example.rewrite != example.dialogue.utterance.text for example in examples]
        return Evaluation(metrics, whole.counts, by_need(needed, [unit.exact for unit in units]))


def _prediction(dialogue: Dialogue, rewrite: Rewrite, confidence: float) -> Prediction:
    kind = kind_of_text(rewrite.text, dialogue)
    return Prediction(dialogue.id, rewrite, confidence, content=bool(rewrite.insertions), kind=kind)


def score_rewrites(texts: Sequence[str], gold: Sequence[RewritingExample]) -> list[RewritingScore]:
    """The counts of each rewrite."""
    return [RewritingScore.of(text, e.rewrite, e.dialogue.utterance.text) for text, e in zip(texts, gold, strict=True)]


@lru_cache(maxsize=100_000)  # early stopping scores the same dev examples again and again
def _can_be_built(example: RewritingExample, span_source: SpanSource) -> bool:
    return build_script(example.dialogue, example.rewrite, span_source=span_source) is not None


def rewriting_task(
    encoder: str | Path,
    settings: TrainingSettings,
    *,
    max_length: int = 125,
    span_source: SpanSource = "dialogue",
    scorer: Scorer = "dot",
    spans: SpanChoice = "apart",
    context_turns: int | None = None,
    main_metric: MainMetric = "em",
    device: str = AUTO,
) -> TorchTask:
    definition = RewritingDefinition(
        encoder=encoder,
        max_length=max_length,
        span_source=span_source,
        scorer=scorer,
        spans=spans,
        context_turns=context_turns,
        main_metric=main_metric,
    )
    return TorchTask(definition, encoder=encoder, settings=settings, device=device)


SETTINGS = TrainingSettings()


class Rewriting(TorchTask):
    """Rewriting of the last turn of dialogues of your own, so that it can be understood alone, for FriendTrainer.

    `encoder`, `gold`, `dev` and `test` are as those of `Csrl`, its friend, who must have the same encoder.
    """

    def __init__(
        self,
        *,
        encoder: str | Path,
        gold: Any = None,
        dev: Any = None,
        test: Any = None,
        span_source: SpanSource = "dialogue",
        insertion_spans: SpanChoice = "together",
        turns: int | None = None,
        metric: MainMetric = "em",
        max_length: int = 125,
        settings: TrainingSettings = SETTINGS,
        device: str = AUTO,
    ) -> None:
        self.examples = GivenExamples(gold, dev, test, dialogues="rewriting")
        definition = RewritingDefinition(
            encoder=encoder,
            max_length=max_length,
            span_source=span_source,
            spans=insertion_spans,
            context_turns=turns,
            main_metric=metric,
        )
        super().__init__(definition, encoder=encoder, settings=settings, device=device)
