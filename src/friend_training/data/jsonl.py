"""Our own formats: one JSON object per line, for dialogues with or without labels and for sentences with roles.

They are described, with their JSON Schema, in docs/data-formats.md. Labels are optional: what a file is read as decides
what must be there.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from friend_training.core.expected import expected
from friend_training.core.limits import Limits
from friend_training.data.text_io import NamesOnDisk, Problems, check_nesting, check_texts, numbered_lines, shown
from friend_training.errors import DataError
from friend_training.runs.files import atomic_file
from friend_training.types import (
    OPENING,
    SPEAKER,
    Argument,
    CoreferenceExample,
    CsrlExample,
    Dialogue,
    Mention,
    Predicate,
    RewritingExample,
    Roles,
    Sentence,
    SentenceArgument,
    SentenceRoles,
    SrlExample,
    Turn,
)

# What public evaluation scripts read.
#
# RaST-plus: one rewritten utterance per line, its characters parted by spaces.
#
# CSAGN: one JSON object per dialogue and line: `sentid`; `sent`, the utterances joined by " <SEP> ", their tokens
# parted by spaces; `srl`, for each predicate {"pred": index of its first token, "args": {ROLE: [first, last]}}. A token
# is a word where the turn has words, else a character; empty and blank tokens are left out. Indices count the tokens of
# the whole dialogue from 0: neither <SEP> nor speaker tokens count. The script reads a negative index as a pronoun (我,
# 你), so an argument that is a speaker token is [-1, -1] for the speaker of the last turn and [-2, -2] for the other
# one. There is room for one span per role: of several the first in text order is written.

_MYSELF, _YOU = (-1, -1), (-2, -2)


def rast_plus_line(rewrite: str) -> str:
    return " ".join("".join(rewrite.split()))


def csagn_object(example: CsrlExample) -> dict[str, object]:
    tokens = [_tokens(turn) for turn in example.dialogue.turns]
    first_index = [0, *accumulate(map(len, tokens))]
    last_turn = len(tokens) - 1

    def indices(turn: int, start: int, end: int) -> tuple[int, int]:
        inside = [i for i, (_, begin, stop) in enumerate(tokens[turn]) if begin < end and stop > start]
        return first_index[turn] + inside[0], first_index[turn] + inside[-1]

    def place(argument: Argument) -> tuple[int, int]:
        if argument.start == SPEAKER:
            return _MYSELF if _is_current_speaker(argument.turn, example.dialogue) else _YOU
        return indices(argument.turn, argument.start, argument.end)

    structures = []
    for roles in example.roles:
        args: dict[str, tuple[int, int]] = {}
        for argument in sorted(roles.arguments, key=lambda a: (a.turn, a.start)):
            args.setdefault(argument.role, place(argument))
        pred, _ = indices(last_turn, roles.predicate.start, roles.predicate.end)
        structures.append({"pred": pred, "args": args})
    utterances = (" ".join(text for text, _, _ in turn) for turn in tokens)
    return {"sentid": example.dialogue.id, "sent": " <SEP> ".join(utterances), "srl": structures}


def _tokens(turn: Turn) -> Sequence[tuple[str, int, int]]:
    """(token, start, end) for every token that shows."""
    words = tuple(turn.text) if turn.words is None else turn.words
    gap = int("".join(words) != turn.text)  # words joined by spaces
    places, offset = [], 0
    for word in words:
        if word.strip():
            places.append((word, offset, offset + len(word)))
        offset += len(word) + gap
    return places


def _is_current_speaker(turn: int, dialogue: Dialogue) -> bool:
    current = dialogue.utterance.speaker
    # The opening turn belongs to whoever does not speak first.
    return dialogue.turns[0].speaker != current if turn == OPENING else dialogue.turns[turn].speaker == current


# One line of our own JSONL formats, as pydantic models: strict types, no unknown fields, spans inside their text.


Role = Literal["ARG0", "ARG1", "ARG2", "ARG3", "ARG4", "TMP", "LOC", "PRP"]


Name = Annotated[str, Field(min_length=1)]


Confidence = Annotated[float, Field(ge=0, le=1)]


T = TypeVar("T")


Several = Annotated[tuple[T, ...], Field(fail_fast=True)]
"""A list, of which only the first wrong part is told: one of a million wrong parts would make a million errors."""


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class TurnLine(_Line):
    """One utterance. `words` is optional: the corpus' own segmentation, whose joined words give the text."""

    speaker: Name
    text: str
    words: Several[str] | None = None

    @model_validator(mode="after")
    def _words_give_text(self) -> Self:
        if self.words is not None and self.text not in ("".join(self.words), " ".join(self.words)):
            raise ValueError("the joined words do not give the text")
        return self


