"""Edit scripts of words, the rewriter of words and its scores."""

from pathlib import Path

import pytest

from friend_training.core.task import PseudoLabel
from friend_training.nn.training import TrainingSettings
from friend_training.report.label_text import edits
from friend_training.tasks.rewriting.edits import (
    FUNCTION_WORDS,
    FUNCTION_WORDS_TURN,
    apply_word_script,
    build_word_script,
    from_extended,
    replacements,
    to_extended,
    with_function_words,
    word_label,
)
from friend_training.tasks.rewriting.metrics import WordScore, word_edits
from friend_training.tasks.rewriting.word_task import WordRewritingDefinition, word_rewriting_task
from friend_training.testing import check_task
from friend_training.types import Dialogue, Insertion, Rewrite, RewritingExample, Turn

SETTINGS = TrainingSettings(batch_size=4, encoder_rate=3e-3, head_rate=3e-3, look_every=4)


def dialogue(*texts: str) -> Dialogue:
    return Dialogue("d/turn1", tuple(Turn("user", text) for text in texts))


def test_scripts_are_of_whole_words_whatever_their_case() -> None:
    given = dialogue("Call Ann Lee", "tell her I'm late")
    script = build_word_script(given, "Tell ann lee I 'm late")
    assert script == Rewrite("tell Ann Lee I'm late", (5, 6, 7), (Insertion(5, 0, 5, 12),))
    assert replacements(script, given.utterance.text) == [((5, 8), Insertion(5, 0, 5, 12))]
    assert build_word_script(given, "tell Bob I'm late") is None


def test_function_words_may_be_inserted() -> None:
    given = dialogue("Is Ann there ?", "what is her number ?")
    assert build_word_script(given, "what is Ann 's number ?") is None
    extended = with_function_words(given, FUNCTION_WORDS)
    script = build_word_script(extended, "what is Ann 's number ?")
    assert script is not None
    assert script.text == "what is Ann's number ?"
    label = from_extended(script, given)
    assert [one.turn for one in label.insertions] == [0, FUNCTION_WORDS_TURN]
    assert to_extended(label, given) == script


def test_what_is_kept_keeps_its_blanks() -> None:
    given = dialogue("Ann", "Don't  call her, please")
    assert apply_word_script(given, Rewrite("")) == "Don't  call her, please"
    script = build_word_script(given, "Don't call Ann, please")
    assert script is not None
    assert script.text == "Don't  call Ann, please"


def test_rewriting_by_words_is_a_task(tiny_encoder: Path) -> None:
    gold = [
        RewritingExample(Dialogue(f"d{n}/turn2", (Turn("user", f"call {name}"), Turn("user", said))), rewrite)
        for n, (name, said, rewrite) in enumerate([("ann", "tell her", "tell ann"), ("bob", "thanks", "thanks")] * 6)
    ]
    check_task(
        lambda: word_rewriting_task(tiny_encoder, SETTINGS),
        gold=gold[:8],
        dev=gold[8:],
        inputs=[one.dialogue for one in gold[:4]],
        steps=8,
    )


def test_gold_and_its_own_label_are_the_same_item(tiny_encoder: Path) -> None:
    definition = WordRewritingDefinition(encoder=tiny_encoder)
    given = dialogue("is ann there", "what is her number")
    [gold] = definition.gold_items([RewritingExample(given, "what is ann 's number")])
    script = build_word_script(with_function_words(given, FUNCTION_WORDS), "what is ann 's number")
    assert script is not None
    [pseudo] = definition.pseudo_items([PseudoLabel(given, "d", from_extended(script, given))])
    assert gold.targets is not None
    assert pseudo.targets is not None
    assert [values.tolist() for values in gold.targets] == [values.tolist() for values in pseudo.targets]
    keep, first, _, rewrite = gold.targets
    assert keep.tolist() == [1, 1, 0, 1]
    assert (first > 0).tolist() == [False, False, True, True, False]
    assert rewrite.tolist() == [1]


@pytest.mark.parametrize(("unless_sure", "text"), [(0.5, "tell ann"), (0.8, "tell her")])
def test_an_unsure_rewrite_leaves_the_utterance(tiny_encoder: Path, unless_sure: float, text: str) -> None:
    definition = WordRewritingDefinition(encoder=tiny_encoder, unless_sure=unless_sure)
    [item] = definition.input_items([dialogue("call ann", "tell her")])
    found = definition._prediction(item, Rewrite("tell ann"), 0.9, 0.7)
    assert found.label.text == text
    assert found.confidence == pytest.approx(0.63 if unless_sure == 0.5 else 0.1)


def test_scores_of_words() -> None:
    assert word_edits(["call", "her", "now"], ["call", "ann", "lee", "now"]) == [(1, 2, ("ann", "lee"))]
    units = [
        WordScore.of("Call Ann.", "call ann", "call her"),
        WordScore.of("call bob", "call ann", "call her"),
        WordScore.of("thank you", "thanks", "thanks"),
        WordScore.of("didn't", "did n't", "didn't"),
    ]
    found = sum(units, start=WordScore()).as_dict()
    assert found["em"] == 50
    assert found["needed_em"] == 50
    assert found["changed"] == 75
    assert found["changed_precision"] == pytest.approx(100 / 3)
    assert (found["edit_precision"], found["edit_recall"]) == (pytest.approx(100 / 3), 50)


def test_function_words_are_drawn_as_what_is_inserted() -> None:
    given = dialogue("Is Ann there ?", "what is her number ?")
    label = word_label(RewritingExample(given, "what is Ann 's number ?"))
    assert label is not None
    assert [(piece.kind, piece.text) for piece in edits(given, label)] == [
        ("kept", "what is "),
        ("inserted", "Ann"),
        ("deleted", "her"),
        ("kept", " "),
        ("inserted", "'s"),
        ("kept", "number ?"),
    ]
