"""The typed inputs and labels that tasks, corpora and friends exchange.

All positions are character offsets, half-open, into the text of ONE turn. A turn's speaker token stands at offset -1,
so a bare speaker token is the span [-1, 0). Turn -1 is the empty opening turn of the speaker who has not spoken yet.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from friend_training.errors import DataError

ROLES = ("ARG0", "ARG1", "ARG2", "ARG3", "ARG4", "TMP", "LOC", "PRP")
"""The roles of the CSRL data, in the order in which the paper concatenates arguments (section 4.2, footnote)."""


SPEAKER = -1
"""The offset of a turn's speaker token."""


OPENING = -1
"""The index of the empty opening turn, whose only token is the speaker token of whoever has not spoken yet."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance. `words` is a corpus' own segmentation where it has one: joined, they give `text`."""

    speaker: str
    text: str
    words: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, order=True)
class Predicate:
    """A predicate of the last turn."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The input of both dialogue tasks: the last turn is the current utterance u_t, the others are its context.

    `predicates` are those of u_t that are queried; dialogue rewriting does not use them.
    """

    id: str
    turns: tuple[Turn, ...]
    predicates: tuple[Predicate, ...] = ()

    @property
    def utterance(self) -> Turn:
        return self.turns[-1]

    @property
    def context(self) -> tuple[Turn, ...]:
        return self.turns[:-1]


@dataclass(frozen=True, slots=True, order=True)
class Argument:
    """A labelled span of a dialogue: characters [start, end) of turn `turn` (see the module's docstring)."""

    role: str
    turn: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Roles:
    """The label of one CSRL unit: a predicate of u_t and its arguments, sorted.

    `unsure` are spans of which a pseudo-label does not know whether they are arguments: nothing is learnt there. Gold
    has none, and where there are none nothing is written of them.
    """

    predicate: Predicate
    arguments: tuple[Argument, ...]
    unsure: Annotated[tuple[Argument, ...], Field(exclude_if=lambda spans: not spans)] = ()


@dataclass(frozen=True, slots=True)
class CsrlExample:
    """A dialogue with gold arguments: one `Roles` for each of `dialogue.predicates`, in that order."""

    dialogue: Dialogue
    roles: tuple[Roles, ...]


@dataclass(frozen=True, slots=True, order=True)
class Insertion:
    """Characters [start, end) of turn `turn`, inserted before character `before` of u_t (its length: at the end)."""

    before: int
    turn: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The label of one rewriting unit: u_t' and the edit script that builds it from u_t.

    `deleted` are character offsets of u_t, `insertions` at most one per offset; both sorted. `unsure` are offsets (the
    length of u_t: its end) of which a pseudo-label does not know whether something is inserted there, or the character
    deleted: nothing is learnt there. Gold has none, and where there are none nothing is written of them.
    """

    text: str
    deleted: tuple[int, ...] = ()
    insertions: tuple[Insertion, ...] = ()
    unsure: Annotated[tuple[int, ...], Field(exclude_if=lambda offsets: not offsets)] = ()


@dataclass(frozen=True, slots=True)
class RewritingExample:
    """A dialogue with the gold rewrite of its last turn, as text: whether edits can build it is the task's business."""

    dialogue: Dialogue
    rewrite: str


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """Characters [start, end) of turn `turn` that name somebody or something."""

    turn: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, order=True)
class Link:
    """The label of one coreference unit: a mention of u_t and what stood for the same before it; None: nothing did."""

    mention: Mention
    antecedent: Mention | None


@dataclass(frozen=True, slots=True)
class Mentioned:
    """A dialogue and the mentions of its last turn that are queried. Of a plain `Dialogue` they are found by rules."""

    dialogue: Dialogue
    mentions: tuple[Mention, ...]

    @property
    def id(self) -> str:
        return self.dialogue.id


@dataclass(frozen=True, slots=True)
class CoreferenceExample:
    """A dialogue with its clusters: each has the mentions of one entity, sorted. One may stand alone so far."""

    dialogue: Dialogue
    clusters: tuple[tuple[Mention, ...], ...]


@dataclass(frozen=True, slots=True, order=True)
class SentenceArgument:
    """A labelled span of one sentence."""

    role: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """The input of sentence-level SRL: a text and the predicates queried."""

    id: str
    text: str
    predicates: tuple[Predicate, ...] = ()


@dataclass(frozen=True, slots=True)
class SentenceRoles:
    """The label of one sentence-level SRL unit."""

    predicate: Predicate
    arguments: tuple[SentenceArgument, ...]


