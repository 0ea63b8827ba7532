"""Labels made of repetitions: what is replaced, what is put back, and what is left alone."""

from friend_training.tasks.repetitions import repeated_links, repeated_rewrites, repetitions
from friend_training.types import Dialogue, Turn


def dialogues(*last: str, count: int = 60) -> list[Dialogue]:
    before = Turn("A", "Who sent the message to Ann Lee ?")
    return [Dialogue(f"d{n}", (before, Turn("B", last[n % len(last)]))) for n in range(count)]


def test_a_phrase_said_before_is_replaced_or_left_out() -> None:
    made = {one.dialogue.utterance.text for one in repetitions(dialogues("Call Ann Lee now"), most=40, seed=1)}
    assert made - {"Call Ann Lee now"} <= {"Call him now", "Call her now", "Call them now", "Call it now", "Call now"}
    assert len(made) > 3


def test_the_article_goes_along_and_the_preposition_of_what_is_left_out() -> None:
    made = {one.dialogue.utterance.text for one in repetitions(dialogues("Reply to the message"), most=40, seed=1)}
    assert "Reply to it" in made
    assert "Reply" in made
    assert not any("the it" in text for text in made)


def test_verbs_and_what_was_not_said_before_are_left_alone() -> None:
    made = repetitions(dialogues("Say who sent flowers", "Play some music"), most=40, seed=1)
    assert {one.dialogue.utterance.text for one in made} <= {"Say who sent flowers", "Play some music"}


def test_rewrites_put_back_what_was_written_and_links_say_where_it_stood() -> None:
    given = dialogues("Call Ann Lee now", "Say who sent flowers")
    rewrites = repeated_rewrites(given, most=40, seed=1)
    changed = [one for one in rewrites if one.rewrite != one.dialogue.utterance.text]
    assert {one.rewrite for one in changed} == {"Call Ann Lee now"}
    assert 0.5 < len(changed) / len(rewrites) < 0.7
    links = repeated_links(given, most=40, seed=1)
    assert 0 < len(links) < len(changed), "what was left out has no mention"
    for one in links:
        [(antecedent, pronoun)] = one.clusters
        turns = one.dialogue.turns
        assert turns[antecedent.turn].text[antecedent.start : antecedent.end] == "Ann Lee"
        assert turns[pronoun.turn].text[pronoun.start : pronoun.end] in {"him", "her", "them", "it"}


def test_the_seed_draws() -> None:
    given = dialogues("Call Ann Lee now")
    first, again, other = (repetitions(given, most=40, seed=seed) for seed in (1, 1, 2))
    assert first == again != other
