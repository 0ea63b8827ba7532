"""A file of predictions made elsewhere: JSON lines, one per input.

    {"id": "meld:12.3", "label": "positive", "confidence": 0.83}

`confidence` is from 0 to 1 and may be left out (1). A label of null says that there is no answer for this input. An
input that the file does not name at all is an error: ids that do not fit would otherwise look like a friend who is
silent.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from friend_training.errors import DataError


class PredictionLine(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: str
    label: str | None
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)


@dataclass(frozen=True, slots=True)
class Predictions:
    """The lines of a file by id, and the digest of its content."""

    path: Path
    lines: dict[str, PredictionLine]
    digest: str

    def of(self, id: str) -> PredictionLine:
        if id not in self.lines:
            raise DataError(f"no prediction for input {id!r}; the file has {len(self.lines)} others", path=self.path)
        return self.lines[id]


def read_predictions(path: str | Path) -> Predictions:
    """The whole file; the first line that is not right is an error."""
    path = Path(path)
    if not path.is_file():
        raise DataError("no such file", path=path)
    content = path.read_bytes()
    lines: dict[str, PredictionLine] = {}
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            found = _parsed(line, path, number)
            if found.id in lines:
                raise DataError(f"a second prediction for {found.id!r}", path=path, line=number)
            lines[found.id] = found
    return Predictions(path, lines, hashlib.sha256(content).hexdigest())


def _parsed(line: bytes, path: Path, number: int) -> PredictionLine:
    try:
        return PredictionLine.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DataError(f"{where + ': ' if where else ''}{first['msg']}", path=path, line=number) from None
