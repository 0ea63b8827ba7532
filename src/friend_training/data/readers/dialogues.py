"""Dialogues of public corpora: labelled with CSRL, rewritten, or without labels.

CSRL files (DuConv `.csrl`, CSAGN `.data`, the English test set of XCSRL) have one predicate per line, five fields
parted by `|||`: dialogue id, index of the token of the predicate, tokens, turn distance of each token (0 is the turn
of the predicate, the last one), BIO tags. Fields are split on ONE space and empty tokens are kept: they were counted
when the other fields were made (docs/decisions.md#files-with-empty-tokens). A turn begins where the turn distance
changes, and its first token is the speaker token: the word "human" inside an utterance is just a word. The first line
of a dialogue usually opens with an empty turn of whoever has not spoken. The English files write speaker tokens as
`[agent]`; their words are joined with spaces, Chinese words without.

Rewriting files: REWRITE, RESTORATION-200K and CANARD (in the tab-separated form of SARG). The speaker of u_t is
always A and the turns before it alternate, whatever their number: so "same speaker as u_t" means the same in every
corpus.

Chats without labels: LCCC, XDailyDialog (Chinese), CPED, CORECODE, KdConv and the own dialogues of DuConv. Two-party
corpora that name no speakers alternate A, B, A, … In both, empty utterances are left out after that.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from friend_training.core.limits import exceeds
from friend_training.data.text_io import (
    NamesOnDisk,
    Problems,
    check_texts,
    csv_rows,
    innermost_lists,
    listed_objects,
    numbered_lines,
    parse_json,
)
from friend_training.errors import DataError
from friend_training.types import (
    OPENING,
    ROLES,
    SPEAKER,
    Argument,
    CsrlExample,
    Dialogue,
    Predicate,
    RewritingExample,
    Roles,
    Turn,
)

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
            yield _csrl_example(unique, turns, lines, problems)


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


def _csrl_example(name: str, turns: tuple[Turn, ...], lines: Sequence[_Line], problems: Problems) -> CsrlExample:
    roles: dict[Predicate, Roles] = {}
    for line in lines:
        if line.roles.predicate in roles:
            problems.report(line.number, "duplicate: this predicate of this dialogue was labelled before")
        else:
            roles[line.roles.predicate] = line.roles
    predicates = tuple(sorted(roles))
    return CsrlExample(Dialogue(name, turns, predicates), tuple(roles[predicate] for predicate in predicates))


def read_rewrite(path: str | Path, problems: Problems) -> Iterator[RewritingExample]:
    """REWRITE: two context utterances, u_t and its rewrite, parted by two tabs."""
    return _read(path, problems, "rewrite", _rewrite_fields)


def read_restoration(path: str | Path, problems: Problems) -> Iterator[RewritingExample]:
    """RESTORATION-200K: four context utterances, u_t, the one after it, a label (0: complete), the restored one."""
    return _read(path, problems, "restoration", _restoration_fields)


def read_canard(path: str | Path, problems: Problems) -> Iterator[RewritingExample]:
    """CANARD: article, section, questions and answers so far, the question, its rewrite; any number of fields.

    The questions of one conversation follow each other, each with all that was said before it. Their ids say that they
    are cuts of one dialogue, so that a split keeps them together.
    """
    source = ""
    before: tuple[str, ...] = ("",)
    for example in _read(path, problems, "canard", _canard_fields):
        texts = tuple(turn.text for turn in example.dialogue.turns)
        if texts[: len(before)] != before:
            source = example.dialogue.id
        before = texts
        name = f"{source}/turn{len(texts)}"
        yield RewritingExample(replace(example.dialogue, id=name), example.rewrite)


def _rewrite_fields(line: str) -> tuple[Sequence[str], str]:
    fields = line.split("\t\t")
    if len(fields) != 4:
        raise DataError(f"{len(fields)} fields parted by two tabs, expected 4")
    return fields[:3], fields[3]


def _restoration_fields(line: str) -> tuple[Sequence[str], str]:
    fields = line.split("\t")
    if len(fields) != 8:
        raise DataError(f"{len(fields)} fields parted by tabs, expected 8")
    if fields[6] not in ("0", "1"):
        raise DataError(f"the label (7th field) is {fields[6]!r}, expected 0 or 1")
    # The utterance after u_t (6th field) was not there when u_t was said: it is no context.
    return fields[:5], fields[7] if fields[6] == "1" else fields[4]


def _canard_fields(line: str) -> tuple[Sequence[str], str]:
    fields = line.split("\t")
    if len(fields) < 3:
        raise DataError(f"{len(fields)} fields parted by tabs, expected at least 3: context, question, rewrite")
    return fields[:-1], fields[-1]


def _read(
    path: str | Path, problems: Problems, name: str, fields: Callable[[str], tuple[Sequence[str], str]]
) -> Iterator[RewritingExample]:
    for number, line in numbered_lines(path, problems):
        example = None
        with problems.skipping(number):
            utterances, rewrite = fields(line)
            check_texts((*utterances, rewrite), problems.limits)
            example = _rewriting_example(
                f"{name}:{number}", [utterance.strip() for utterance in utterances], rewrite.strip()
            )
        if example is not None:
            yield example


def _rewriting_example(name: str, utterances: Sequence[str], rewrite: str) -> RewritingExample:
    if not utterances[-1]:
        raise DataError("the utterance to rewrite is empty")
    if not rewrite:
        raise DataError("the rewrite is empty")
    last = len(utterances) - 1
    turns = (Turn("AB"[(last - i) % 2], utterance) for i, utterance in enumerate(utterances) if utterance)
    return RewritingExample(Dialogue(name, tuple(turns)), rewrite)


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
