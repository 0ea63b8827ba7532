"""Who rewrites nothing, by our formulas and by those of published tools: what the choice of a formula does to a score.

python experiments/metrics/nothing_rewritten.py DATA_DIR    score u_t as its own rewrite, write results.jsonl
python experiments/metrics/nothing_rewritten.py             print the table of results.jsonl
"""

import json
import sys
from pathlib import Path

from friend_training.analysis.metrics import metric_spec
from friend_training.data.benchmarks import restoration, rewrite
from friend_training.data.summary import fingerprint
from friend_training.runs.files import write_text
from friend_training.tasks.rewriting.metrics import published_scores, score

RESULTS = Path(__file__).parent / "results.jsonl"
METRICS = (
    "em",
    "wer",
    "wer_joined",
    "rouge_l",
    "rouge_l_distinct",
    "restored_f1",
    *(f"restoration_{n}" for n in (1, 2, 3)),
)


def measure(data_dir: Path) -> None:
    lines = []
    for name, test in {"REWRITE": rewrite(data_dir)[-1], "RESTORATION": restoration(data_dir)[-1]}.items():
        said, meant = [e.dialogue.utterance.text for e in test], [e.rewrite for e in test]
        found = {**score(said, meant, said).as_dict(), **published_scores(said, meant, said)}
        record = {"test": name, "utterances": len(test), "fingerprint": fingerprint(test), "metrics": found}
        lines.append(json.dumps(record, sort_keys=True) + "\n")
    write_text(RESULTS, "".join(lines))


def table() -> None:
    titles = " | ".join(metric_spec(name).title for name in METRICS)
    print(f"| nothing rewritten | {titles} |\n|---|{'--:|' * len(METRICS)}")
    for record in map(json.loads, RESULTS.read_text(encoding="utf-8").splitlines()):
        cells = [metric_spec(name).text(record["metrics"][name]) for name in METRICS]
        print(f"| {record['test']}, {record['utterances']:,} | {' | '.join(cells)} |")


if __name__ == "__main__":
    if sys.argv[1:]:
        measure(Path(sys.argv[1]))
    table()
