from collections.abc import Sequence

import pytest

from friend_training.bridges.bridge import Frame, ParsedSentence, ParserBridge, word_spans, words_at
from friend_training.errors import DataError
from friend_training.types import Predicate, Sentence, SentenceArgument, SentenceRoles

TEXT = "他昨天刚看完书"
WORDS = ((0, 1), (1, 3), (3, 4), (4, 5), (5, 6), (6, 7))  # 他 昨天 刚 看 完 书


class OneParse:
    """Knows one text, where 看 is the only word with arguments."""

    name = "one-parse"

    def parse(self, texts: Sequence[str]) -> list[ParsedSentence]:
        arguments = (
            SentenceArgument("ARGM-TMP", 1, 3),
            SentenceArgument("ARGM-ADV", 3, 4),
            SentenceArgument("A1", 6, 7),
            SentenceArgument("A0", 0, 1),
        )
        return [ParsedSentence(text, WORDS, (), (Frame(3, arguments),)) for text in texts]


@pytest.mark.parametrize(
    ("predicate", "words"),
    [
        (Predicate(4, 5), [3]),  # the same span
        (Predicate(4, 6), [4, 3]),  # cut in two by the parser: from the last part
        (Predicate(2, 3), [1]),  # inside a longer word
        (Predicate(7, 8), []),  # beyond the parser's words
    ],
)
def test_words_at(predicate: Predicate, words: list[int]) -> None:
    assert words_at(predicate, WORDS) == words


def test_arguments_come_sorted_and_in_our_names_and_others_are_left_out() -> None:
    [answers] = ParserBridge(OneParse()).label([Sentence("a", TEXT, (Predicate(4, 5),))])
    arguments = (SentenceArgument("ARG0", 0, 1), SentenceArgument("ARG1", 6, 7), SentenceArgument("TMP", 1, 3))
    assert answers == (SentenceRoles(Predicate(4, 5), arguments),)


def test_a_predicate_cut_in_two_gets_the_part_with_arguments() -> None:
    [answers] = ParserBridge(OneParse()).label([Sentence("a", TEXT, (Predicate(4, 6),))])
    assert len(answers[0].arguments) == 3


def test_a_predicate_not_found_has_no_arguments_and_keeps_its_place() -> None:
    asked = (Predicate(6, 7), Predicate(4, 5), Predicate(7, 9))
    [answers] = ParserBridge(OneParse()).label([Sentence("a", TEXT, asked)])
    assert [answer.predicate for answer in answers] == list(asked)
    assert [len(answer.arguments) for answer in answers] == [0, 3, 0]


def test_word_spans_skip_white_space() -> None:
    assert word_spans(" 好 hello world吧", ["好 ", "hello world", "吧"]) == ((1, 2), (3, 14), (14, 15))


def test_repeated_words_are_found_in_order() -> None:
    assert word_spans("看看看", ["看", "看看"]) == ((0, 1), (1, 3))


def test_a_word_that_is_not_in_the_text_is_an_error() -> None:
    with pytest.raises(DataError, match="电影"):
        word_spans("看书", ["看", "电影"])
