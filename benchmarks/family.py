"""Processor time and memory of this process and of all that it has started, as engines and Ray do. Linux."""

import os
import re
from pathlib import Path

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")


def descendants() -> list[int]:
    """The processes that this one has started, and those that they have started, as far as they are still there."""
    children: dict[int, list[int]] = {}
    for path in _PROC.glob("[0-9]*"):
        fields = _stat(int(path.name))
        if fields:
            children.setdefault(int(fields[1]), []).append(int(path.name))
    found, new = [], [os.getpid()]
    while new:
        new = [child for parent in new for child in children.get(parent, ())]
        found += new
    return found


def cpu_seconds() -> float:
    """What the whole family has used so far: the living, and those whose end somebody in it has waited for."""
    used = [_stat(process)[11:15] for process in (os.getpid(), *descendants())]
    return sum(int(ticks) for of_process in used for ticks in of_process) / _TICKS


def largest_descendant_mb() -> float:
    """The highest peak of memory that one of the descendants has had; 0 without any."""
    return max(map(_peak_mb, descendants()), default=0.0)


def _stat(process: int) -> list[str]:
    """The fields of a process from its state on (the parent is 1, the times 11 to 14); none if it has just ended."""
    try:
        return (_PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _peak_mb(process: int) -> float:
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", (_PROC / str(process) / "status").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return int(found[1]) / 1024 if found else 0.0
