"""The metrics of constituency parsing: labelled brackets as evalb counts them with its usual parameters.

- The bracket around the whole sentence that is no phrase (TOP, ROOT) and preterminals are not counted.
- Punctuation (, : `` '' .) is taken out before spans are compared, so where a comma is attached does not matter; a
  phrase that holds nothing else is gone. Which words that are says the gold tree, for both trees: evalb asks each tree
  for itself and gives up on sentences where they differ.
- A chain A+B is two brackets. Equal brackets count as often as they occur, so a second NP over the same words must be
  found, too.
- ADVP and PRT count as the same label.

Tag accuracy is over the words that are left; a sentence is complete if its brackets are exactly the gold ones.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from friend_training.core.task import PRF, Counts, Evaluation, Score, f1_of, ratio
from friend_training.types import Tree

_NOT_COUNTED = frozenset({"", "TOP", "ROOT", "S1"})
_PUNCTUATION = frozenset({",", ":", "``", "''", "."})
_SAME = {"PRT": "ADVP"}
_NOTHING = PRF()

Brackets = Counter[tuple[int, int, str]]


@dataclass(frozen=True, slots=True)
class ConstituencyScore(Score):
    """Counts over some sentences; those of two sets of sentences add up to those of both."""

    brackets: PRF = _NOTHING
    complete: int = 0
    sentences: int = 0
    tags_right: int = 0
    words: int = 0

    @classmethod
    def of(cls, predicted: Tree, gold: Tree) -> "ConstituencyScore":
        """The counts of one sentence."""
        ours, theirs = counted_brackets(predicted, gold.tags), counted_brackets(gold, gold.tags)
        tags = [pair for pair in zip(predicted.tags, gold.tags, strict=True) if pair[1] not in _PUNCTUATION]
        return cls(
            PRF.of(ours.elements(), theirs.elements()), int(ours == theirs), 1, sum(a == b for a, b in tags), len(tags)
        )

    def as_dict(self) -> dict[str, float]:
        """precision, recall, f1, complete and tag_accuracy, in percent."""
        return {
            **self.brackets.as_dict(),
            "complete": 100 * float(ratio(self.complete, self.sentences)),
            "tag_accuracy": 100 * float(ratio(self.tags_right, self.words)),
        }


def score(predicted: Sequence[Tree], gold: Sequence[Tree]) -> ConstituencyScore:
    """Score sentences in parallel sequences."""
    pairs = zip(predicted, gold, strict=True)
    return sum((ConstituencyScore.of(*pair) for pair in pairs), start=ConstituencyScore())


def bracket_scores(predicted: Sequence[Tree], gold: Sequence[Tree]) -> Evaluation:
    """precision, recall, f1, complete and tag_accuracy, in percent."""
    pairs = zip(predicted, gold, strict=True)
    return Evaluation.of([ConstituencyScore.of(*pair) for pair in pairs], ConstituencyScore())


def unit_counts(predicted: Sequence[Tree], gold: Sequence[Tree]) -> Counts:
    """One row of counts per sentence [sentences, 7]: any sum of rows gives the metric of those sentences."""
    rows = [ConstituencyScore.of(*pair).as_array() for pair in zip(predicted, gold, strict=True)]
    return np.stack(rows) if rows else np.empty((0, ConstituencyScore().as_array().size))


def bracket_f1_of(counts: Counts) -> Counts:
    return 100 * f1_of(counts[..., 0:3])


def counted_brackets(tree: Tree, gold_tags: Sequence[str]) -> Brackets:
    """The brackets that count, as (start, end, label) over the words that are no punctuation by the gold tags."""
    before = [0, *accumulate(tag not in _PUNCTUATION for tag in gold_tags)]  # the words that count before each word
    return Counter(
        (before[bracket.start], before[bracket.end], _SAME.get(label, label))
        for bracket in tree.brackets
        for label in bracket.label.split("+")
        if label not in _NOT_COUNTED and before[bracket.start] < before[bracket.end]
    )
