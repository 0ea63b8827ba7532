from collections import Counter
from pathlib import Path

import pytest

from friend_training.data.readers.emotions import (
    FeltUtterance,
    emotion_examples,
    few_shot,
    polarity_examples,
    read_cped_emotions,
    read_meld,
    split_by_dialogue,
)
from friend_training.data.splits import normalise
from friend_training.data.text_io import Problems
from friend_training.errors import DataError
from friend_training.friendships.polarity import CPED, MELD, POLARITIES
from friend_training.types import Text

MELD_HEADER = "Sr No.,Utterance,Speaker,Emotion,Sentiment,Dialogue_ID,Utterance_ID,Season,Episode,StartTime,EndTime\n"
MELD_FILE = (
    MELD_HEADER
    + '1,"Well, hello there!",Ann,joy,positive,0,0,1,2,"00:00:01,000","00:00:02,000"\n'
    + "2,Go away.,Bob,anger,negative,0,1,1,2,x,y\n"
    + '3,"It says ""open"".",Ann,neutral,neutral,1,0,1,2,x,y\n'
)
CPED_FILE = (
    "\ufeffTV_ID,Dialogue_ID,Utterance_ID,Speaker,Sentiment,Emotion,DA,Utterance\n"
    '9,9_000,9_000_000,甲,negative,astonished,question,"你说什么\n再说一遍"\n'
    "9,9_000,9_000_001,乙,positive,grateful,thank,多谢你啦\n"
)


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_meld(tmp_path):
    path = written(tmp_path / "train_sent_emo.csv", MELD_FILE)
    found = list(read_meld(path, Problems(path, strict=True)))
    assert found[0] == FeltUtterance(
        Text("train_sent_emo:0.0", "Well, hello there!"), "train_sent_emo:0", "positive", "joy"
    )
    assert [one.text.text for one in found] == ["Well, hello there!", "Go away.", 'It says "open".']
    assert polarity_examples(found)[1] == (found[1].text, "negative")
    assert emotion_examples(found)[1] == (found[1].text, "anger")


def test_cped(tmp_path):
    path = written(tmp_path / "test_split.csv", CPED_FILE)
    found = list(read_cped_emotions(path, Problems(path, strict=True)))
    assert [(one.text.id, one.polarity, one.emotion) for one in found] == [
        ("test_split:9_000.9_000_000", "negative", "astonished"),
        ("test_split:9_000.9_000_001", "positive", "grateful"),
    ]
    assert found[0].text.text == "你说什么\n再说一遍"


def test_wrong_lines_are_named_and_left_out(tmp_path):
    rows = "4,So?,Ann,happy,positive,2,0,1,2,x,y\n5,So?,Ann,joy,good,2,1,1,2,x,y\n6, ,Ann,joy,positive,2,2,1,2,x,y\n"
    path = written(tmp_path / "dev_sent_emo.csv", MELD_FILE + rows)
    problems = Problems(path)
    assert len(list(read_meld(path, problems))) == 3
    assert [problem.line for problem in problems.found] == [5, 6, 7]
    assert "emotion 'happy'; known are anger" in problems.found[0].message
    assert "sentiment 'good'; known are negative" in problems.found[1].message
    assert "needs a text" in problems.found[2].message


def test_another_header_is_refused(tmp_path):
    path = written(tmp_path / "x.csv", "Utterance,Mood\nhello,joy\n")
    with pytest.raises(DataError, match=r"x.csv:1: the header must name .*; Dialogue_ID, .*missing"):
        list(read_meld(path, Problems(path)))


def made(count: int, said: str = "text number") -> list[FeltUtterance]:
    return [
        FeltUtterance(Text(f"d{n // 4}.{n}", f"{said} {n} {n * 7919}"), f"d{n // 4}", "neutral", "neutral")
        for n in range(count)
    ]


def test_a_dialogue_stays_on_one_side():
    parts = split_by_dialogue(made(80), {"dev": 5, "rest": None})
    assert {name: len({one.dialogue for one in part}) for name, part in parts.items()} == {"dev": 5, "rest": 15}
    assert not {one.dialogue for one in parts["dev"]} & {one.dialogue for one in parts["rest"]}
    assert len(parts["dev"]) == 20


def test_gold_sets_and_pool_have_no_text_in_common():
    utterances = [*made(60), *made(40, "Said again"), *made(40, "said again!")]
    shot = few_shot(utterances, 15, pool=50, seed=3)
    sets = [shot.polarity_gold, shot.emotion_gold, shot.pool]
    said = [{normalise(one.text.text) for one in part} for part in sets]
    assert [len(part) for part in sets] == [15, 15, 50]
    assert not said[0] & said[1]
    assert not (said[0] | said[1]) & said[2]
    assert few_shot(utterances, 15, pool=50, seed=3) == shot
    assert few_shot(utterances, 15, pool=50, seed=4) != shot


def test_too_few_utterances_are_said():
    with pytest.raises(DataError, match=r"10 utterances give 8 different labelled ones and 2 for the pool; 8 and 5"):
        few_shot(made(10), 4, pool=5, seed=1)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("path", "utterances", "dialogues"),
    [
        ("emo_meld/train_sent_emo.csv.gz", 9989, 1038),
        ("emo_meld/dev_sent_emo.csv", 1109, 114),
        ("emo_meld/test_sent_emo.csv", 2610, 280),
        ("cped/valid_split.csv.gz", 11137, 934),
        ("cped/test_split.csv.gz", 27438, 2815),
    ],
)
def test_the_public_files(data_dir, path, utterances, dialogues):
    """The counts of SOURCE.txt; and a gold emotion always allows its gold polarity: the translation loses nothing."""
    meld = "meld" in path
    read = read_meld if meld else read_cped_emotions
    found = list(read(data_dir / path, Problems(data_dir / path, strict=True)))
    assert len(found) == utterances == len({one.text.id for one in found})
    assert len({one.dialogue for one in found}) == dialogues
    sets = MELD if meld else CPED
    assert all(POLARITIES[one.polarity] & sets[one.emotion] for one in found)
    assert set(Counter(one.polarity for one in found)) == set(POLARITIES)
