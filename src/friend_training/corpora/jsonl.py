"""Our own formats: one JSON object per line, for dialogues with or without labels and for sentences with roles.

They are described, with their JSON Schema, in docs/data-formats.md. Labels are optional: what a file is read as decides
what must be there.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from friend_training.core.files import atomic_file
from friend_training.core.limits import Limits
from friend_training.corpora.json_values import check_nesting, shown
from friend_training.corpora.jsonl_models import (
    ArgumentLine,
    DialogueLine,
    PredicateLine,
    SentenceArgumentLine,
    SentenceLine,
    SentencePredicateLine,
    TurnLine,
)
from friend_training.corpora.lines import check_texts, numbered_lines
from friend_training.corpora.names_on_disk import NamesOnDisk
from friend_training.corpora.problems import Problems
from friend_training.errors import DataError
from friend_training.examples import (
    Argument,
    CsrlExample,
    Dialogue,
    Predicate,
    RewritingExample,
    Roles,
    Sentence,
    SentenceArgument,
    SentenceRoles,
    SrlExample,
    Turn,
)

Example = Dialogue | CsrlExample | RewritingExample | SrlExample
L = TypeVar("L", DialogueLine, SentenceLine)


def read_dialogues(path: str | Path, problems: Problems) -> Iterator[Dialogue]:
    """Dialogues, with the predicates asked for if the file names them; labels are not looked at."""
    for _, line in _lines(path, problems, DialogueLine):
        yield _dialogue(line)


def parse_dialogue(text: str) -> Dialogue:
    """One line of a file of dialogues, for those who read lines in their own way."""
    return _dialogue(_parse(text, DialogueLine, Limits.from_environment()))


def read_csrl_lines(path: str | Path, problems: Problems) -> Iterator[CsrlExample]:
    """Dialogues whose predicates are labelled; a dialogue may have none."""
    for number, line in _lines(path, problems, DialogueLine):
        if line.predicates is None or any(predicate.arguments is None for predicate in line.predicates):
            problems.report(
                number, "no CSRL labels: expected 'predicates', each with 'arguments' (a list, maybe empty)"
            )
            continue
        labels = {
            Predicate(p.start, p.end): tuple(
                sorted(Argument(a.role, a.turn, a.start, a.end) for a in p.arguments or ())
            )
            for p in line.predicates
        }
        dialogue = _dialogue(line)
        yield CsrlExample(dialogue, tuple(Roles(predicate, labels[predicate]) for predicate in dialogue.predicates))


def read_rewriting_lines(path: str | Path, problems: Problems) -> Iterator[RewritingExample]:
    """Dialogues with the rewrite of their last turn."""
    for number, line in _lines(path, problems, DialogueLine):
        if line.rewrite is None:
            problems.report(number, "no rewriting label: expected 'rewrite', the rewritten last turn")
        else:
            yield RewritingExample(_dialogue(line), line.rewrite)


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
    """Writes examples of any kind and says how many; the file appears only when all of them are written."""
    count = 0
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        for example in examples:
            stream.write(to_line(example) + "\n")
            count += 1
    return count


def to_line(example: Example) -> str:
    """One line of JSON, without the fields that have nothing to say."""
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
        case Dialogue():
            return _dialogue_line(example)


def _dialogue_line(
    dialogue: Dialogue, *, predicates: tuple[PredicateLine, ...] | None = None, rewrite: str | None = None
) -> DialogueLine:
    asked = tuple(PredicateLine(start=p.start, end=p.end) for p in dialogue.predicates) or None
    turns = tuple(TurnLine(speaker=turn.speaker, text=turn.text, words=turn.words) for turn in dialogue.turns)
    return DialogueLine(
        id=dialogue.id, turns=turns, predicates=asked if predicates is None else predicates, rewrite=rewrite
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
    message = first["msg"].removeprefix("Value error, ")
    given = "" if first["type"] == "value_error" else f", got {shown(first['input'])}"
    return f"{place}: {message}{given}" if place else f"{message}{given}"
