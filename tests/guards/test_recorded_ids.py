"""Every recorded result is found again: its config, read today, has the identity under which it was recorded."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from friend_training.experiments.experiment import pieces
from friend_training.experiments.results import settings_id
from friend_training.study.config import parse_config

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
RECORDED = Path(__file__).parent / "recorded" / "ids.json"

OTHER_STUDIES = ("archive/parsing",)
"""Their configs are those of their own programs."""

RESULTS = sorted(EXPERIMENTS.rglob("results.jsonl"))
PLANNED = sorted(path.parent for path in EXPERIMENTS.rglob("experiment.yaml"))


def records(path: Path) -> list[dict[str, Any]]:
    """The records that have an identity made of their config; trials were named by hand."""
    found = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [record for record in found if re.fullmatch("[0-9a-f]{12}", record.get("config_id", ""))]


def name(path: Path) -> str:
    return path.relative_to(EXPERIMENTS).as_posix()


def identities() -> dict[str, list[str]]:
    """Identities of all records, and of all that the experiments would run: {file or folder: identities}."""
    recorded = {name(path): sorted({record["config_id"] for record in records(path)}) for path in RESULTS}
    planned = {name(path): sorted({piece.config_id for piece in pieces(path, Path("runs"))}) for path in PLANNED}
    return recorded | planned


def test_every_recorded_identity_is_there() -> None:
    before = json.loads(RECORDED.read_text(encoding="utf-8"))
    now = identities()
    assert {known for found in before.values() for known in found} <= {one for found in now.values() for one in found}
    for place in before.keys() & now.keys():
        assert set(before[place]) <= set(now[place]), place


@pytest.mark.parametrize("path", RESULTS, ids=name)
def test_the_config_of_a_record_has_the_identity_of_the_record(path: Path) -> None:
    for record in records(path):
        config = record["config"]
        assert settings_id(config) == record["config_id"]
        if name(path.parent) in OTHER_STUDIES:
            continue
        # Records leave out what is no part of the identity.
        text = yaml.safe_dump({"threads": 1, "seed": record["seed"], "methods": ["base"], **config})
        read = parse_config(text, f"{name(path)}: {record['config_id']}", whole=True)
        assert settings_id(read.model_dump(mode="json")) == record["config_id"]


def test_there_are_hundreds_of_records() -> None:
    assert sum(len(records(path)) for path in RESULTS) > 600


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(identities(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
