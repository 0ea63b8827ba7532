"""The texts that the pseudo-labels are about. The store knows them by their ids; the run folder keeps them (kept.py).

A run that was made before texts were kept, or is not that far yet, has its data read again, once, in the background:
the page is there meanwhile, without texts.
"""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from friend_training.core.run import Run
from friend_training.errors import FriendTrainingError
from friend_training.report.kept import INPUTS

Making = Callable[[], None]
"""Writes inputs.parquet into the study's folder."""


class Texts:
    """The inputs of a pool by id. `state` is "ready", "reading", or why there are none."""

    def __init__(self, study: Path, make: Making | None = None) -> None:
        self.path = study / INPUTS
        self.state = "reading"
        self._ids, self._inputs, self._texts = (pa.array([], pa.string()) for _ in range(3))
        self._places: dict[str, int] = {}
        self._thread = Thread(target=self._make_and_read, args=(make,), daemon=True)
        if self.path.is_file():
            self._read()
        elif make is not None:
            self._thread.start()
        else:
            self.state = f"this run keeps no texts: it has no {INPUTS}"

    def get(self, name: str) -> dict[str, Any] | None:
        """An input as JSON says it, or None while, or where, it is not known."""
        place = self._places.get(name)
        if place is None:
            return None
        found: dict[str, Any] = json.loads(self._inputs[place].as_py())
        return found

    def containing(self, search: str) -> pa.Array:
        """The ids of the inputs whose text has these characters, upper case or lower."""
        return self._ids.filter(pc.match_substring(self._texts, search, ignore_case=True))

    def wait(self) -> None:
        if self._thread.ident is not None:
            self._thread.join()

    def _make_and_read(self, make: Making) -> None:
        try:
            make()
            self._read()
        except (FriendTrainingError, OSError) as error:
            self.state = f"the texts of this run cannot be read: {error}"

    def _read(self) -> None:
        table = pq.read_table(self.path).combine_chunks()
        self._inputs = table["input"].combine_chunks()
        self._texts = pa.array((text_of(json.loads(given)) for given in self._inputs.to_pylist()), pa.string())
        self._ids = table["id"].combine_chunks()
        self._places = {name: row for row, name in enumerate(self._ids.to_pylist())}
        self.state = "ready"


def text_of(given: dict[str, Any]) -> str:
    """What of an input can be searched: turns line by line, or words with spaces between them."""
    if "turns" in given:
        return "\n".join(turn["text"] for turn in given["turns"])
    if "words" in given:
        return " ".join(given["words"])
    return str(given.get("text", ""))


def reading_again(study: Path, data_dir: Path | None) -> Making:
    """Reads or makes the data of a study as the run did, and keeps its texts."""

    def make() -> None:
        from friend_training.scenarios.data import load_data
        from friend_training.scenarios.folders import run_config
        from friend_training.scenarios.kept import keep_data

        config = run_config(study)
        data = load_data(config, data_dir)
        run = Run.open(study)
        run.check_fingerprints({**run.fingerprints, "pool": data.pool_fingerprint})
        keep_data(study, config, data)

    return make


def utterances(texts: Texts, names: Iterable[str]) -> list[str | None]:
    """What a list shows of each input: the last turn, or the sentence."""
    found: list[str | None] = []
    for name in names:
        given = texts.get(name)
        found.append(None if given is None else given["turns"][-1]["text"] if "turns" in given else text_of(given))
    return found
