from collections.abc import Sequence

from friend_training.bridges.bridge import Frame, FramedVerbFinder, ParsedSentence, VerbFinder
from friend_training.types import Predicate, SentenceArgument

TEXT = "我想吃甜的面包"
WORDS = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 7))
TAGS = ("r", "v", "v", "a", "u", "n")


class OneSentence:
    """吃 (a verb) and 甜 (an adjective) have arguments, 想 (a verb) has none."""

    name = "one-sentence"

    def tag(self, texts: Sequence[str]) -> list[ParsedSentence]:
        return [ParsedSentence(text, WORDS, TAGS, ()) for text in texts]

    def parse(self, texts: Sequence[str]) -> list[ParsedSentence]:
        frames = (Frame(3, (SentenceArgument("A0", 5, 7),)), Frame(2, (SentenceArgument("ARGM-ADV", 1, 2),)))
        return [ParsedSentence(text, WORDS, TAGS, frames) for text in texts]


def test_every_verb_is_found_in_text_order() -> None:
    assert VerbFinder(OneSentence()).find([TEXT]) == [(Predicate(1, 2), Predicate(2, 3))]


def test_framed_verbs_need_a_role_of_any_name() -> None:
    assert FramedVerbFinder(OneSentence()).find([TEXT, TEXT]) == [(Predicate(2, 3),)] * 2


def test_no_texts() -> None:
    assert VerbFinder(OneSentence()).find([]) == []