@dataclass(frozen=True, slots=True)
class SrlExample:
    """A sentence with gold arguments: one `SentenceRoles` for each of `sentence.predicates`, in that order."""

    sentence: Sentence
    roles: tuple[SentenceRoles, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """The plainest input: a text with an id, for classifiers."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Words:
    """The input of taggers and parsers: a sentence in words."""

    id: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, order=True)
class Bracket:
    """A phrase: words [start, end) under one label; a chain of unary phrases is written A+B, the outer first."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Tree:
    """The label of one constituency unit: phrases by start, the longer first, and the preterminal of each word.

    Bracket labels carry no function tags, traces are gone, and no bracket stands for a preterminal. `unsure` are the
    spans [start, end) of which a pseudo-label does not know whether they are phrases, or which, and `unsure_tags` the
    words, counted from 0, of whose tag it is not sure: nothing is learnt there.
    """

    brackets: tuple[Bracket, ...]
    tags: tuple[str, ...]
    unsure: Annotated[tuple[tuple[int, int], ...], Field(exclude_if=lambda spans: not spans)] = ()
    unsure_tags: Annotated[tuple[int, ...], Field(exclude_if=lambda words: not words)] = ()


@dataclass(frozen=True, slots=True)
class Heads:
    """The label of one dependency unit: the head of each word, counted from 1, 0 for the root; relations if known.

    `unsure` are the words, counted from 0, of whose arc a pseudo-label is not sure: nothing is learnt there.
    """

    heads: tuple[int, ...]
    relations: tuple[str, ...] | None = None
    unsure: Annotated[tuple[int, ...], Field(exclude_if=lambda words: not words)] = ()


@dataclass(frozen=True, slots=True)
class Tags:
    """The label of one tagging unit: a tag for each word.

    `unsure` are the words, counted from 0, of whose tag a pseudo-label is not sure: nothing is learnt there.
    """

    tags: tuple[str, ...]
    unsure: Annotated[tuple[int, ...], Field(exclude_if=lambda words: not words)] = ()


@dataclass(frozen=True, slots=True)
class TreeExample:
    words: Words
    tree: Tree


@dataclass(frozen=True, slots=True)
class HeadsExample:
    words: Words
    heads: Heads


@dataclass(frozen=True, slots=True)
class TagsExample:
    words: Words
    tags: Tags


# Views: tasks that need a text and tasks that need words share one pool of texts, sentences in words or dialogues.


WITHOUT_BLANKS = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
"""Characters of Chinese and Japanese, which are written without blanks between words."""


def running_text(words: Sequence[str]) -> tuple[str, list[int]]:
    """The sentence as it is written, and where in it each word begins."""
    text, starts = "", []
    for word in words:
        if text and word and not WITHOUT_BLANKS.match(text[-1]) and not WITHOUT_BLANKS.match(word):
            text += " "
        starts.append(len(text))
        text += word
    return text, starts


def text_of(item: Any) -> str:
    """The text of an input: that of a dialogue is its last utterance, words are written as people write them."""
    if isinstance(item, Words):
        return running_text(item.words)[0]
    text = item.utterance.text if isinstance(item, Dialogue) else getattr(item, "text", None)
    if not isinstance(text, str):
        raise DataError(f"an input is {item!r}, expected a Text, Words or a Dialogue")
    return text


def words_of(item: Any) -> tuple[str, ...]:
    """The words of an input; its text is split at blanks, and Chinese or Japanese without blanks into characters."""
    if isinstance(item, Words):
        return item.words
    if isinstance(item, Dialogue) and item.utterance.words is not None:
        return item.utterance.words
    text = text_of(item)
    words = tuple(text.split())
    unbroken = len(words) == 1 and 2 * len(WITHOUT_BLANKS.findall(words[0])) > len(words[0])
    return tuple(words[0]) if unbroken else words


_WORD = re.compile(r"\w+|[^\w\s]")


def words_in(text: str) -> list[tuple[int, int]]:
    """Where the words of a text with blanks stand: letters and digits in a row, and every mark by itself (it ' s)."""
    return [found.span() for found in _WORD.finditer(text)]


_CUT = re.compile(r"/turn\d+(~\d+)?$")


def dialogue_group(dialogue_id: str) -> str:
    """The dialogue that a cut was taken from: cuts of one dialogue must stay on one side of a split."""
    return _CUT.sub("", dialogue_id)


# The role names of PropBank-style SRL parsers, as those of the CSRL data.


_NUMBERED = {f"{prefix}{n}": f"ARG{n}" for prefix in ("A", "ARG") for n in range(5)}

_MODIFIERS = {f"ARGM-{role}": role for role in ("TMP", "LOC", "PRP")}

_OURS = {role: role for role in ROLES} | _NUMBERED | _MODIFIERS


def our_role(name: str) -> str | None:
    """Our name for a parser's role, or None for a role that the CSRL data do not have: it is left out of Σ."""
    return _OURS.get(name)
