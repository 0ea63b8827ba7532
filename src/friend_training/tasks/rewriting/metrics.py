"""The metrics of dialogue rewriting, all over characters: a space is a character like any other.

- WER: the edit distances of all utterances together, divided by the length of all references together.
- ROUGE-L: per utterance the F1 of the longest common subsequence, 2·LCS / (|prediction| + |reference|); the mean.
- EM: the share of predictions equal to their reference.
- BLEU: of the whole corpus, up to 4-grams, brevity penalty exp(1 - |references| / |predictions|) where the predictions
  are shorter, no smoothing (without one matching 4-gram it is 0).
- Restored F1: of the characters that a rewrite adds to u_t, those that the reference adds too, whatever their order.
  It is 0 for whoever leaves u_t as it is, which the others reward where most utterances need no rewrite. It is ours;
  `published_scores` has the restoration score of Pan et al. 2019, and WER and ROUGE-L as the friend-training paper's
  tools count them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
from rapidfuzz.distance import LCSseq, Levenshtein

from friend_training.core.task import PRF, Counts, Score, f1_of, ratio
from friend_training.types import words_in

ORDERS = (1, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class RewritingScore(Score):
    """Counts over some utterances; the counts of two sets of utterances add up to those of both."""

    examples: int = 0
    rouge_l: float = 0.0
    exact: int = 0
    edits: int = 0
    reference: int = 0
    prediction: int = 0
    matching: tuple[int, ...] = (0,) * len(ORDERS)
    possible: tuple[int, ...] = (0,) * len(ORDERS)
    restored: int = 0
    added: int = 0
    missing: int = 0

    @classmethod
    def of(cls, prediction: str, reference: str, utterance: str) -> "RewritingScore":
        """The counts of one utterance: u_t, its rewrite as predicted, and as it should be."""
        grams = [(_ngrams(prediction, order), _ngrams(reference, order)) for order in ORDERS]
        added, missing = (Counter(text) - Counter(utterance) for text in (prediction, reference))
        return cls(
            examples=1,
            rouge_l=_rouge_l(prediction, reference),
            exact=int(prediction == reference),
            edits=Levenshtein.distance(prediction, reference),
            reference=len(reference),
            prediction=len(prediction),
            matching=tuple((predicted & gold).total() for predicted, gold in grams),
            possible=tuple(predicted.total() for predicted, _ in grams),
            restored=(added & missing).total(),
            added=added.total(),
            missing=missing.total(),
        )

    def as_dict(self) -> dict[str, float]:
        """All metrics in percent. Higher is better, except for WER."""
        counts = self.as_array()
        return {
            "rouge_l": float(rouge_l_of(counts)),
            "em": float(exact_match_of(counts)),
            "wer": float(word_error_rate_of(counts)),
            "bleu": float(bleu_of(counts)),
            "restored_f1": float(restored_f1_of(counts)),
        }


def score(predictions: Sequence[str], references: Sequence[str], utterances: Sequence[str]) -> RewritingScore:
    """Score predicted rewrites against their references, in the same order as the utterances they are of."""
    cases = zip(predictions, references, utterances, strict=True)
    return sum((RewritingScore.of(*case) for case in cases), start=RewritingScore())


def unit_counts(predictions: Sequence[str], references: Sequence[str], utterances: Sequence[str]) -> Counts:
    """One row of counts per utterance [utterances, 17]: any sum of rows gives the metric of those utterances."""
    rows = [RewritingScore.of(*case).as_array() for case in zip(predictions, references, utterances, strict=True)]
    return np.stack(rows) if rows else np.empty((0, RewritingScore().as_array().size))


def rouge_l_of(counts: Counts) -> Counts:
    return 100 * ratio(counts[..., 1], counts[..., 0])


def exact_match_of(counts: Counts) -> Counts:
    return 100 * ratio(counts[..., 2], counts[..., 0])


def word_error_rate_of(counts: Counts) -> Counts:
    """WER in percent; where all references are empty, one stands in for their length so that edits still count."""
    return 100 * counts[..., 3] / np.maximum(counts[..., 4], 1)


def bleu_of(counts: Counts) -> Counts:
    reference, prediction = counts[..., 4], counts[..., 5]
    precisions = ratio(counts[..., 6:10], counts[..., 10:14])  # [..., orders]
    some = (precisions > 0).all(-1)
    mean = np.exp(np.log(np.where(precisions > 0, precisions, 1.0)).mean(-1))
    brevity = np.exp(np.minimum(0.0, 1 - reference / np.maximum(prediction, 1)))
    return np.asarray(100 * np.where(some, mean * brevity, 0.0))


def restored_f1_of(counts: Counts) -> Counts:
    """2·restored / (added + missing); 100 where nothing is missing and nothing was added."""
    restored, both = counts[..., 14], counts[..., 15] + counts[..., 16]
    return 100 * np.where(both > 0, ratio(2 * restored, both), 1.0)


def by_need(needed: Sequence[bool | int], exact: Sequence[int]) -> dict[str, PRF]:
    """How many rewrites are exact of the utterances that need one, and of those that stand by themselves."""
    found = {}
    for kind, wanted in (("needs a rewrite", True), ("needs none", False)):
        of_kind = [right for need, right in zip(needed, exact, strict=True) if bool(need) == wanted]
        if of_kind:
            found[kind] = PRF(sum(of_kind), len(of_kind), len(of_kind))
    return found


def published_scores(
    predictions: Sequence[str], references: Sequence[str], utterances: Sequence[str]
) -> dict[str, float]:
    """The scores of other papers by their own formulas, in percent, to stand beside their numbers.

    - wer_joined: jiwer 2.2 joins all sentences of a corpus, so that an edit may reach from one into the next. No
      sum of counts gives it.
    - rouge_l_distinct: `rouge` 1.0 divides the distinct tokens of the common subsequence by the distinct tokens.
    - restoration_1, _2, _3: the restoration score of Pan et al. 2019, F1 over the distinct n-grams that hold a
      character which u_t does not have. Utterances whose reference has no such character are left out.

    White space parts tokens there and is none itself, so it is left out. (`rouge` takes a full stop of ASCII for the
    end of a sentence; here it is a character.)
    """
    made, meant, said = ([_unspaced(text) for text in of] for of in (predictions, references, utterances))
    everything_made, everything_meant = "".join(made), "".join(meant)
    pairs = list(zip(made, meant, strict=True))
    cases = list(zip(made, meant, said, strict=True))
    restored = [sum((_restored_ngrams(*case, order=order) for case in cases), PRF()) for order in (1, 2, 3)]
    return {
        "wer_joined": 100 * Levenshtein.distance(everything_made, everything_meant) / max(len(everything_meant), 1),
        "rouge_l_distinct": 100 * float(ratio(sum(_distinct_rouge_l(*pair) for pair in pairs), len(pairs))),
        **{f"restoration_{order}": 100 * found.f1 for order, found in enumerate(restored, start=1)},
    }


def _unspaced(text: str) -> str:
    return "".join(text.split())


def _restored_ngrams(prediction: str, reference: str, utterance: str, *, order: int) -> PRF:
    known = set(utterance)
    if set(reference) <= known:
        return PRF()
    grams = [{gram for gram in _ngrams(text, order) if not set(gram) <= known} for text in (prediction, reference)]
    return PRF.of(*grams)


def _distinct_rouge_l(prediction: str, reference: str) -> float:
    if not prediction or not reference:
        return float(prediction == reference)
    common = len(_common_characters(reference, prediction))
    return 2 * common / (len(set(prediction)) + len(set(reference)))


def _common_characters(first: str, second: str) -> set[str]:
    """Those of the longest common subsequence, of several the one that `rouge` walks back along."""
    lengths = [[0] * (len(second) + 1)]
    for a in first:
        above, row = lengths[-1], [0]
        for place, b in enumerate(second):
            row.append(above[place] + 1 if a == b else max(above[place + 1], row[-1]))
        lengths.append(row)
    found, i, j = set(), len(first), len(second)
    while i and j:
        if first[i - 1] == second[j - 1]:
            found.add(first[i - 1])
            i, j = i - 1, j - 1
        elif lengths[i - 1][j] > lengths[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return found


def _rouge_l(prediction: str, reference: str) -> float:
    if prediction == reference:  # also where both are empty
        return 1.0
    return 2 * LCSseq.similarity(prediction, reference) / (len(prediction) + len(reference))


def _ngrams(text: str, order: int) -> Counter[str]:
    return Counter(text[start : start + order] for start in range(len(text) - order + 1))


# Rewriting by words. Case, blanks and the mark at the end do not count: rewrites of different makers differ in them.


_NO_EDITS = PRF()


@dataclass(frozen=True, slots=True)
class WordScore(Score):
    """Counts over utterances in words: exact matches, of all and of those that need a rewrite; edits; and changes.

    An edit is a stretch of u_t with the words that stand in its place (longest common blocks stay as they are); it is
    right if the gold rewrite has the same one. `changed` are utterances that were changed, `made` those of them whose
    rewrite is exact.
    """

    examples: int = 0
    exact: int = 0
    needed: int = 0
    needed_exact: int = 0
    changed: int = 0
    made: int = 0
    edits: PRF = _NO_EDITS

    @classmethod
    def of(cls, prediction: str, reference: str, utterance: str) -> "WordScore":
        """The counts of one utterance."""
        said, gold, own = (_compared(text) for text in (prediction, reference, utterance))
        whole_said, whole_gold, whole_own = ("".join(words) for words in (said, gold, own))
        exact, needed, changed = whole_said == whole_gold, whole_gold != whole_own, whole_said != whole_own
        return cls(
            examples=1,
            exact=int(exact),
            needed=int(needed),
            needed_exact=int(needed and exact),
            changed=int(changed),
            made=int(changed and exact),
            edits=PRF.of(word_edits(own, said) if changed else (), word_edits(own, gold) if needed else ()),
        )

    def as_dict(self) -> dict[str, float]:
        """All in percent."""
        return {
            "em": 100 * float(ratio(self.exact, self.examples)),
            "needed_em": 100 * float(ratio(self.needed_exact, self.needed)),
            "changed": 100 * float(ratio(self.changed, self.examples)),
            "changed_precision": 100 * float(ratio(self.made, self.changed)),
            **self.edits.as_dict("edit_"),
        }


def word_edits(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int, tuple[str, ...]]]:
    """What makes the words `before` into `after`: stretches of the first and the words in their place."""
    codes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [(start, end, tuple(after[i:j])) for tag, start, end, i, j in codes if tag != "equal"]


def needed_em_of(counts: Counts) -> Counts:
    """Exact matches among the utterances that need a rewrite, in percent, of counts of `WordScore`."""
    return 100 * ratio(counts[..., 3], counts[..., 2])


def word_em_of(counts: Counts) -> Counts:
    return 100 * ratio(counts[..., 1], counts[..., 0])


def edit_f1_of(counts: Counts) -> Counts:
    return 100 * f1_of(counts[..., 6:9])


def _compared(text: str) -> list[str]:
    words = [text[start:end].lower() for start, end in words_in(text)]
    while words and words[-1] in (".", "!", "?"):
        words.pop()
    return words