class ArgumentLine(_Line):
    """Characters [start, end) of a turn, counted from 0. [-1, 0) is its speaker token; turn -1 is the empty opening
    turn of whoever does not speak first."""

    role: Role
    turn: Annotated[int, Field(ge=OPENING)]
    start: Annotated[int, Field(ge=SPEAKER)]
    end: Annotated[int, Field(ge=0)]


class PredicateLine(_Line):
    """Characters [start, end) of the last turn. Without `arguments` it is queried, with them it is labelled.
    `confidence` is that of the model that predicted it; readers take no notice of it."""

    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=1)]
    arguments: Several[ArgumentLine] | None = None
    confidence: Confidence | None = None


class MentionLine(_Line):
    """Characters [start, end) of a turn that name somebody or something."""

    turn: Annotated[int, Field(ge=0)]
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=1)]


class DialogueLine(_Line):
    """A dialogue; the last turn is the current utterance. `predicates` (with arguments) is its CSRL label, `rewrite`
    its rewriting label, `clusters` (the mentions of each entity) its coreference label; all are optional. `confidence`
    is that of a predicted rewrite."""

    id: Name
    turns: Annotated[Several[TurnLine], Field(min_length=1)]
    predicates: Several[PredicateLine] | None = None
    rewrite: Name | None = None
    clusters: Several[Several[MentionLine]] | None = None
    confidence: Confidence | None = None

    @model_validator(mode="after")
    def _spans_fit(self) -> Self:
        if not self.turns[-1].text:
            raise ValueError("the last turn has no text")
        _check_predicates([(p.start, p.end) for p in self.predicates or ()], self.turns[-1].text)
        for predicate in self.predicates or ():
            spans = [(a.turn, a.start, a.end) for a in predicate.arguments or ()]
            for turn, start, end in spans:
                _check_place(turn, start, end, [t.text for t in self.turns])
            _check_apart(spans)
        _check_clusters(self.clusters or (), [turn.text for turn in self.turns])
        return self


class SentenceArgumentLine(_Line):
    """Characters [start, end) of the sentence."""

    role: Role
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=1)]


class SentencePredicateLine(_Line):
    """Characters [start, end) of the sentence, and its arguments."""

    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=1)]
    arguments: Several[SentenceArgumentLine]


class SentenceLine(_Line):
    """A sentence with semantic roles, to train a bridge on."""

    id: Name
    text: Name
    predicates: Several[SentencePredicateLine]

    @model_validator(mode="after")
    def _spans_fit(self) -> Self:
        _check_predicates([(p.start, p.end) for p in self.predicates], self.text)
        for predicate in self.predicates:
            spans = [(0, a.start, a.end) for a in predicate.arguments]
            for turn, start, end in spans:
                _check_place(turn, start, end, [self.text])
            _check_apart(spans)
        return self


def _check_predicates(spans: list[tuple[int, int]], text: str) -> None:
    for start, end in spans:
        if not start < end <= len(text):
            raise ValueError(f"the predicate [{start}, {end}) is no span of a text of {len(text)} characters")
    if len(set(spans)) != len(spans):
        raise ValueError("one predicate is given twice")


def _check_place(turn: int, start: int, end: int, texts: list[str]) -> None:
    if turn >= len(texts):
        raise ValueError(f"an argument stands in turn {turn}, but the last turn is {len(texts) - 1}")
    is_speaker = (start, end) == (SPEAKER, 0)
    if turn == OPENING and not is_speaker:
        raise ValueError("the opening turn -1 holds only its speaker token [-1, 0)")
    if not is_speaker and not 0 <= start < end <= len(texts[turn]):
        raise ValueError(
            f"the argument [{start}, {end}) is no span of turn {turn}, which has {len(texts[turn])} characters"
        )


def _check_apart(spans: list[tuple[int, int, int]]) -> None:
    for (turn, _, end), (next_turn, start, _) in pairwise(sorted(spans)):
        if turn == next_turn and start < end:
            raise ValueError(f"two arguments of one predicate overlap in turn {turn}")


