"""One run by several processes: which of them this one is, and how it waits for what the first one does.

torchrun and accelerate launch start the same command several times and tell each in the environment who it is. All of
them go through the same phases in the same order. Those that train are done by all together (`nn.processes`). All else
is done by the first alone, and only the first ever writes: the others wait for the record of the phase, and then read
what it left in the run folder, which every machine must see under the same name (a shared file system).

To wait is to check for a file. A barrier would need one more on every way through a phase, also where its result is
found on disk, and gives up after half an hour, while labelling may take a day. When a process dies, the launcher ends
the others, waiting or not.
"""

import os
import time
from collections.abc import Callable

LOOK_EVERY = 0.05
"""Seconds between two checks for a file."""


def rank() -> int:
    """The number of this process, from 0; that of the first is 0, on whatever machine it is."""
    return int(os.environ.get("RANK", "0"))


def world() -> int:
    """How many processes there are, on all machines; 1 unless a launcher started them."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def local_rank() -> int:
    """The number of this process among those of its machine."""
    return int(os.environ.get("LOCAL_RANK", "0"))


def is_first() -> bool:
    """Is this the one that writes?"""
    return rank() == 0


def wait_until(ready: Callable[[], bool]) -> None:
    """For those who do not write: until what the first process writes is there."""
    while not ready():
        time.sleep(LOOK_EVERY)
