"""The split of the parsing experiment: the Penn Treebank sample that NLTK gives out, trees and dependencies together.

The sides are made by document, with the fixed seed of all splits: no document stands on two sides (and only two
sentences, of five and six words, occur in more than one document). On the training side a run draws, with its own seed,
200 sentences for each task, every task others, and the rest is its unlabeled pool: no task sees gold labels for the
sentences of another.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from friend_training.data.fingerprint import fingerprint
from friend_training.data.readers.treebanks import read_dp, read_treebank
from friend_training.data.splits import SPLIT_SEED
from friend_training.data.text_io import Problems, document_of
from friend_training.errors import DataError
from friend_training.types import Heads, HeadsExample, Tags, TagsExample, Tree, TreeExample, Words

TREES = Path("treebank_nltk/treebank.zip")
DEPENDENCIES = Path("treebank_nltk/dependency_treebank.zip")
HELD_OUT = {"test": 1000, "dev": 300}
LABELLED = 200


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A sentence with the gold labels of all three tasks."""

    words: Words
    tree: Tree
    heads: Heads

    @property
    def tree_example(self) -> TreeExample:
        return TreeExample(self.words, self.tree)

    @property
    def heads_example(self) -> HeadsExample:
        return HeadsExample(self.words, self.heads)

    @property
    def tags_example(self) -> TagsExample:
        return TagsExample(self.words, Tags(self.tree.tags))


@dataclass(frozen=True, slots=True)
class ParsingSplit:
    """What one run sees. Models get the words of the pool alone; its gold labels are for judging what was chosen."""

    constituency: tuple[TreeExample, ...]
    dependency: tuple[HeadsExample, ...]
    tagging: tuple[TagsExample, ...]
    pool: tuple[ParsedSentence, ...]
    dev: tuple[ParsedSentence, ...]
    test: tuple[ParsedSentence, ...]

    @property
    def fingerprints(self) -> dict[str, str]:
        parts = ("constituency", "dependency", "tagging", "pool", "dev", "test")
        return {name: fingerprint(getattr(self, name)) for name in parts}


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
    drawn = random.Random(seed).sample(range(len(sides["train"])), 3 * LABELLED)
    parts = [[sides["train"][i] for i in sorted(drawn[k * LABELLED : (k + 1) * LABELLED])] for k in range(3)]
    labelled = set(drawn)
    return ParsingSplit(
        constituency=tuple(sentence.tree_example for sentence in parts[0]),
        dependency=tuple(sentence.heads_example for sentence in parts[1]),
        tagging=tuple(sentence.tags_example for sentence in parts[2]),
        pool=tuple(sentence for i, sentence in enumerate(sides["train"]) if i not in labelled),
        dev=tuple(sides["dev"]),
        test=tuple(sides["test"]),
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
