"""A pool whose gold is known never holds what a run learns from."""

import pytest

from friend_training.core.task import Prediction
from friend_training.data import synthetic
from friend_training.errors import ConfigError
from friend_training.study.data import draw_predicates, left_over
from friend_training.study.run_data import draw_examples, hidden_gold
from friend_training.tasks.csrl.model import unit_id
from friend_training.types import Rewrite, dialogue_group

MADE = synthetic.generate(80, seed=5, domain=synthetic.Domain.FILM)
CSRL = [example for example in synthetic.csrl_examples(MADE[:40]) if example.roles]
REWRITING = synthetic.rewriting_examples(MADE[40:])


def drawn(count, seed=1):
    csrl, rewriting = draw_predicates(CSRL, 5, seed=seed), draw_examples(REWRITING, 5, seed=seed)
    return csrl, rewriting, left_over(CSRL, REWRITING, csrl_gold=csrl, rewriting_gold=rewriting, count=count, seed=3)


def test_gold_is_not_in_it():
    csrl, rewriting, (for_csrl, for_rewriting) = drawn(40)
    assert (len(for_csrl), len(for_rewriting)) == (20, 20)
    learnt = {dialogue_group(example.dialogue.id) for example in csrl}
    assert learnt.isdisjoint(dialogue_group(example.dialogue.id) for example in for_csrl)
    assert {e.dialogue.id for e in rewriting}.isdisjoint(e.dialogue.id for e in for_rewriting)
    assert drawn(40)[2] == (for_csrl, for_rewriting)


def test_there_must_be_enough():
    with pytest.raises(ConfigError, match="500 labelled dialogues are asked for"):
        drawn(500)


def test_its_gold_knows_right_from_wrong_and_what_it_does_not_know():
    audit = hidden_gold({"csrl": CSRL, "rewriting": REWRITING})
    label = CSRL[0].roles[0]
    unit = unit_id(CSRL[0].dialogue.id, label.predicate)
    assert audit("csrl", Prediction(unit, label, 0.5)) is True
    assert audit("csrl", Prediction(unit, type(label)(label.predicate, ()), 0.5)) is (not label.arguments)
    assert audit("csrl", Prediction("elsewhere|1-2", label, 0.5)) is None
    assert audit("rewriting", Prediction(REWRITING[0].dialogue.id, Rewrite(REWRITING[0].rewrite), 0.5)) is True
    assert audit("rewriting", Prediction(REWRITING[0].dialogue.id, Rewrite("别的"), 0.5)) is False
    assert audit("rewriting", Prediction("elsewhere", Rewrite("别的"), 0.5)) is None
