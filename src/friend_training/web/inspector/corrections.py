"""From what a person says of a unit to a correction of the run: every label is checked against its input first."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError, model_validator

from friend_training.core.expected import expected
from friend_training.errors import DataError
from friend_training.runs.corrections import Correction, Verdict
from friend_training.tasks.rewriting.edits import SpanSource, build_script
from friend_training.types import OPENING, ROLES, SPEAKER, Argument, Dialogue, Heads, Roles, Tags, Tree
from friend_training.web.inspector.unit_view import TYPES, Kind, dialogue_of, kind_of, parsed


class Said(BaseModel):
    """What the page sends. A corrected label: the new arguments, the new text, or the label as the store writes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str
    iteration: Annotated[int, Field(ge=1)]
    unit: str
    verdict: Verdict
    label: JsonValue = None

    @model_validator(mode="after")
    def _is_unicode(self) -> "Said":
        """JSON can spell half of a surrogate pair, which no file can hold."""
        text = json.dumps([self.task, self.unit, self.label], ensure_ascii=False)
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise ValueError("not valid Unicode: there is a lone surrogate")
        return self


def correction_of(
    said: Said,
    label: Any,
    given: dict[str, Any] | None,
    *,
    span_source: Literal["context", "dialogue"],
    choices: Sequence[str] = (),
) -> Correction:
    """`label` is what the store says, `given` the input it is about, if its text is known.

    `choices` are the classes or tags that the task knows: another one could not be learnt.
    """
    if said.verdict != "corrected":
        if said.label is not None:
            raise DataError(f"label: only a corrected unit has one, this is {said.verdict}")
        return Correction(said.task, said.unit, said.verdict, label if said.verdict == "accepted" else None)
    if said.label is None:
        raise DataError("label: a corrected unit needs the right one")
    right = corrected_label(kind_of(label), label, said.label, given, span_source)
    classes: Any = [right] if isinstance(right, str) else right.get("tags", []) if isinstance(right, dict) else []
    unknown = [one for one in classes if one not in choices] if choices else []
    if unknown:
        raise DataError(f"label: {unknown[0]!r} is none of {', '.join(choices)}")
    return Correction(said.task, said.unit, "corrected", right)


def corrected_label(
    kind: Kind, before: Any, said: JsonValue, given: dict[str, Any] | None, span_source: SpanSource
) -> JsonValue:
    if kind in ("roles", "rewrite"):
        dialogue = dialogue_of(given)
        if dialogue is None:
            raise DataError("the text of this dialogue is not known (yet), so its label cannot be corrected")
        if kind == "roles":
            return _dumped(_roles(dialogue, parsed("roles", before), said))
        return _dumped(_rewrite(dialogue, said, span_source))
    if kind == "other":
        if type(said) is not type(before) or _keys(said) != _keys(before):
            raise DataError(f"label: expected the form that it has, {json.dumps(before, ensure_ascii=False)[:200]}")
        return said
    label = _validated(TYPES[kind], said)
    _check_words(label, parsed(kind, before))
    return _dumped(label)


def _roles(dialogue: Dialogue, before: Roles, said: JsonValue) -> Roles:
    arguments = _validated(tuple[Argument, ...], said)
    for argument in arguments:
        if argument.role not in ROLES:
            raise DataError(f"role: {argument.role!r} is none of {', '.join(ROLES)}")
        _check_span(dialogue, argument)
    ordered = tuple(sorted(arguments, key=lambda a: (a.turn, a.start, a.end)))
    for one, other in itertools.pairwise(ordered):
        if one.turn == other.turn and other.start < one.end:
            raise DataError(f"{one.role} and {other.role} overlap in turn {one.turn}; a character has one role at most")
    return replace(before, arguments=tuple(sorted(arguments)))


def _check_span(dialogue: Dialogue, argument: Argument) -> None:
    turn, start, end = argument.turn, argument.start, argument.end
    if turn == OPENING and (start, end) == (SPEAKER, 0):
        return
    if not 0 <= turn < len(dialogue.turns):
        raise DataError(f"turn: there is no turn {turn}, only 0 to {len(dialogue.turns) - 1}")
    if not SPEAKER <= start < end <= len(dialogue.turns[turn].text):
        raise DataError(f"[{start}, {end}) is no span of turn {turn}, which has {len(dialogue.turns[turn].text)}")


def _rewrite(dialogue: Dialogue, said: JsonValue, span_source: SpanSource) -> Any:
    if not isinstance(said, str) or not said.strip():
        raise DataError("label: the rewritten utterance was expected, a text")
    if len(said) > LONGEST_REWRITE:
        raise DataError(f"label: a rewritten utterance has {LONGEST_REWRITE} characters at most")
    script = build_script(dialogue, said, span_source=span_source)
    if script is None:
        raise DataError(
            "label: this rewrite cannot be built: it may leave out characters of the last turn and insert spans that"
            " stand in the dialogue, one at each place"
        )
    return script


LONGEST_REWRITE = 500
"""Finding the edits takes time that grows with the square of it."""


def _check_words(label: Any, before: Any) -> None:
    """A tree, heads or tags for as many words as before."""
    words = len(before.heads) if isinstance(before, Heads) else len(before.tags)
    if isinstance(label, Tree | Tags) and len(label.tags) != words:
        raise DataError(f"tags: {len(label.tags)} for {words} words")
    if isinstance(label, Tree):
        _check_brackets([(bracket.start, bracket.end) for bracket in label.brackets], words)
    if isinstance(label, Heads):
        if len(label.heads) != words or (label.relations is not None and len(label.relations) != words):
            raise DataError(f"heads: {len(label.heads)} heads, and relations if any, for {words} words")
        if any(not 0 <= head <= words or head == place for place, head in enumerate(label.heads, start=1)):
            raise DataError(f"heads: a head is 0 for the root, or another word, 1 to {words}")


def _check_brackets(spans: Sequence[tuple[int, int]], words: int) -> None:
    if any(not 0 <= start < end <= words for start, end in spans):
        raise DataError(f"brackets: a phrase is words [start, end) of {words}")
    for start, end in spans:
        if any(start < other_start < end < other_end for other_start, other_end in spans):
            raise DataError(f"brackets: the phrase [{start}, {end}) crosses another one")


def _validated(kind: Any, said: JsonValue) -> Any:
    try:
        return TypeAdapter(kind).validate_json(json.dumps(said))
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(["label", *(str(part) for part in problem["loc"])])
        raise DataError(f"{where}: {expected(problem)}") from None


def _keys(label: JsonValue) -> set[str]:
    return set(label) if isinstance(label, dict) else set()


def _dumped(label: Any) -> JsonValue:
    dumped: JsonValue = TypeAdapter(type(label)).dump_python(label, mode="json")
    return dumped
