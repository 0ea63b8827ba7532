"""Utterances labelled with an emotion and a polarity: MELD (English) and CPED (Chinese), both as CSV.

Both label every utterance twice, and by one scheme: an emotion has its polarity (joy is positive, anger negative),
except MELD's surprise, which is positive or negative as the case may be. So the two labels make a pair of friends
whose gold is known in full, and from which each task is given only its own.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from friend_training.data.splits import SPLIT_SEED, normalise, split
from friend_training.data.text_io import Problems, check_texts, csv_rows
from friend_training.errors import DataError
from friend_training.types import Dialogue, Text, Turn

POLARITIES = ("negative", "neutral", "positive")
MELD_EMOTIONS = ("anger", "disgust", "fear", "joy", "neutral", "sadness", "surprise")
CPED_EMOTIONS = (
    *("anger", "astonished", "depress", "disgust", "fear", "grateful", "happy"),
    *("negative-other", "neutral", "positive-other", "relaxed", "sadness", "worried"),
)
_COLUMNS = ("Dialogue_ID", "Utterance_ID", "Utterance", "Emotion", "Sentiment")


@dataclass(frozen=True, slots=True)
class FeltUtterance:
    """An utterance with both labels; `dialogue` says which utterances must stay on one side of a split."""

    text: Text
    dialogue: str
    polarity: str
    emotion: str


def read_meld(path: str | Path, problems: Problems) -> Iterator[FeltUtterance]:
    """MELD: train_sent_emo.csv and the like. Dialogue numbers begin anew in each file, so ids begin with its name."""
    return _read(path, problems, MELD_EMOTIONS)


def read_cped_emotions(path: str | Path, problems: Problems) -> Iterator[FeltUtterance]:
    """CPED: valid_split.csv, test_split.csv. (`chat.read_cped` reads the same files as dialogues without labels.)"""
    return _read(path, problems, CPED_EMOTIONS)


def polarity_examples(utterances: Sequence[FeltUtterance]) -> list[tuple[Text, str]]:
    return [(one.text, one.polarity) for one in utterances]


def emotion_examples(utterances: Sequence[FeltUtterance]) -> list[tuple[Text, str]]:
    return [(one.text, one.emotion) for one in utterances]


def split_by_dialogue(
    utterances: Sequence[FeltUtterance], sizes: Mapping[str, int | None], *, seed: int = SPLIT_SEED
) -> dict[str, list[FeltUtterance]]:
    """Parts of so many dialogues; None takes the rest. Dialogues that are nearly the same stay together (split.py)."""
    turns: dict[str, list[Turn]] = {}
    for one in utterances:
        turns.setdefault(one.dialogue, []).append(Turn("", one.text.text))
    parts = split([Dialogue(name, tuple(spoken)) for name, spoken in turns.items()], sizes, seed=seed)
    side = {dialogue.id: name for name, dialogues in parts.items() for dialogue in dialogues}
    found: dict[str, list[FeltUtterance]] = {name: [] for name in sizes}
    for one in utterances:
        if one.dialogue in side:
            found[side[one.dialogue]].append(one)
    return found


@dataclass(frozen=True, slots=True)
class FewShot:
    """So many labelled utterances for each task, and the rest, whose labels nobody may see."""

    polarity_gold: tuple[FeltUtterance, ...]
    emotion_gold: tuple[FeltUtterance, ...]
    pool: tuple[FeltUtterance, ...]


def few_shot(utterances: Sequence[FeltUtterance], labels: int, *, pool: int, seed: int) -> FewShot:
    """Draw gold for either task, and a pool of the others.

    The three are disjoint, and not only as utterances: people say "No!" again and again, and what one task has seen
    with its label must not come back as the other's, or as a pseudo-label that cannot be wrong.
    """
    drawn = list(utterances)
    random.Random(seed).shuffle(drawn)
    gold: list[FeltUtterance] = []
    seen: set[str] = set()
    rest: list[FeltUtterance] = []
    for one in drawn:
        said = normalise(one.text.text) or one.text.text
        if len(gold) < 2 * labels and said not in seen:
            gold.append(one)
            seen.add(said)
        elif said not in seen:
            rest.append(one)
    if len(gold) < 2 * labels or len(rest) < pool:
        raise DataError(
            f"{len(utterances)} utterances give {len(gold)} different labelled ones and {len(rest)} for the pool;"
            f" {2 * labels} and {pool} were asked for"
        )
    return FewShot(tuple(gold[:labels]), tuple(gold[labels:]), tuple(rest[:pool]))


def _read(path: str | Path, problems: Problems, emotions: Sequence[str]) -> Iterator[FeltUtterance]:
    source = Path(path).name.split(".")[0]
    for row in csv_rows(path, problems, _COLUMNS):
        found = None
        with problems.skipping(row.line):
            check_texts((row.cells["Utterance"],), problems.limits)
            found = _utterance(row.cells, source, emotions)
        if found is not None:
            yield found


def _utterance(row: Mapping[str, str], source: str, emotions: Sequence[str]) -> FeltUtterance:
    dialogue, number, said, emotion, polarity = (row[column].strip() for column in _COLUMNS)
    if not dialogue or not said:
        raise DataError("an utterance needs a text and the number of its dialogue")
    if emotion not in emotions:
        raise DataError(f"emotion {emotion!r}; known are {', '.join(emotions)}")
    if polarity not in POLARITIES:
        raise DataError(f"sentiment {polarity!r}; known are {', '.join(POLARITIES)}")
    name = f"{source}:{dialogue}"
    return FeltUtterance(Text(f"{name}.{number}", said), name, polarity, emotion)
