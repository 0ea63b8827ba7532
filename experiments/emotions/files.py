"""The files that the experiments on MELD and CPED read: gold of each task, dev, test, pool, and what a word list says.

python experiments/emotions/files.py DATA_DIR OUT, then
friend-train experiment experiments/meld --data-dir OUT, and the same for cped.

DATA_DIR holds emo_meld/ and cped/ as they were published. Gold of either task and the pool are drawn for each seed:
100 utterances for each, and 6,000, none of which says what another of the three says. OUT holds texts of the datasets,
which stay there.
"""

import csv
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from friend_training.data.catalogue import locate
from friend_training.data.readers.emotions import (
    FeltUtterance,
    few_shot,
    read_cped_emotions,
    read_meld,
    split_by_dialogue,
)
from friend_training.data.text_io import Problems
from friend_training.tasks.sources import read_lexicon

LABELS, POOL, SEEDS = 100, 6000, (1, 2, 3, 4, 5)
COLUMNS = ("id", "text", "polarity", "emotion")


def main(data_dir: Path, out: Path) -> None:
    meld = [_read(data_dir, f"emo_meld/{part}_sent_emo.csv", read_meld) for part in ("train", "dev", "test")]
    _write(out / "meld", *meld, words="english", spaced=True, undecided=None)
    # Of CPED two files are at hand, and each is split anew by dialogue: dev is of the first, test of the second.
    valid, test = (_read(data_dir, f"cped/{part}_split.csv", read_cped_emotions) for part in ("valid", "test"))
    first = split_by_dialogue(valid, {"dev": 300, "train": None})
    second = split_by_dialogue(test, {"test": 800, "train": None})
    train = [*first["train"], *second["train"]]
    _write(out / "cped", train, first["dev"], second["test"], words="chinese", spaced=False, undecided="neutral")


def _read(data_dir: Path, path: str, read: Any) -> list[FeltUtterance]:
    found = locate(path, data_dir)
    assert found is not None, f"{path} is not in {data_dir}"
    return list(read(found, Problems(found, strict=True)))


def _write(
    folder: Path,
    train: Sequence[FeltUtterance],
    dev: Sequence[FeltUtterance],
    test: Sequence[FeltUtterance],
    *,
    words: str,
    spaced: bool,
    undecided: str | None,
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _rows(folder / "dev.csv", dev)
    _rows(folder / "test.csv", test)
    for seed in SEEDS:
        shot = few_shot(train, LABELS, pool=POOL, seed=seed)
        _rows(folder / f"polarity-{seed}.csv", shot.polarity_gold)
        _rows(folder / f"emotion-{seed}.csv", shot.emotion_gold)
        _rows(folder / f"pool-{seed}.csv", shot.pool)
    says = replace(read_lexicon(Path(__file__).parent / f"{words}.txt", spaced=spaced), undecided=undecided)
    with (folder / "word-list.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("id", "label"))
        rows.writerows((one.text.id, says(one.text)) for one in (*train, *dev, *test))


def _rows(path: Path, utterances: Iterable[FeltUtterance]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        rows.writerows((one.text.id, one.text.text, one.polarity, one.emotion) for one in utterances)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
