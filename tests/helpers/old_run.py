"""Run folders as they were before files had digests: they open with a warning, and may be edited."""

import json
from pathlib import Path


def without_digests(folder: Path) -> None:
    """Make a study, and the runs inside it, what it would have been then."""
    for run in folder.rglob("run.json"):
        run.write_text(json.dumps({"format": json.loads(run.read_text(encoding="utf-8"))["format"]}), encoding="utf-8")
        (run.parent / "manifest.json").unlink(missing_ok=True)
        for path in run.parent.glob("phases/*.json"):
            record = json.loads(path.read_text(encoding="utf-8"))
            record.pop("sha256", None)
            path.write_text(json.dumps(record), encoding="utf-8")
