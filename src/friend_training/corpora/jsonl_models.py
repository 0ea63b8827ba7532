"""One line of our own JSONL formats, as pydantic models: strict types, no unknown fields, spans inside their text."""

from itertools import pairwise
from typing import Annotated, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from friend_training.examples import OPENING, SPEAKER

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
    """Characters [start, end) of the last turn. Without `arguments` it is asked for, with them it is labelled.
    `confidence` is what a model that predicted it said of itself; readers take no notice of it."""

    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=1)]
    arguments: Several[ArgumentLine] | None = None
    confidence: Confidence | None = None


class DialogueLine(_Line):
    """A dialogue; the last turn is the current utterance. `predicates` (with arguments) is its CSRL label, `rewrite`
    its rewriting label; both are optional. `confidence` is that of a predicted rewrite."""

    id: Name
    turns: Annotated[Several[TurnLine], Field(min_length=1)]
    predicates: Several[PredicateLine] | None = None
    rewrite: Name | None = None
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
