"""Rewriting and coreference as friends: what each says, when it abstains, and what it proposes."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from friend_training.core.friendship import Match, decide
from friend_training.core.task import FitPlan, Prediction
from friend_training.friendships.coreference_rewriting import coreference_rewriting, rewrite_of_links
from friend_training.nn.training import TrainingSettings
from friend_training.tasks.coreference.task import coreference_task, unit_of
from friend_training.tasks.rewriting.edits import (
    FUNCTION_WORDS,
    build_word_script,
    from_extended,
    with_function_words,
)
from friend_training.tasks.rewriting.word_task import word_rewriting_task
from friend_training.testing import check_friendship
from friend_training.types import CoreferenceExample, Dialogue, Link, Mention, Rewrite, RewritingExample, Turn

SETTINGS = TrainingSettings(batch_size=4, look_every=2)

GIVEN = Dialogue("d/turn3", (Turn("user", "Ring Ann Lee or Bob"), Turn("user", "is her number new , Ann ?")))
HER, NUMBER = Mention(1, 3, 6), Mention(1, 7, 13)
ANN, BOB = Mention(0, 5, 8), Mention(0, 16, 19)


def rewrite(text: str, given: Dialogue = GIVEN) -> list[Prediction]:
    script = build_word_script(with_function_words(given, FUNCTION_WORDS), text)
    assert script is not None
    return [Prediction(given.id, from_extended(script, given), 0.8, content=bool(script.insertions))]


def links(*found: Link) -> list[Prediction]:
    return [Prediction(unit_of(GIVEN, link.mention), link, 0.7, link.antecedent is not None) for link in found]


def match(first: list[Prediction], second: list[Prediction], *, merged: bool = False) -> Match:
    [found] = coreference_rewriting(merged=merged).match([GIVEN], [first], [second])
    return found


FULL = "is Ann Lee 's number new , Ann ?"


@pytest.mark.parametrize(("antecedent", "score"), [(ANN, 1.0), (Mention(0, 5, 12), 1.0), (BOB, 0.0), (None, 0.0)])
def test_an_edit_over_a_pronoun_is_a_link(antecedent: Mention | None, score: float) -> None:
    found = match(rewrite(FULL), links(Link(HER, antecedent), Link(NUMBER, None)))
    assert found == Match((score,), (score, None))


def test_a_pronoun_that_is_left_is_a_disagreement_unless_both_leave_it() -> None:
    left = rewrite(GIVEN.utterance.text)
    assert match(left, links(Link(HER, ANN))) == Match((0.0,), (0.0,))
    assert match(left, links(Link(HER, None))) == Match((1.0,), (1.0,))
    assert match(left, links(Link(HER, ANN)), merged=True) == Match((0.7,), (0.7,))


def test_a_friend_with_nothing_to_say_abstains() -> None:
    left = rewrite(GIVEN.utterance.text)
    assert match(left, links(Link(NUMBER, BOB))) == Match((None,), (None,))
    assert match(left, []) == Match((None,), ())


def test_links_propose_a_rewrite_and_a_rewrite_proposes_links() -> None:
    friends = coreference_rewriting(merged=True)
    own, said = rewrite(GIVEN.utterance.text), links(Link(HER, Mention(0, 5, 12)), Link(NUMBER, None))
    assert friends.propose_first is not None
    assert friends.propose_second is not None
    assert friends.merge_first is not None
    [[proposed]] = friends.propose_first([GIVEN], [own], [said])
    assert proposed is not None
    assert (proposed.label.text, proposed.confidence) == ("is Ann Lee's number new , Ann ?", 0.7)
    [[to_her, to_number]] = friends.propose_second([GIVEN], [said], [rewrite(FULL)])
    assert to_number is None
    assert to_her is not None
    assert to_her.label == Link(HER, Mention(0, 5, 12))
    [[merged]] = friends.merge_first([GIVEN], [own], [said])
    assert (merged.label, merged.confidence, merged.kind) == (proposed.label, 0.8, "changed")
    [[kept]] = friends.merge_first([GIVEN], [rewrite(FULL)], [links(Link(HER, BOB))])
    assert kept.label == rewrite(FULL)[0].label


def test_of_a_name_the_full_one_is_proposed() -> None:
    given = Dialogue("d", (Turn("user", "Ann Lee or Ann Roe ?"), Turn("user", "Lee .")))
    made = rewrite_of_links(given, [Link(Mention(1, 0, 3), Mention(0, 0, 7))])
    assert made.text == "Ann Lee."
    assert rewrite_of_links(given, []) == Rewrite("Lee .")


def test_the_friendship_conforms() -> None:
    said = [links(Link(HER, ANN), Link(NUMBER, None)), links(Link(HER, BOB))]
    check_friendship(
        coreference_rewriting(),
        inputs=[GIVEN, replace(GIVEN, id="e")],
        first=[rewrite(FULL), rewrite(FULL)],
        second=said,
        agreeing=[0],
    )


def test_labels_decided_on_together(tiny_encoder: Path) -> None:
    """With a heavy match an untrained rewriter takes what the link proposes; without any it keeps its own."""
    given = Dialogue("d/turn2", (Turn("A", "call ann"), Turn("B", "tell her")))
    ann, her = Mention(0, 5, 8), Mention(1, 5, 8)
    rewriter, linker = word_rewriting_task(tiny_encoder, SETTINGS), coreference_task(tiny_encoder, SETTINGS)
    rewriter.fit([RewritingExample(given, "tell her")], [], dev=[], plan=FitPlan(seed=1, steps=1))
    linker.fit([CoreferenceExample(given, ((ann, her),))], [], dev=[], plan=FitPlan(seed=1, steps=1))
    own, links = rewriter.predict([given]), [[Prediction(unit_of(given, her), Link(her, ann), 0.9)]]
    texts = []
    for weight in (0.0, 1000.0):
        friends = coreference_rewriting(joint=weight)
        assert friends.joint_first is not None
        tasks, said = {"rewriting": rewriter, "coreference": linker}, {"rewriting": own, "coreference": links}
        decided = decide("rewriting", [friends], tasks, [given], said)
        texts.append(decided[0][0].label.text)
    assert texts[1] == "tell ann"
    best = rewriter.n_best([given], 8)
    logs = rewriter.log_likelihood([given], [[[one.label for one in unit] for unit in units] for units in best])
    sure = [one.confidence for one in best[0][0]]
    assert [math.exp(value) for value in logs[0][0]] == pytest.approx(sure, abs=1e-6)
    assert texts[0] == best[0][0][0].label.text
    ranked = linker.n_best([given], 5)
    likely = linker.log_likelihood([given], [[[one.label for one in unit] for unit in units] for units in ranked])
    assert [math.exp(value) for value in likely[0][0]] == pytest.approx(
        [one.confidence for one in ranked[0][0]], abs=1e-6
    )
