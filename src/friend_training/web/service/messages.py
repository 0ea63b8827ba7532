"""What is sent to the service: strict types, no unknown fields, all that is limited says so in the OpenAPI page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from friend_training.inference.answers import Agreement, GivenPredicate, GivenTurn, RewriteMade, RolesFound
from friend_training.types import Turn

# How much one request may be, how long it may take, and how many may wait.


TURNS = 64

TURN_CHARACTERS = 400
"""An encoder sees some 500 pieces; of a longer turn it would see only a part, without saying so."""


SPEAKER_CHARACTERS = 64

PREDICATES = 32

BODY_BYTES = 256 * 1024
"""More than the largest dialogue allowed, with every character escaped."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Time and concurrency, in requests and seconds.

    `batch` requests at most are answered together; the first of them waits `gather` seconds for others to come.
    `waiting` may stand in the queue, and `answer` is how long anybody waits before he is told that we are too slow.
    `body` and `header` are how long a client may take to send its request.
    """

    batch: int = 32
    gather: float = 0.004
    waiting: int = 256
    answer: float = 10.0
    body: float = 10.0
    header: float = 10.0
    connections: int = 512


NO_CONTROLS = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$"
"""Text may have tabs and line breaks, but no null bytes or other control characters."""


Said = Annotated[str, Field(max_length=TURN_CHARACTERS, pattern=NO_CONTROLS)]

Word = Annotated[str, Field(min_length=1, max_length=TURN_CHARACTERS, pattern=NO_CONTROLS)]

Name = Annotated[str, Field(min_length=1, max_length=SPEAKER_CHARACTERS, pattern=NO_CONTROLS)]


class Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class TurnSaid(Message):
    """One turn of a named speaker."""

    speaker: Name
    text: Said


class Span(Message):
    """Characters [start, end) of the last turn, counted from 0."""

    start: Annotated[int, Field(ge=0, lt=TURN_CHARACTERS)]
    end: Annotated[int, Field(ge=1, le=TURN_CHARACTERS)]


Turns = Annotated[
    list[Said | TurnSaid],
    Field(
        min_length=1,
        max_length=TURNS,
        description="The dialogue, oldest turn first. The last turn is the one that is labelled and must have text."
        " Plain strings are two speakers in turn.",
    ),
]

Predicates = Annotated[
    list[Word | Span] | None,
    Field(
        max_length=PREDICATES,
        description="The predicates of the last turn that are asked about: words that stand in it, or spans of it."
        " Without them they are found.",
    ),
]


class DialogueSent(Message):
    """A dialogue to rewrite."""

    turns: Turns


HISTORY_CHARACTERS = 4_000
"""What was answered before may be a passage; of what the model cannot see the oldest is cut."""


SaidBefore = Annotated[str, Field(max_length=HISTORY_CHARACTERS, pattern=NO_CONTROLS)]


class CondenseSent(Message):
    """A question of a conversation."""

    history: Annotated[
        list[SaidBefore], Field(max_length=TURNS - 1, description="What was said before the question, oldest first.")
    ]
    question: Word
    unless_sure: Annotated[
        float, Field(ge=0, le=1, strict=False, description="A rewrite that is less sure than this is not made.")
    ] = 0.0


class CondensedQuestion(Message):
    """What to search for, how sure the model is of it, and whether it is not what was asked."""

    text: str
    probability: float
    changed: bool


class QuestionSent(Message):
    """A dialogue to label."""

    turns: Turns
    predicates: Predicates = None


class RolesAnswer(Message):
    """One entry for each predicate, in the order of the text."""

    predicates: tuple[RolesFound, ...]


class Refusal(Message):
    """What was wrong, in one line."""

    error: str


INPUTS = 64


class SpanInLine(BaseModel):
    """A predicate of a line of JSONL: its place; what the line says of its arguments is not looked at."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    start: Annotated[int, Field(ge=0, lt=TURN_CHARACTERS)]
    end: Annotated[int, Field(ge=1, le=TURN_CHARACTERS)]


class LineSent(BaseModel):
    """A line of our JSONL of dialogues, as it is. Its labels are not looked at; its id comes back."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    id: Name | None = None
    turns: Turns
    predicates: Annotated[list[Word | SpanInLine] | None, Field(max_length=PREDICATES)] = None


class BatchSent(Message):
    """Several dialogues, and what is asked of each."""

    ask: Literal["rewrite", "roles", "agreement"]
    dialogues: Annotated[list[LineSent], Field(min_length=1, max_length=INPUTS)]


class LineAnswer(Message):
    """What was asked of one dialogue, or why there is no answer."""

    id: str | None = None
    rewrite: RewriteMade | None = None
    roles: tuple[RolesFound, ...] | None = None
    agreement: Agreement | None = None
    error: str | None = None


class BatchAnswer(Message):
    """One entry for each dialogue, in their order."""

    answers: list[LineAnswer]


class WordsSent(Message):
    """A sentence in words."""

    words: Annotated[list[Word], Field(min_length=1, max_length=TURN_CHARACTERS)]


class TextSent(Message):
    """A text; its id comes back in the units of its labels."""

    text: Word
    id: Name | None = None


Inputs = Annotated[
    list[Word | TextSent | WordsSent | DialogueSent],
    Field(min_length=1, max_length=INPUTS, description="Texts, sentences in words, or dialogues."),
]


class InputsSent(Message):
    """Inputs that all friends are asked about."""

    inputs: Inputs


class TaskSent(Message):
    """Inputs to label, and the task that labels them."""

    task: Name
    inputs: Inputs


class UnitLabel(Message):
    """A label of one unit; a class is its name, tags are a list, any other label is as the run's store has it."""

    unit: str
    label: Any
    confidence: float


class UnitCompared(UnitLabel):
    """What a task says of a unit, and how far its friends agree; null: nothing to match."""

    task: str
    match: float | None
    matches: dict[str, float | None]
    overall: float | None
    threshold: float
    chosen: bool
    reason: str


class Labels(Message):
    """The units of each input, in the order of the inputs; a task without an answer has none."""

    task: str
    labels: list[list[UnitLabel]]


class Comparisons(Message):
    """For each input what every task says of it."""

    agreement: list[list[UnitCompared]]


class TasksHealth(Message):
    """What is served."""

    status: str
    run: str
    method: str
    tasks: list[str]


class Health(Message):
    """What is served. `agreement` is false where the run's bridge is gone, `finder` where predicates must be named."""

    status: str
    run: str
    method: str
    agreement: bool
    finder: bool


def turns_of(sent: list[str | TurnSaid]) -> list[GivenTurn]:
    return [turn if isinstance(turn, str) else Turn(turn.speaker, turn.text) for turn in sent]


def predicates_of(sent: Sequence[str | Span | SpanInLine] | None) -> list[GivenPredicate] | None:
    if sent is None:
        return None
    return [one if isinstance(one, str) else (one.start, one.end) for one in sent]
