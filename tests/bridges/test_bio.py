import pytest

from friend_training.bridges.ltp import labelled_spans


@pytest.mark.parametrize(
    ("labels", "spans"),
    [
        ("", []),
        ("O O", []),
        ("B-A0 I-A0 O B-A1", [("A0", 0, 2), ("A1", 3, 4)]),
        ("B-A0 B-A0", [("A0", 0, 1), ("A0", 1, 2)]),
        ("O I-A0 I-A0", [("A0", 1, 3)]),
        ("B-A0 I-A1 I-A1 O", [("A0", 0, 1), ("A1", 1, 3)]),
    ],
)
def test_spans(labels: str, spans: list[tuple[str, int, int]]) -> None:
    assert list(labelled_spans(labels.split())) == spans
