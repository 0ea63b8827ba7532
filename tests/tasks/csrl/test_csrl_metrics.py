import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from friend_training.core.task import PRF
from friend_training.tasks.csrl.metrics import (
    CsrlScore,
    argument_string,
    f1_overall_of,
    role_strings,
    score,
    unit_counts,
)
from friend_training.types import ROLES, Argument, Dialogue, Predicate, Roles, Turn

DIALOGUE = Dialogue("d", (Turn("human", "王芳来了吗"), Turn("agent", "王芳没来"), Turn("human", "她昨天也没来")))
COME = Predicate(5, 6)


def roles(*arguments: Argument) -> Roles:
    return Roles(COME, tuple(sorted(arguments)))


def test_within_and_across_turns() -> None:
    gold = roles(Argument("ARG0", 1, 0, 2), Argument("TMP", 2, 1, 3), Argument("ARG1", 2, 0, 1))
    predicted = roles(Argument("ARG0", 0, 0, 2), Argument("TMP", 2, 1, 3), Argument("ARG2", 2, 0, 1))
    counts = score([predicted], [gold], [DIALOGUE])
    assert counts.within == PRF(correct=1, predicted=2, gold=2)
    assert counts.cross == PRF(correct=0, predicted=1, gold=1)
    assert counts.overall == PRF(correct=1, predicted=3, gold=3)
    # 王芳 of the other turn reads the same.
    assert counts.string == PRF(correct=2, predicted=3, gold=3)
    expected = {"": 100 / 3, "within_": 50, "cross_": 0, "string_": 200 / 3}
    assert counts.as_dict() == pytest.approx(
        {prefix + name: value for prefix, value in expected.items() for name in ("precision", "recall", "f1")}
    )


def test_the_speaker_token_of_the_utterance_is_within_it() -> None:
    own, other = Argument("ARG0", 2, -1, 0), Argument("ARG0", 1, -1, 0)
    assert score([roles(own)], [roles(own)], [DIALOGUE]).within == PRF(1, 1, 1)
    assert score([roles(other)], [roles(other)], [DIALOGUE]).cross == PRF(1, 1, 1)


def test_speaker_tokens_read_as_names() -> None:
    assert argument_string(Argument("ARG0", 2, -1, 0), DIALOGUE) == "human"
    assert argument_string(Argument("ARG0", -1, -1, 0), DIALOGUE) == "agent"
    assert argument_string(Argument("ARG0", 0, -1, 2), DIALOGUE) == "human王芳"
    alone = Dialogue("d", (Turn("human", "来"),))
    assert argument_string(Argument("ARG0", -1, -1, 0), alone) != "human"
    # The same speaker's token in another turn is another span but the same string.
    counts = score([roles(Argument("ARG0", 0, -1, 0))], [roles(Argument("ARG0", 2, -1, 0))], [DIALOGUE])
    assert (counts.overall.correct, counts.string.correct) == (0, 1)


def test_two_spans_of_a_role_both_count_but_give_one_string() -> None:
    first, second = Argument("ARG0", 0, 0, 2), Argument("ARG0", 2, 0, 1)
    assert role_strings(roles(first, second), DIALOGUE) == {"ARG0": "王芳"}
    counts = score([roles(first, second)], [roles(first)], [DIALOGUE])
    assert counts.overall == PRF(correct=1, predicted=2, gold=1)
    assert counts.string == PRF(correct=1, predicted=1, gold=1)


def test_touching_spans_read_as_one_string() -> None:
    whole = roles(Argument("ARG0", 0, 0, 2))
    halves = roles(Argument("ARG0", 0, 0, 1), Argument("ARG0", 0, 1, 2))
    assert role_strings(halves, DIALOGUE) == role_strings(whole, DIALOGUE) == {"ARG0": "王芳"}


def test_no_arguments() -> None:
    assert score([roles()], [roles()], [DIALOGUE]) == CsrlScore()
    assert unit_counts([], [], []).shape == (0, 12)


arguments = st.builds(
    lambda role, turn, start, size: Argument(role, turn, start, start + size),
    st.sampled_from(ROLES[:3]),
    st.integers(0, 2),
    st.integers(-1, 2),
    st.integers(1, 2),
)
labels = st.sets(arguments, max_size=4).map(lambda chosen: roles(*chosen))


@given(st.lists(st.tuples(labels, labels), min_size=1, max_size=5))
def test_counts_of_parts_add_up(cases: list[tuple[Roles, Roles]]) -> None:
    predicted, gold, dialogues = [p for p, _ in cases], [g for _, g in cases], [DIALOGUE] * len(cases)
    whole = score(predicted, gold, dialogues)
    assert whole.overall == whole.within + whole.cross
    assert whole == score(predicted[:2], gold[:2], dialogues[:2]) + score(predicted[2:], gold[2:], dialogues[2:])
    rows = unit_counts(predicted, gold, dialogues)
    both = np.stack([rows.sum(0), np.zeros(12)])
    np.testing.assert_allclose(f1_overall_of(both), [whole.as_dict()["f1"], 0])


@given(labels)
def test_gold_against_itself_is_perfect(label: Roles) -> None:
    counts = score([label], [label], [DIALOGUE])
    assert counts.overall.correct == counts.overall.gold == len(label.arguments)
    assert counts.string.correct == counts.string.gold == len({argument.role for argument in label.arguments})
