"""BM25 over the 235 passages of CAsT 2021 with the question as asked, as rewritten by others and as rewritten by us.

python experiments/cast-2021/search.py REWRITER --name NAME [--unless-sure 0.5]    adds a line to results.jsonl
python experiments/cast-2021/search.py --peers                        the lines of the question as asked and of others'
python experiments/cast-2021/search.py --show                         the table

REWRITER is a folder of `friend-train export`. It sees the questions before this one, not the answers: these are
passages of a hundred words, and it was trained with turns. FRIEND_TRAINING_DATA is where cast/ lies.
"""

import argparse
import json
import os
import runpy
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from friend_training import load_rewriter
from friend_training.core.limits import Limits
from friend_training.data.catalogue import locate
from friend_training.data.text_io import open_content

HERE = Path(__file__).parent
RESULTS = HERE / "results.jsonl"
TOPICS = "cast/2021/2021_manual_evaluation_topics_v1.0.json"
BM25: Any = runpy.run_path(str(HERE.parents[1] / "examples" / "search_in_conversation.py"))["BM25"]
OTHERS = {
    "as asked": "raw_utterance",
    "rewritten by the organisers' system": "automatic_rewritten_utterance",
    "rewritten by hand": "manual_rewritten_utterance",
}
SAMPLES = 2000

Asked = tuple[list[str], dict[str, Any]]
"""The questions before this one, and its turn."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rewriter", type=Path, nargs="?")
    parser.add_argument("--name")
    parser.add_argument("--unless-sure", type=float, default=0.0)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if given.show:
        print(table())
        return
    asked = questions(Path(os.environ["FRIEND_TRAINING_DATA"]))
    if given.peers:
        for name, key in OTHERS.items():
            add(name, asked, lambda history, turn, key=key: str(turn[key]))
        return
    rewrite, times = load_rewriter(given.rewriter), list[float]()

    def ours(history: list[str], turn: dict[str, Any]) -> str:
        began = time.perf_counter()
        found = rewrite(history, turn["raw_utterance"], unless_sure=given.unless_sure)
        times.append(1000 * (time.perf_counter() - began))
        return found.text

    add(given.name, asked, ours, times=times, unless_sure=given.unless_sure)


def questions(data_dir: Path) -> list[Asked]:
    path = locate(TOPICS, data_dir)
    assert path is not None, f"{TOPICS} is not in {data_dir}"
    with open_content(path, Limits.from_environment()) as content:
        topics = json.loads(b"\n".join(line.encode() if isinstance(line, str) else line for line in content.lines()))
    return [
        ([before["raw_utterance"] for before in topic["turn"][:number]], turn)
        for topic in topics
        for number, turn in enumerate(topic["turn"])
    ]


def add(
    name: str,
    asked: Sequence[Asked],
    query: Callable[[list[str], dict[str, Any]], str],
    times: Sequence[float] = (),
    **more: Any,
) -> None:
    passages = list(dict.fromkeys(turn["passage"] for _, turn in asked))
    index = BM25(passages)
    queries = [query(history, turn) for history, turn in asked]
    answers = [passages.index(turn["passage"]) for _, turn in asked]
    ranks = [index.rank(text, answer) for text, answer in zip(queries, answers, strict=True)]
    changed = sum(text != turn["raw_utterance"] for text, (_, turn) in zip(queries, asked, strict=True))
    record = {
        "name": name,
        "questions": len(asked),
        "passages": len(passages),
        "changed": changed,
        "ranks": ranks,
        "recall_5": round(float(np.mean(np.array(ranks) <= 5)), 3),
        "mrr": round(float(np.mean(1 / np.array(ranks))), 3),
        **more,
    }
    if times:
        record["p50_ms"], record["p99_ms"] = (round(float(np.percentile(times, share)), 1) for share in (50, 99))
    with RESULTS.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(record) + "\n")
    print(json.dumps({key: value for key, value in record.items() if key != "ranks"}))


def table() -> str:
    """Intervals are of the difference from the question as asked, over questions (95 %)."""
    records = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    asked = np.array(next(one for one in records if one["name"] == "as asked")["ranks"]) <= 5
    lines = [
        "| BM25 over 235 passages, query | changed | recall@5 | − as asked | MRR |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    draw = np.random.default_rng(0).integers(len(asked), size=(SAMPLES, len(asked)))
    for one in records:
        gain = (np.array(one["ranks"]) <= 5).astype(float) - asked
        low, high = np.percentile(gain[draw].mean(axis=1), [2.5, 97.5])
        against = "" if one["name"] == "as asked" else f"{gain.mean():+.3f} [{low:+.3f}, {high:+.3f}]"
        lines.append(f"| {one['name']} | {one['changed']} | {one['recall_5']:.3f} | {against} | {one['mrr']:.3f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
