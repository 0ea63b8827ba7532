"""What equal studies have in common, byte by byte."""

from pathlib import Path


def contents(folder: Path) -> dict[str, bytes]:
    """Every byte of a study that must not depend on when it ran or how often it was interrupted.

    Left out: phases/ and the report (they keep seconds), environment.json, the lock.
    """
    changing = ("phases", "environment.json", "lock", "report.html")
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part in changing for part in path.relative_to(folder).parts)
    }
