"""How good sentence SRL bridges are on real dialogues (docs/decisions.md#the-bridge-bounds-the-method).

python experiments/bridges/measure.py DATA_DIR LTP_FOLDER [OWN_FOLDER]    measure, write results.jsonl beside this file
python experiments/bridges/measure.py                                     print the table of results.jsonl

OWN_FOLDER is the folder `bridge` that `friend-train run configs/few-shot.yaml --set methods=[]` trains.
"""

import json
import sys
from pathlib import Path

from friend_training.bridges.bridge import Bridge
from friend_training.bridges.ltp import LtpParser
from friend_training.data.catalogue import part_path
from friend_training.data.read import read_examples
from friend_training.data.summary import fingerprint
from friend_training.friendships.bridge_quality import bridge_quality, within_utterance
from friend_training.runs.files import write_text
from friend_training.tasks.csrl.task import open_bridge
from friend_training.types import SrlExample

RESULTS = Path(__file__).parent / "results.jsonl"
COLUMNS = ("predicates", "precision", "recall", "f1", "left_empty", "match", "match_high")


def sentences(name: str, data_dir: Path) -> list[SrlExample]:
    """The predicates whose arguments all stand in their own utterance."""
    read = read_examples(part_path(name, data_dir), "csrl").examples
    within = [within_utterance(example, only_complete=True) for example in read]
    return [example for example in within if example.roles]


def measure(data_dir: Path, bridges: dict[str, Bridge]) -> None:
    records = []
    for label, bridge in bridges.items():
        for name in ("duconv/dev", "personal-dialog/test"):
            examples = sentences(name, data_dir)
            record = {"bridge": label, "data": name, "fingerprint": fingerprint(examples)}
            records.append(json.dumps(record | bridge_quality(bridge, examples)) + "\n")
    write_text(RESULTS, "".join(records))


def table() -> None:
    print(f"| bridge | data | {' | '.join(COLUMNS)} |\n|---|---|{'--:|' * len(COLUMNS)}")
    for line in RESULTS.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        cells = [f"{record[c]:,.0f}" if c == "predicates" else f"{record[c]:.3f}" for c in COLUMNS]
        print(f"| {record['bridge']} | {record['data']} | {' | '.join(cells)} |")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        data_dir, ltp, *own = map(Path, sys.argv[1:])
        measure(data_dir, {"LTP tiny": LtpParser.load(ltp)} | dict(zip(["ours"], map(open_bridge, own), strict=False)))
    table()
