"""How good sentence SRL bridges are on real dialogues (DESIGN: the bridge bounds the method).

python experiments/bridges/measure.py DATA_DIR LTP_FOLDER    measure, append to results.jsonl beside this file
python experiments/bridges/measure.py                        print the table of results.jsonl
"""

import json
import sys
from pathlib import Path

from friend_training.corpora.catalogue import part_path
from friend_training.corpora.fingerprint import fingerprint
from friend_training.corpora.read import read_examples
from friend_training.corpora.within import within_utterance
from friend_training.examples import SrlExample
from friend_training.tasks.srl.ltp import LtpParser
from friend_training.tasks.srl.quality import bridge_quality

RESULTS = Path(__file__).parent / "results.jsonl"
COLUMNS = ("predicates", "precision", "recall", "f1", "left_empty", "match", "match_high")


def sentences(name: str, data_dir: Path) -> list[SrlExample]:
    """The predicates whose arguments all stand in their own utterance."""
    read = read_examples(part_path(name, data_dir), "csrl").examples
    within = [within_utterance(example, only_complete=True) for example in read]
    return [example for example in within if example.roles]


def measure(data_dir: Path, ltp: Path) -> None:
    bridge = LtpParser.load(ltp)
    with RESULTS.open("a", encoding="utf-8") as file:
        for name in ("duconv/dev", "personal-dialog/test"):
            examples = sentences(name, data_dir)
            record = {"bridge": "LTP tiny", "data": name, "fingerprint": fingerprint(examples)}
            file.write(json.dumps(record | bridge_quality(bridge, examples)) + "\n")


def table() -> None:
    print(f"| bridge | data | {' | '.join(COLUMNS)} |\n|---|---|{'--:|' * len(COLUMNS)}")
    for line in RESULTS.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        cells = [f"{record[c]:,.0f}" if c == "predicates" else f"{record[c]:.3f}" for c in COLUMNS]
        print(f"| {record['bridge']} | {record['data']} | {' | '.join(cells)} |")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        measure(Path(sys.argv[1]), Path(sys.argv[2]))
    table()
