"""Seconds on the wall, seconds of the processor, and the memory that came on top."""

import ctypes
import platform
import re
import time
from pathlib import Path

_STATUS = Path("/proc/self/status")


class Stopwatch:
    """Started once, stopped once. Processor seconds suffer less than those on the wall from whoever else is running."""

    def __init__(self) -> None:
        self.seconds = self.cpu_seconds = 0.0
        self.added_mb: float | None = None
        self.peak_mb: float | None = None
        self._running = False

    def start(self) -> None:
        """Only the first call starts it."""
        if not self._running:
            self._running = True
            self._before = _memory_afresh()
            self._wall, self._cpu = time.perf_counter(), time.process_time()

    def stop(self) -> None:
        self.seconds, self.cpu_seconds = time.perf_counter() - self._wall, time.process_time() - self._cpu
        if self._before is not None:
            self.peak_mb = round(_megabytes("VmHWM"), 1)
            self.added_mb = round(self.peak_mb - self._before, 1)


def _memory_afresh() -> float | None:
    """Forget the peak so far and give what is held now, in megabytes; None where the system cannot say (not Linux)."""
    if platform.system() != "Linux":
        return None
    ctypes.CDLL(None).malloc_trim(0)  # what the loop before has freed is not this loop's
    Path("/proc/self/clear_refs").write_text("5")
    return _megabytes("VmRSS")


def _megabytes(name: str) -> float:
    found = re.search(rf"{name}:\s+(\d+) kB", _STATUS.read_text())
    assert found is not None
    return int(found[1]) / 1024
