"""Chats without labels: LCCC, XDailyDialog (Chinese), CPED, CORECODE, KdConv and DuConv's own dialogues.

Two-party corpora that name no speakers alternate A, B, A, …; empty utterances are left out after that.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from friend_training.core.limits import exceeds
from friend_training.data.text_io import (
    Problems,
    check_texts,
    csv_rows,
    innermost_lists,
    listed_objects,
    numbered_lines,
    parse_json,
)
from friend_training.errors import DataError
from friend_training.types import Dialogue, Turn


def read_lccc(path: str | Path, problems: Problems) -> Iterator[Dialogue]:
    """LCCC: JSON, a dialogue is a list of utterances, an utterance has spaces between its characters."""
    for number, utterances in enumerate(innermost_lists(path, problems.limits), start=1):
        if utterances and _all_text(utterances):
            yield from _dialogue("lccc", number, _alternating(map(close_up, utterances)), problems)
        else:
            problems.report(number, "the dialogue of this number is no list of utterances")


def read_xdailydialog(path: str | Path, problems: Problems) -> Iterator[Dialogue]:
    """XDailyDialog: utterances parted by __eou__; what stands behind a tab (topic, acts, emotions) is not text."""
    for number, line in numbered_lines(path, problems):
        if "__eou__" in line:
            utterances = line.split("\t")[0].split("__eou__")
            yield from _dialogue("xdailydialog", number, _alternating(utterances), problems)
        else:
            problems.report(number, "no __eou__ in the line")


def read_duconv_raw(path: str | Path, problems: Problems) -> Iterator[Dialogue]:
    """DuConv without labels: {"conversation": [utterance, …]} per line, words parted by spaces."""
    for number, utterances in _json_field(path, problems, "conversation"):
        spoken = [tuple(utterance.split(" ")) for utterance in utterances]
        turns = (Turn("AB"[i % 2], "".join(words), words) for i, words in enumerate(spoken))
        yield from _dialogue("duconv-raw", number, turns, problems)


def read_corecode(path: str | Path, problems: Problems) -> Iterator[Dialogue]:
    """CORECODE: {"dialogue": ["A: …", "B: …"], …} per line. A dialogue recurs with every question asked about it."""
    for number, utterances in _json_field(path, problems, "dialogue"):
        parted = [utterance.partition(":") for utterance in utterances]
        if all(colon for _, colon, _ in parted):
            turns = (Turn(speaker.strip(), text.strip()) for speaker, _, text in parted)
            yield from _dialogue("corecode", number, turns, problems)
        else:
            problems.report(number, "a turn does not begin with its speaker and a colon")


def read_kdconv(path: str | Path, problems: Problems) -> Iterator[Dialogue]:
    """KdConv: a JSON list of {"messages": [{"message": text, …}, …], …}; the knowledge triples are not read."""
    for number, item in enumerate(listed_objects(path, problems.limits), start=1):
        messages = item.get("messages")
        given = messages if isinstance(messages, list) else []
        utterances: list[Any] = [message.get("message") if isinstance(message, dict) else None for message in given]
        if utterances and _all_text(utterances):
            yield from _dialogue("kdconv", number, _alternating(utterances), problems)
        else:
            problems.report(number, "the dialogue of this number has no list of messages")


def read_cped(path: str | Path, problems: Problems) -> Iterator[Dialogue]:
    """CPED: CSV, one utterance per row. What one speaker says in a row is one turn, joined by a space: this corpus
    has no punctuation and writes pauses that way. A few dialogues have three speakers or more; they keep them."""
    rows = csv_rows(path, problems, ("Dialogue_ID", "Speaker", "Utterance"))
    for name, group in groupby(rows, key=lambda row: row.cells["Dialogue_ID"]):
        said: list[tuple[str, str]] = []
        size, line = 0, 0
        for row in group:
            said.append((row.cells["Speaker"], row.cells["Utterance"].strip()))
            line = row.line
            size += len(said[-1][0]) + len(said[-1][1]) + 1
            if size > problems.limits.line:
                message = f"a dialogue of more than {problems.limits.line:,} characters"
                raise DataError(f"{message}; {exceeds('line', problems.limits.line)}", path=path, line=line)
        turns = [
            Turn(speaker, " ".join(filter(None, (text for _, text in spoken))))
            for speaker, spoken in groupby(said, key=lambda pair: pair[0])
        ]
        yield from _dialogue("cped", name, turns, problems, line=line)


def close_up(spaced: str) -> str:
    """The text of an utterance whose characters are parted by spaces.

    Chinese stands without spaces, and single letters in a row are one word. A space is kept between Latin words or
    numbers that were written whole, and where the text had a space of its own (three in a row).
    """
    text, before, gap = "", "", False
    for token in spaced.strip().split(" "):
        if not token:
            gap = True
            continue
        whole = gap or len(before) > 1 or len(token) > 1
        text += f" {token}" if before and whole and _latin(before[-1]) and _latin(token[0]) else token
        before, gap = token, False
    return text


def _latin(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _alternating(utterances: Iterable[str]) -> Iterator[Turn]:
    return (Turn("AB"[i % 2], utterance.strip()) for i, utterance in enumerate(utterances))


def _dialogue(
    corpus: str, name: int | str, turns: Iterable[Turn], problems: Problems, *, line: int | None = None
) -> Iterator[Dialogue]:
    """The dialogue, unless nobody says anything in it."""
    spoken = tuple(turn for turn in turns if turn.text)
    fits = False
    with problems.skipping(name if isinstance(name, int) else line or 0):
        if not spoken:
            raise DataError("a dialogue without any text")
        check_texts((text for turn in spoken for text in (turn.speaker, turn.text)), problems.limits)
        fits = True
    if fits:
        yield Dialogue(f"{corpus}:{name}", spoken)


def _json_field(path: str | Path, problems: Problems, field: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in numbered_lines(path, problems):
        utterances = None
        with problems.skipping(number):
            utterances = _utterances(parse_json(line, problems.limits), field)
        if utterances is not None:
            yield number, utterances


def _utterances(item: Any, field: str) -> list[str]:
    utterances = item.get(field) if isinstance(item, dict) else None
    if not isinstance(utterances, list) or not _all_text(utterances):
        raise DataError(f"expected an object whose field {field!r} is a list of utterances")
    return utterances


def _all_text(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)
