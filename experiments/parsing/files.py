"""The files that the parsing experiments read: gold of each task, dev, test and pool of the Penn Treebank sample.

python experiments/parsing/files.py DATA_DIR OUT, then
friend-train experiment experiments/parsing --data-dir OUT.

DATA_DIR holds treebank_nltk/ as NLTK gives it out, trees and dependencies of the same sentences. The sides are made by
document, with the fixed seed of all splits: no document stands on two sides (and only two sentences, of five and six
words, occur in more than one). On the training side 200 sentences are drawn for each task and seed, every task others,
and the rest is the pool: no task sees gold labels for the sentences of another. OUT holds sentences of the treebank,
which stay there.
"""

import random
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from friend_training.data.readers.treebanks import bracketed, read_dp, read_treebank
from friend_training.data.splits import SPLIT_SEED
from friend_training.data.tables import write_rows
from friend_training.data.text_io import Problems, document_of
from friend_training.errors import DataError
from friend_training.friendships.parsing import lexical_heads
from friend_training.types import Heads, Tree, Words

TREES = Path("treebank_nltk/treebank.zip")
DEPENDENCIES = Path("treebank_nltk/dependency_treebank.zip")
HELD_OUT = {"test": 1000, "dev": 300}
TASKS = ("constituency", "dependency", "tagging")
LABELLED, SEEDS = 200, (1, 2, 3)


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A sentence with the gold labels of all three tasks."""

    words: Words
    tree: Tree
    heads: Heads


@dataclass(frozen=True, slots=True)
class ParsingSplit:
    """What one seed sees: gold by task, and the rest of the training side."""

    gold: Mapping[str, Sequence[ParsedSentence]]
    pool: Sequence[ParsedSentence]
    dev: Sequence[ParsedSentence]
    test: Sequence[ParsedSentence]


def main(data_dir: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    sentences = penn_sample(data_dir)
    for seed in SEEDS:
        split = parsing_split(sentences, seed=seed)
        for task, gold in split.gold.items():
            _treebank(out / f"{task}-{seed}", task, gold)
        # A dependency parser that has the other parser's gold too, by head rules.
        by_rules = [
            ParsedSentence(one.words, one.tree, Heads(lexical_heads(one.tree))) for one in split.gold["constituency"]
        ]
        _treebank(out / f"converted-{seed}", "dependency", [*split.gold["dependency"], *by_rules])
        write_rows(
            out / f"pool-{seed}.jsonl",
            (
                {
                    "id": one.words.id,
                    "words": list(one.words.words),
                    "constituency": bracketed(one.words.words, one.tree),
                    "dependency": list(one.heads.heads),
                    "tagging": list(one.tree.tags),
                }
                for one in split.pool
            ),
        )
    for side, held_out in (("dev", split.dev), ("test", split.test)):
        for task in ("constituency", "dependency"):
            _treebank(out / side, task, held_out)


def _treebank(path: Path, task: str, sentences: Iterable[ParsedSentence]) -> None:
    """Trees as the Penn Treebank has them, all else in columns as NLTK has it: word, tag, head."""
    if task == "constituency":
        text = "".join(bracketed(one.words.words, one.tree) + "\n" for one in sentences)
        path.with_suffix(".mrg").write_text(text, encoding="utf-8")
        return
    rows = [zip(one.words.words, one.tree.tags, map(str, one.heads.heads), strict=True) for one in sentences]
    text = "\n".join("".join("\t".join(row) + "\n" for row in sentence) for sentence in rows)
    path.with_suffix(".dp").write_text(text, encoding="utf-8")


def penn_sample(data_dir: str | Path) -> list[ParsedSentence]:
    """Every sentence of the sample; an error unless trees and dependencies are of the same words."""
    trees, dependencies = data_dir / TREES, data_dir / DEPENDENCIES
    pairs = zip_longest(
        read_treebank(trees, Problems(trees, strict=True)), read_dp(dependencies, Problems(dependencies, strict=True))
    )
    sentences = []
    for tree, arcs in pairs:
        if tree is None or arcs is None or tree.words != arcs.words:
            found = [one.words.id for one in (tree, arcs) if one is not None]
            raise DataError(f"no tree with the same words: {' and '.join(found)}", path=dependencies)
        sentences.append(ParsedSentence(tree.words, tree.tree, arcs.heads))
    return sentences


def parsing_split(sentences: Sequence[ParsedSentence], *, seed: int) -> ParsingSplit:
    """The split of a run: dev and test are the same for every seed, the labelled sentences are drawn with it."""
    sides = split_by_document(sentences, HELD_OUT)
    drawn = random.Random(seed).sample(range(len(sides["train"])), len(TASKS) * LABELLED)
    parts = [drawn[number * LABELLED : (number + 1) * LABELLED] for number in range(len(TASKS))]
    labelled = set(drawn)
    return ParsingSplit(
        gold={task: [sides["train"][i] for i in sorted(part)] for task, part in zip(TASKS, parts, strict=True)},
        pool=[sentence for i, sentence in enumerate(sides["train"]) if i not in labelled],
        dev=sides["dev"],
        test=sides["test"],
    )


def split_by_document(
    sentences: Sequence[ParsedSentence], held_out: Mapping[str, int], *, seed: int = SPLIT_SEED
) -> dict[str, list[ParsedSentence]]:
    """Parts of exactly these sizes in sentences, made of whole documents, and all the rest as `train`.

    Documents are shuffled and go to the first part that has room for them, so that small ones fill it up.
    """
    size = Counter(document_of(sentence.words.id) for sentence in sentences)
    order = sorted(size)
    random.Random(seed).shuffle(order)
    room = dict(held_out)
    side: dict[str, str] = {}
    for document in order:
        side[document] = next((name for name, left in room.items() if left >= size[document]), "train")
        if side[document] != "train":
            room[side[document]] -= size[document]
    if any(room.values()):
        missing = ", ".join(f"{name} ({left} missing)" for name, left in room.items() if left)
        raise DataError(f"cannot fill {missing} with whole documents: there are {len(size)}, {size.total()} sentences")
    parts: dict[str, list[ParsedSentence]] = {name: [] for name in (*held_out, "train")}
    for sentence in sentences:
        parts[side[document_of(sentence.words.id)]].append(sentence)
    return parts


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
