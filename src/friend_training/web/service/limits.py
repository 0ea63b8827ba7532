"""How much one request may be, how long it may take, and how many may wait."""

from dataclasses import dataclass

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