def _check_clusters(clusters: Sequence[Sequence[MentionLine]], texts: Sequence[str]) -> None:
    mentions = [mention for cluster in clusters for mention in cluster]
    for one in mentions:
        if one.turn >= len(texts):
            raise ValueError(f"a mention stands in turn {one.turn}, but the last turn is {len(texts) - 1}")
        if not one.start < one.end <= len(texts[one.turn]):
            raise ValueError(
                f"the mention [{one.start}, {one.end}) is no span of turn {one.turn}, which has"
                f" {len(texts[one.turn])} characters"
            )
    if len({(one.turn, one.start, one.end) for one in mentions}) < len(mentions):
        raise ValueError("one mention is given twice")
    if not all(clusters):
        raise ValueError("a cluster has no mention")


Example = Dialogue | CsrlExample | RewritingExample | CoreferenceExample | SrlExample


L = TypeVar("L", DialogueLine, SentenceLine)
E = TypeVar("E")

Labelled = Literal["csrl", "rewriting", "coreference"]
"""What a dialogue may be labelled for."""


def read_dialogues(path: str | Path, problems: Problems) -> Iterator[Dialogue]:
    """Dialogues, with the predicates queried if the file names them; labels are not read."""
    for _, line in _lines(path, problems, DialogueLine):
        yield _dialogue(line)


def parse_dialogue(text: str) -> Dialogue:
    """One line of a file of dialogues, for those who read lines in their own way."""
    return _dialogue(_parse(text, DialogueLine, Limits.from_environment()))


def parse_labelled(text: str, kind: Labelled) -> Example:
    """One line with labels."""
    return _LABELLED[kind](_parse(text, DialogueLine, Limits.from_environment()))


def read_csrl_lines(path: str | Path, problems: Problems) -> Iterator[CsrlExample]:
    """Dialogues whose predicates are labelled; a dialogue may have none."""
    return _labelled(path, problems, _csrl)


def read_rewriting_lines(path: str | Path, problems: Problems) -> Iterator[RewritingExample]:
    """Dialogues with the rewrite of their last turn."""
    return _labelled(path, problems, _rewriting)


def read_coreference_lines(path: str | Path, problems: Problems) -> Iterator[CoreferenceExample]:
    """Dialogues with the mentions of each entity."""
    return _labelled(path, problems, _coreference)


def _labelled(path: str | Path, problems: Problems, example_of: Callable[[DialogueLine], E]) -> Iterator[E]:
    for number, line in _lines(path, problems, DialogueLine):
        example = None
        with problems.skipping(number):
            example = example_of(line)
        if example is not None:
            yield example


def _csrl(line: DialogueLine) -> CsrlExample:
    if line.predicates is None or any(predicate.arguments is None for predicate in line.predicates):
        raise DataError("no CSRL labels: expected 'predicates', each with 'arguments' (a list, maybe empty)")
    labels = {
        Predicate(p.start, p.end): tuple(sorted(Argument(a.role, a.turn, a.start, a.end) for a in p.arguments or ()))
        for p in line.predicates
    }
    dialogue = _dialogue(line)
    return CsrlExample(dialogue, tuple(Roles(predicate, labels[predicate]) for predicate in dialogue.predicates))


def _rewriting(line: DialogueLine) -> RewritingExample:
    if line.rewrite is None:
        raise DataError("no rewriting label: expected 'rewrite', the rewritten last turn")
    return RewritingExample(_dialogue(line), line.rewrite)


def _coreference(line: DialogueLine) -> CoreferenceExample:
    if line.clusters is None:
        raise DataError("no coreference label: expected 'clusters', lists of mentions, maybe none")
    clusters = (tuple(sorted(Mention(m.turn, m.start, m.end) for m in cluster)) for cluster in line.clusters)
    return CoreferenceExample(_dialogue(line), tuple(sorted(clusters)))


_LABELLED: dict[Labelled, Callable[[DialogueLine], Example]] = {
    "csrl": _csrl,
    "rewriting": _rewriting,
    "coreference": _coreference,
}


def read_sentences(path: str | Path, problems: Problems) -> Iterator[SrlExample]:
    for _, line in _lines(path, problems, SentenceLine):
        labels = {
            Predicate(p.start, p.end): tuple(sorted(SentenceArgument(a.role, a.start, a.end) for a in p.arguments))
            for p in line.predicates
        }
        predicates = tuple(sorted(labels))
        roles = tuple(SentenceRoles(predicate, labels[predicate]) for predicate in predicates)
        yield SrlExample(Sentence(line.id, line.text, predicates), roles)


