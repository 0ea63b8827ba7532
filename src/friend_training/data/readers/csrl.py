"""CSRL files: DuConv's `.csrl`, CSAGN's `.data` and the English test set of XCSRL.

One predicate per line, five fields parted by `|||`: dialogue id, index of the predicate's token, tokens, turn
distance of each token (0 is the turn of the predicate, the last one), BIO tags. Fields are split on ONE space and empty
tokens are kept: they were counted when the other fields were made (docs/decisions.md#files-with-empty-tokens).

A turn begins where the turn distance changes, and its first token is the speaker token: the word "human" inside an
utterance is just a word. The first line of a dialogue usually opens with an empty turn of whoever has not spoken.
The English files write speaker tokens as `[agent]`; their words are joined with spaces, Chinese words without.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

from friend_training.core.limits import exceeds
from friend_training.data.text_io import NamesOnDisk, Problems, check_texts, numbered_lines
from friend_training.errors import DataError
from friend_training.types import OPENING, ROLES, SPEAKER, Argument, CsrlExample, Dialogue, Predicate, Roles, Turn

_SPEAKERS = {"agent": "agent", "human": "human", "[agent]": "agent", "[human]": "human"}
_PREDICATE_TAGS = ("B-V", "I-V")
_MOST_DIGITS = 9


def read_csrl(path: str | Path, problems: Problems) -> Iterator[CsrlExample]:
    """One example per dialogue and cut (the turn it ends with), with all the predicates of that turn.

    The lines of one cut need not follow each other, those of one dialogue must, or the cut is given twice.
    """
    given = NamesOnDisk()
    for source, block in groupby(_parsed_lines(path, problems), key=lambda line: line.source):
        cuts: dict[tuple[Turn, ...], list[_Line]] = {}
        size = 0
        for line in block:
            size += sum(len(turn.text) for turn in line.turns)
            if size > problems.limits.line:
                message = f"the lines of dialogue {source[:60]!r} have more than {problems.limits.line:,} characters"
                raise DataError(f"{message}; {exceeds('line', problems.limits.line)}", path=path, line=line.number)
            cuts.setdefault(line.turns, []).append(line)
        for turns, lines in cuts.items():
            name = f"{source}/turn{len(turns)}"
            count = (given.get(name) or 0) + 1
            given.put(name, count)
            unique = name if count == 1 else f"{name}~{count}"
            yield _example(unique, turns, lines, problems)


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    source: str
    turns: tuple[Turn, ...]
    roles: Roles


@dataclass(frozen=True, slots=True)
class _Token:
    """Where a token stands: characters [start, end) of a turn."""

    turn: int
    start: int
    end: int


def _parsed_lines(path: str | Path, problems: Problems) -> Iterator[_Line]:
    for number, text in numbered_lines(path, problems):
        line = None
        with problems.skipping(number):
            parsed = _parse(number, text)
            check_texts((turn.text for turn in parsed.turns), problems.limits)
            line = parsed
        if line is not None:
            yield line


def _parse(number: int, text: str) -> _Line:
    fields = text.split("|||")
    if len(fields) != 5:
        raise DataError(f"{len(fields)} fields parted by '|||', expected 5")
    source, indices, tokens, distances, tags = fields[0], *(field.split(" ") for field in fields[1:])
    if not len(tokens) == len(distances) == len(tags):
        raise DataError(f"{len(tokens)} tokens, {len(distances)} turn distances and {len(tags)} tags do not fit")
    if not all(number.isdecimal() and len(number) <= _MOST_DIGITS for number in (*indices, *distances)):
        raise DataError("the predicate's index and the turn distances must be numbers")
    turns, places = _turns(tokens, [int(distance) for distance in distances])
    predicate = _predicate([int(index) for index in indices], places, tags, last=len(turns) - 1)
    return _Line(number, source, turns, Roles(predicate, _arguments(tags, places)))


def _turns(tokens: Sequence[str], distances: Sequence[int]) -> tuple[tuple[Turn, ...], list[_Token]]:
    """The turns, and the place of every token in them."""
    if distances[-1] != 0 or any(before - after not in (0, 1) for before, after in pairwise(distances)):
        raise DataError("turn distances must fall by one from turn to turn and end with 0")
    starts = [i for i in range(len(tokens)) if i == 0 or distances[i] != distances[i - 1]]
    ends = [*starts[1:], len(tokens)]
    for start in starts:
        if tokens[start] not in _SPEAKERS:
            raise DataError(f"token {start} begins a turn but is no speaker token: {tokens[start]!r}")
    joiner = " " if tokens[0].startswith("[") else ""
    opens_empty = len(starts) > 1 and starts[1] == 1
    turns: list[Turn] = []
    places: list[_Token] = []
    for turn, (start, end) in enumerate(zip(starts, ends, strict=True), start=OPENING if opens_empty else 0):
        words = tuple(tokens[start + 1 : end])
        places.append(_Token(turn, SPEAKER, 0))
        offset = 0
        for word in words:
            places.append(_Token(turn, offset, offset + len(word)))
            offset += len(word) + len(joiner)
        if turn != OPENING:
            turns.append(Turn(_SPEAKERS[tokens[start]], joiner.join(words), words))
    return tuple(turns), places


def _predicate(indices: Sequence[int], places: Sequence[_Token], tags: Sequence[str], *, last: int) -> Predicate:
    tagged = [i for i, tag in enumerate(tags) if tag in _PREDICATE_TAGS]
    if tagged != sorted(indices):
        raise DataError(f"the predicate is said to be token {indices}, but the tags mark {tagged}")
    first, final = places[tagged[0]], places[tagged[-1]]
    if first.turn != last or first.start == SPEAKER or final.end <= first.start:
        raise DataError("the predicate is not a word of the last turn")
    return Predicate(first.start, final.end)


def _arguments(tags: Sequence[str], places: Sequence[_Token]) -> tuple[Argument, ...]:
    spans: list[tuple[str, int, int]] = []  # (role, first token, last token)
    for i, tag in enumerate(tags):
        if tag == "O" or tag in _PREDICATE_TAGS:
            continue
        begins, role = tag[:2] == "B-", tag[2:]
        if role not in ROLES or tag[:2] not in ("B-", "I-"):
            raise DataError(f"unknown tag {tag!r}; roles are {' '.join(ROLES)}, tags O, B-<role>, I-<role>, B-V, I-V")
        if begins:
            spans.append((role, i, i))
        elif tags[i - 1] in (f"B-{role}", f"I-{role}") and i > 0:
            spans[-1] = (role, spans[-1][1], i)
        else:
            raise DataError(f"tag {i} is {tag!r}, but no {role} goes on there")
    return tuple(sorted(_argument(role, places[first], places[last]) for role, first, last in spans))


def _argument(role: str, first: _Token, last: _Token) -> Argument:
    if first.turn != last.turn:
        raise DataError(f"an {role} reaches over the border of a turn")
    if first.start == SPEAKER and last.start != SPEAKER:
        raise DataError(f"an {role} joins a speaker token with words")
    if last.end <= first.start:
        raise DataError(f"an {role} has no characters")
    return Argument(role, first.turn, first.start, last.end)


def _example(name: str, turns: tuple[Turn, ...], lines: Sequence[_Line], problems: Problems) -> CsrlExample:
    roles: dict[Predicate, Roles] = {}
    for line in lines:
        if line.roles.predicate in roles:
            problems.report(line.number, "duplicate: this predicate of this dialogue was labelled before")
        else:
            roles[line.roles.predicate] = line.roles
    predicates = tuple(sorted(roles))
    return CsrlExample(Dialogue(name, turns, predicates), tuple(roles[predicate] for predicate in predicates))
