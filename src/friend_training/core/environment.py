"""What a run was made with: enough to make it again, nothing that tells whose machine it was."""

import os
import platform
import resource
import sys
from importlib.metadata import distributions
from typing import Any


def environment() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "packages": dict(sorted((found.name, found.version) for found in distributions())),
    }


def peak_memory_mb() -> float:
    """The most memory this process has held so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)  # bytes there, kilobytes elsewhere
