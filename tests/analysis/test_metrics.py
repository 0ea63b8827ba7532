"""The one list of metrics."""

import pytest

from friend_training.analysis.metrics import metric_spec


@pytest.mark.parametrize(
    ("name", "title", "higher"),
    [
        ("f1", "F1", True),
        ("csrl.f1", "F1", True),
        ("csrl.cross_f1", "F1 across", True),
        ("restored_f1", "restored F1", True),
        ("rewriting.wer", "WER", False),
        ("buildable_wer", "WER where buildable", False),
        ("tag_accuracy", "accuracy of tags", True),
        ("anything_else", "anything else", True),
    ],
)
def test_titles_and_directions(name: str, title: str, higher: bool) -> None:
    spec = metric_spec(name)
    assert (spec.title, spec.higher_is_better) == (title, higher)
    assert spec.title_and_direction == (title if higher else f"{title} (less is better)")
    assert spec.text(12.34) == "12.3"
