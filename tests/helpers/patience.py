"""How long tests wait before they give up: far longer than anything takes, longer still where a machine is asked to.

No test may depend on speed. Whoever waits, waits for an event, and a limit only ends what would hang for ever.
FRIEND_TRAINING_TEST_PATIENCE multiplies every limit: 4 for a machine that is four times as slow or busy.
"""

import os
import time
from collections.abc import Callable

VARIABLE = "FRIEND_TRAINING_TEST_PATIENCE"
_FACTOR = float(os.environ.get(VARIABLE, "1"))

TEST = 3600 * _FACTOR
"""Seconds for a whole test and the fixtures it is the first to need."""

ANSWER = 900 * _FACTOR
"""Seconds for one answer of a server, a thread or another process, its start included."""


def wait_until(happened: Callable[[], bool], what: str) -> None:
    """Return as soon as it has happened; `what` is named where it never does."""
    last = time.monotonic() + ANSWER
    while not happened():
        assert time.monotonic() < last, f"waited {ANSWER:g} seconds in vain for {what}; {VARIABLE} makes it longer"
        time.sleep(0.01)
