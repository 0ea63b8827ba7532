"""Any selection as a file: one unit per line or row, with its text, its label and what became of it."""

import json
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from friend_training.core.corrections import Places
from friend_training.core.selector import Decisions
from friend_training.core.store import nullable
from friend_training.web.inspector.filtering import Rows
from friend_training.web.inspector.texts import Texts
from friend_training.web.inspector.units import Units

AT_A_TIME = 2000
"""Units that are in memory as text at once, so that a large export takes no large memory."""


def table(units: Units, decisions: Decisions, rows: Rows, places: Places, texts: Texts) -> pa.Table:
    """The units as columns. A label that was corrected by hand is the corrected one; `data` is the input as JSON."""
    kept = units.rows.take(rows)
    labels = units.labels["label"].take(rows).to_pylist()
    for number, row in enumerate(rows.tolist()):
        ruling = places.get(row)
        if ruling is not None and ruling.label is not None:
            labels[number] = ruling.label
    inputs = kept["input"].to_pylist()
    given = [texts.get(name) for name in inputs]
    return pa.table(
        {
            "task": pa.array([units.task] * len(rows), pa.string()),
            "iteration": pa.array([units.iteration] * len(rows), pa.int32()),
            "unit": kept["unit"],
            "input": kept["input"],
            "data": pa.array([None if g is None else json.dumps(g, ensure_ascii=False) for g in given], pa.string()),
            "label": pa.array(labels, pa.string()),
            "confidence": kept["confidence"],
            "match": kept["match"],
            "overall": nullable(decisions.overall[rows]),
            "chosen": decisions.chosen[rows],
            "reason": pa.array(decisions.reason[rows].tolist(), pa.string()),
            "correct": kept["correct"],
        }
    )


def jsonl(units: Units, decisions: Decisions, rows: Rows, places: Places, texts: Texts) -> Iterator[bytes]:
    """Label and data are JSON objects here, not text."""
    for start in range(0, len(rows), AT_A_TIME):
        part = table(units, decisions, rows[start : start + AT_A_TIME], places, texts)
        lines = []
        for line in part.to_pylist():
            line["label"] = json.loads(line["label"])
            line["data"] = None if line["data"] is None else json.loads(line["data"])
            lines.append(json.dumps(line, ensure_ascii=False) + "\n")
        yield "".join(lines).encode()


def parquet(units: Units, decisions: Decisions, rows: Rows, places: Places, texts: Texts) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table(units, decisions, rows, places, texts), sink, compression="zstd")
    written: bytes = sink.getvalue().to_pybytes()
    return written
