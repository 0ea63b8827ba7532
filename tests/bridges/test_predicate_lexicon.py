"""Predicates by the words that were ones."""

from friend_training.bridges.bridge import LexiconFinder
from friend_training.data.synthetic import Domain, generate
from friend_training.types import Dialogue, Predicate, Turn


def test_the_longest_word_from_the_left() -> None:
    finder = LexiconFinder(["看", "看见", "见面", ""])
    assert finder.find(["我看见面了", "看看", "", "他"]) == [
        (Predicate(1, 3),),
        (Predicate(0, 1), Predicate(1, 2)),
        (),
        (),
    ]
    assert LexiconFinder([]).find(["看"]) == [()]


def test_words_are_learnt_from_what_dialogues_name() -> None:
    dialogue = Dialogue("1", (Turn("A", "看书"), Turn("B", "我喜欢看")), (Predicate(1, 3), Predicate(3, 4)))
    assert LexiconFinder.learn([dialogue]).words == {"喜欢", "看"}


def test_on_synthetic_dialogues_nearly_everything_is_found() -> None:
    seen, new = (generate(200, seed=seed, domain=Domain.FILM) for seed in (1, 2))
    finder = LexiconFinder.learn(one.dialogue for one in seen)
    gold = {(n, p) for n, one in enumerate(new) for p in one.dialogue.predicates}
    found = finder.find([one.dialogue.utterance.text for one in new])
    right = {(n, p) for n, some in enumerate(found) for p in some} & gold
    assert len(right) > 0.9 * len(gold)
    assert len(right) > 0.8 * sum(map(len, found))