def write_jsonl(path: str | Path, examples: Iterable[Example]) -> int:
    """Writes examples of any kind and returns how many; the file appears only when all of them are written."""
    count = 0
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        for example in examples:
            stream.write(to_line(example) + "\n")
            count += 1
    return count


def to_line(example: Example) -> str:
    """One line of JSON, without the fields that are empty."""
    return _model(example).model_dump_json(exclude_none=True)


def _model(example: Example) -> BaseModel:
    match example:
        case SrlExample(sentence, roles):
            predicates = tuple(
                SentencePredicateLine(
                    start=r.predicate.start,
                    end=r.predicate.end,
                    arguments=tuple(SentenceArgumentLine(role=a.role, start=a.start, end=a.end) for a in r.arguments),  # type: ignore[arg-type]
                )
                for r in roles
            )
            return SentenceLine(id=sentence.id, text=sentence.text, predicates=predicates)
        case CsrlExample(dialogue, labels):
            return _dialogue_line(dialogue, predicates=tuple(map(_predicate_line, labels)))
        case RewritingExample(dialogue, rewrite):
            return _dialogue_line(dialogue, rewrite=rewrite)
        case CoreferenceExample(dialogue, clusters):
            return _dialogue_line(dialogue, clusters=clusters)
        case Dialogue():
            return _dialogue_line(example)


def _dialogue_line(
    dialogue: Dialogue,
    *,
    predicates: tuple[PredicateLine, ...] | None = None,
    rewrite: str | None = None,
    clusters: Sequence[Sequence[Mention]] | None = None,
) -> DialogueLine:
    queried = tuple(PredicateLine(start=p.start, end=p.end) for p in dialogue.predicates) or None
    turns = tuple(TurnLine(speaker=turn.speaker, text=turn.text, words=turn.words) for turn in dialogue.turns)
    mentions = None
    if clusters is not None:
        mentions = tuple(tuple(MentionLine(turn=m.turn, start=m.start, end=m.end) for m in one) for one in clusters)
    return DialogueLine(
        id=dialogue.id,
        turns=turns,
        predicates=queried if predicates is None else predicates,
        rewrite=rewrite,
        clusters=mentions,
    )


def _predicate_line(roles: Roles) -> PredicateLine:
    arguments = tuple(
        ArgumentLine(role=a.role, turn=a.turn, start=a.start, end=a.end)  # type: ignore[arg-type]
        for a in roles.arguments
    )
    return PredicateLine(start=roles.predicate.start, end=roles.predicate.end, arguments=arguments)


def _dialogue(line: DialogueLine) -> Dialogue:
    turns = tuple(Turn(turn.speaker, turn.text, turn.words) for turn in line.turns)
    return Dialogue(line.id, turns, tuple(sorted(Predicate(p.start, p.end) for p in line.predicates or ())))


def _lines(path: str | Path, problems: Problems, model: type[L]) -> Iterator[tuple[int, L]]:
    first_seen = NamesOnDisk()
    for number, text in numbered_lines(path, problems):
        line = None
        with problems.skipping(number):
            parsed = _parse(text, model, problems.limits)
            before = first_seen.get(parsed.id)
            if before is not None:
                raise DataError(f"the id {shown(parsed.id)} was given before, on line {before}; ids must be unique")
            first_seen.put(parsed.id, number)
            line = parsed
        if line is not None:
            yield number, line


def _parse(text: str, model: type[L], limits: Limits) -> L:
    check_nesting(text, limits)
    try:
        line = model.model_validate_json(text)
    except ValidationError as error:
        raise DataError(_explanation(error)) from None
    check_texts((line.text,) if isinstance(line, SentenceLine) else _texts(line), limits)
    return line


def _texts(line: DialogueLine) -> Iterator[str]:
    yield from (turn.text for turn in line.turns)
    yield line.rewrite or ""


def _explanation(error: ValidationError) -> str:
    """The first thing that is wrong, in one sentence: where, what was given, what was expected."""
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        return f"broken JSON ({first['ctx']['error']}); expected one object per line"
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    if first["type"] == "extra_forbidden":
        return f"unknown field {place!r}"
    if first["type"] == "missing":
        return f"the field {place!r} is missing"
    message = expected(first)
    given = "" if first["type"] == "value_error" else f", got {shown(first['input'])}"
    return f"{place}: {message}{given}" if place else f"{message}{given}"
