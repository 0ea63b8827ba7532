"""Dialogue rewriting as a task of the core."""

from pathlib import Path

from friend_training.nn.devices import AUTO
from friend_training.nn.torch_task import TorchTask
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.rewriting.biaffine import Scorer
from friend_training.tasks.rewriting.decoding import SpanChoice
from friend_training.tasks.rewriting.definition import MainMetric, RewritingDefinition
from friend_training.tasks.rewriting.edits import SpanSource


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
