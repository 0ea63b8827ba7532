"""What a run was made with: enough to make it again, nothing that tells whose machine it was."""

import os
import platform
import sys
from importlib import import_module
from importlib.metadata import distributions
from importlib.util import find_spec
from typing import Any


def environment() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "packages": dict(sorted((found.name, found.version) for found in distributions())),
    }


def peak_memory_mb() -> float | None:
    """The most memory this process has held so far; None where Python does not tell (on Windows)."""
    if find_spec("resource") is None:
        return None
    resource = import_module("resource")
    peak: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)  # bytes there, kilobytes elsewhere
