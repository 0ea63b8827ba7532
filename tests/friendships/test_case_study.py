"""The appendix's case study (Table "Case study"), from its two predictions to its overall scores.

Given the table's confidences, every printed value within 0.011: some of them are cut off, some rounded.
"""

from collections.abc import Sequence

import numpy as np
import pytest

from friend_training.core.friendship import Match
from friend_training.core.selector import Scores, Selector, Threshold
from friend_training.core.task import Prediction
from friend_training.friendships.csrl_rewriting import RoleMatcher, csrl_rewriting
from friend_training.tasks.rewriting.edits import build_script
from friend_training.types import Argument, Dialogue, Predicate, Roles, Sentence, SentenceArgument, SentenceRoles, Turn

ACTRESS = "布蕾克·莱弗利"
CONTEXT = ("我有一个非常喜欢的女明星。", "她叫什么名字？", f"{ACTRESS}。", "她很有名吗？")
UTTERANCE = "她是一个非常受关注的女明星。"
REWRITTEN = f"{ACTRESS}是一个非常受关注的女明星。"
WHAT = "一个非常受关注的女明星"
CONFIDENCES, UTTERANCE_CONFIDENCE = (0.95, 0.54), 0.92
PRINTED = 0.011


def _argument(role: str, turn: int, text: str) -> Argument:
    start = (*CONTEXT, UTTERANCE)[turn].index(text)
    return Argument(role, turn, start, start + len(text))


class TableBridge:
    """Answers as the row SSRL of the table does."""

    name = "table"

    def label(self, sentences: Sequence[Sentence]) -> list[tuple[SentenceRoles, ...]]:
        (sentence,) = sentences
        assert sentence.text == REWRITTEN
        assert [sentence.text[p.start : p.end] for p in sentence.predicates] == ["是", "受"]
        answers = ({"ARG0": ACTRESS, "ARG1": WHAT}, {"ARG0": ACTRESS, "ARG1": "关注"})
        return [
            tuple(
                SentenceRoles(
                    predicate,
                    tuple(
                        SentenceArgument(role, REWRITTEN.index(text), REWRITTEN.index(text) + len(text))
                        for role, text in arguments.items()
                    ),
                )
                for predicate, arguments in zip(sentence.predicates, answers, strict=True)
            )
        ]


def _match(matcher: RoleMatcher) -> Match:
    turns = tuple(Turn("AB"[number % 2], text) for number, text in enumerate((*CONTEXT, UTTERANCE)))
    predicates = tuple(Predicate(UTTERANCE.index(verb), UTTERANCE.index(verb) + 1) for verb in "是受")
    dialogue = Dialogue("case", turns, predicates)
    csrl = [
        Roles(predicates[0], (_argument("ARG1", 4, WHAT),)),
        Roles(predicates[1], (_argument("ARG0", 2, ACTRESS), _argument("ARG1", 4, "关注"))),
    ]
    rewrite = build_script(dialogue, REWRITTEN, span_source="context")
    roles = [Prediction(str(k), label, c) for k, (label, c) in enumerate(zip(csrl, CONFIDENCES, strict=True))]
    rewrites = [Prediction("case", rewrite, UTTERANCE_CONFIDENCE)]
    (match,) = csrl_rewriting(TableBridge(), matcher).match([dialogue], [roles], [rewrites])
    return match


def _overall(confidences: Sequence[float], matches: Sequence[float | None]) -> list[float]:
    """s_k and r_t with the paper's α = β = 0.2, through the selector that training uses."""
    scores = Scores(
        unit=[str(k) for k in range(len(confidences))],
        confidence=np.array(confidences),
        match=np.array(matches, dtype=np.float64),
        content=np.ones(len(confidences), dtype=bool),
    )
    overall: list[float] = Selector(Threshold(0.6), confidence_weight=0.2).overall(scores).tolist()
    return overall


def test_every_printed_value() -> None:
    match = _match(RoleMatcher(mean="arithmetic"))
    assert match.first == pytest.approx((1 - 7 / 18, 1.0))
    assert match.first == pytest.approx((0.61, 1.0), abs=PRINTED)
    assert _overall(CONFIDENCES, match.first) == pytest.approx([0.67, 0.90], abs=PRINTED)
    assert match.second == pytest.approx((0.81,), abs=PRINTED)
    assert _overall([UTTERANCE_CONFIDENCE], match.second) == pytest.approx([0.83], abs=PRINTED)


def test_the_geometric_mean_as_the_text_prints_it() -> None:
    """Section 4.2 has the geometric mean: 0.78 where the table has 0.81."""
    match = _match(RoleMatcher(mean="geometric"))
    assert match.first == pytest.approx((0.61, 1.0), abs=PRINTED)
    assert match.second == pytest.approx(((1 - 7 / 18) ** 0.5,))
    assert match.second == pytest.approx((0.78,), abs=PRINTED)
    assert match.second != pytest.approx((0.81,), abs=PRINTED)


def test_by_confidence_alone_the_right_predicate_would_lose() -> None:
    """The table's point: 受 is right at confidence 0.54, 是 is not at 0.95."""
    right, wrong = 1, 0
    overall = _overall(CONFIDENCES, _match(RoleMatcher()).first)
    assert CONFIDENCES[right] < CONFIDENCES[wrong]
    assert overall[right] > overall[wrong]
