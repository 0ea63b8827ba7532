import random
from pathlib import Path

import pytest

from friend_training.bridges import ltp
from friend_training.bridges.bridge import ParserBridge
from friend_training.bridges.ltp import LtpParser
from friend_training.errors import FriendTrainingError
from friend_training.types import Predicate, Sentence
from helpers.tiny_ltp import CHARACTERS, POS, save_tiny_ltp


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> LtpParser:
    return LtpParser.load(save_tiny_ltp(tmp_path_factory.mktemp("models") / "ltp"))


def some_texts(count: int) -> list[str]:
    rng = random.Random(5)
    return ["".join(rng.choices(CHARACTERS, k=rng.randint(1, 20))) for _ in range(count)]


def test_a_batch_says_what_one_text_at_a_time_says(parser: LtpParser, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = some_texts(60)
    together = parser.parse(texts)
    assert [sentence.text for sentence in together] == texts
    assert together == [parser.parse([text])[0] for text in texts]
    monkeypatch.setattr(ltp, "TOKENS_PER_BATCH", 50)
    assert parser.parse(texts) == together


def test_words_cut_the_text_and_frames_stay_inside(parser: LtpParser) -> None:
    frames = 0
    for sentence in parser.parse(some_texts(60)):
        assert "".join(sentence.word_text(i) for i in range(len(sentence.words))) == sentence.text
        assert len(sentence.pos) == len(sentence.words)
        assert set(sentence.pos) <= set(POS)
        for frame in sentence.frames:
            assert frame.arguments
            assert 0 <= frame.word < len(sentence.words)
            assert all(0 <= a.start < a.end <= len(sentence.text) for a in frame.arguments)
            frames += 1
    assert 0 < frames < sum(len(sentence.words) for sentence in parser.parse(some_texts(60)))


def test_as_a_bridge_it_answers_as_from_a_full_parse(parser: LtpParser) -> None:
    rng = random.Random(6)
    sentences = []
    for i, text in enumerate(some_texts(60)):
        starts = sorted(rng.sample(range(len(text)), k=min(2, len(text))))
        predicates = tuple(Predicate(start, min(len(text), start + rng.randint(1, 3))) for start in starts)
        sentences.append(Sentence(str(i), text, predicates))
    answers = parser.label(sentences)
    assert answers == ParserBridge(parser).label(sentences)
    assert any(roles.arguments for answer in answers for roles in answer)


def test_tagging_gives_words_and_tags_alone(parser: LtpParser) -> None:
    texts = some_texts(10)
    parsed, tagged = parser.parse(texts), parser.tag(texts)
    assert [(s.words, s.pos) for s in tagged] == [(s.words, s.pos) for s in parsed]
    assert all(not sentence.frames for sentence in tagged)
    assert any(sentence.frames for sentence in parsed)


def test_nothing_to_read(parser: LtpParser) -> None:
    assert parser.parse([]) == []
    assert [sentence.words for sentence in parser.parse(["", " ", "我"])] == [(), (), ((0, 1),)]


def test_spaces_belong_to_no_word_and_pieces_of_a_latin_word_have_their_places(parser: LtpParser) -> None:
    [sentence] = parser.parse(["我 hello 你"])
    covered = {i for start, end in sentence.words for i in range(start, end)}
    assert {0, 2, 3, 4, 5, 6, 8} <= covered
    assert sentence.words[0][0] == 0
    assert sentence.words[-1][1] == 9


def test_a_text_beyond_the_encoders_reach_is_read_up_to_there(parser: LtpParser) -> None:
    [sentence] = parser.parse(["我你他" * 20])
    assert sentence.words[-1][1] == 22  # 24 positions, [CLS] and [SEP] among them
    [[roles]] = parser.label([Sentence("a", "我你他" * 20, (Predicate(50, 51),))])
    assert roles.arguments == ()


def test_a_folder_without_the_files_is_named(tmp_path: Path) -> None:
    with pytest.raises(FriendTrainingError, match=r"task_heads\.safetensors"):
        LtpParser.load(tmp_path)
