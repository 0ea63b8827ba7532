"""What the rewriting task reports."""

from pathlib import Path

from friend_training.core.task import Prediction
from friend_training.tasks.rewriting.task import RewritingDefinition
from friend_training.types import Dialogue, Rewrite, RewritingExample, Turn


def test_scores_on_buildable_cases_stand_beside_those_on_all(tiny_encoder: Path) -> None:
    definition = RewritingDefinition(encoder=tiny_encoder)
    dialogue = Dialogue("d", (Turn("A", "小明来了"), Turn("B", "他走了")))
    examples = [RewritingExample(dialogue, "小明走了"), RewritingExample(dialogue, "XYZ走了")]  # XYZ stands nowhere
    said = [[Prediction("d", Rewrite("小明走了"), 1.0)]] * 2
    metrics = definition.score(examples, said)
    assert metrics["em"] == 50
    assert metrics["buildable_em"] == 100
    assert metrics["buildable_wer"] == 0 < metrics["wer"]


def test_a_rewrite_that_deletes_everything_is_scored_as_the_utterance_it_is_written_as(tiny_encoder: Path) -> None:
    dialogue = Dialogue("d", (Turn("A", "小明来了"), Turn("B", "好的")))
    said = [[Prediction("d", Rewrite(""), 1.0)]]
    assert RewritingDefinition(encoder=tiny_encoder).score([RewritingExample(dialogue, "好的")], said)["em"] == 100
