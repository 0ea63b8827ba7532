"""The metrics of coreference: how often a mention's antecedent is right, and the CoNLL metrics of clusters.

- Antecedents: a link is right if its antecedent overlaps an earlier mention of the same entity; one to nothing, if
  the entity has none. F1 counts links to something.
- MUC (Vilain et al. 1995): links that partitions by the other side's clusters leave whole.
- B³ (Bagga & Baldwin 1998): per mention, the share of its cluster that is in the other side's cluster.
- CEAF-e (Luo 2005): the best one-to-one alignment of clusters by φ4, 2·|K ∩ R| / (|K| + |R|).

MUC and B³ are ratios of sums over mentions and links, CEAF-e of sums over clusters, all of the whole test set, as the
reference scorer has them; the CoNLL score is the mean of the three F1.
"""

from collections.abc import Collection, Hashable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from friend_training.core.task import PRF, Counts, Score, f1_of, ratio

Clusters = Collection[frozenset[Hashable]]


@dataclass(frozen=True, slots=True)
class ClusterScore(Score):
    """(recall numerator, its denominator, precision numerator, its denominator) of each metric."""

    muc: tuple[float, ...] = (0.0,) * 4
    b_cubed: tuple[float, ...] = (0.0,) * 4
    ceaf_e: tuple[float, ...] = (0.0,) * 4

    @classmethod
    def of(cls, response: Clusters, key: Clusters) -> "ClusterScore":
        """The counts of one dialogue."""
        aligned = _aligned(response, key)
        return cls(
            (*_muc(key, response), *_muc(response, key)),
            (*_b_cubed(key, response), *_b_cubed(response, key)),
            (aligned, len(key), aligned, len(response)),
        )

    def as_dict(self) -> dict[str, float]:
        """Recall, precision and F1 of each metric, and the CoNLL score, in percent."""
        found: dict[str, float] = {}
        for name, counts in (("muc", self.muc), ("b_cubed", self.b_cubed), ("ceaf_e", self.ceaf_e)):
            recall, precision = ratio(counts[0], counts[1]), ratio(counts[2], counts[3])
            found[f"{name}_recall"], found[f"{name}_precision"] = 100 * float(recall), 100 * float(precision)
            found[f"{name}_f1"] = 100 * float(_harmonic(recall, precision))
        return {**found, "conll": float(conll_of(self.as_array()))}


def conll_of(counts: Counts) -> Counts:
    """The mean F1 of the three metrics, in percent, of summed counts [..., 12]."""
    by_metric = counts.reshape(*counts.shape[:-1], 3, 4)
    recall, precision = (ratio(by_metric[..., i], by_metric[..., i + 1]) for i in (0, 2))
    return np.asarray(100 * _harmonic(recall, precision).mean(-1))


def _harmonic(recall: Counts, precision: Counts) -> Counts:
    return ratio(2 * recall * precision, recall + precision)


def _muc(clusters: Clusters, others: Clusters) -> tuple[float, float]:
    home = {mention: number for number, cluster in enumerate(others) for mention in cluster}
    kept = whole = 0
    for cluster in clusters:
        parts = {home.get(mention, ("alone", mention)) for mention in cluster}
        kept += len(cluster) - len(parts)
        whole += len(cluster) - 1
    return float(kept), float(whole)


def _b_cubed(clusters: Clusters, others: Clusters) -> tuple[float, float]:
    home = {mention: cluster for cluster in others for mention in cluster}
    shares = [
        len(cluster & home[mention]) / len(cluster) for cluster in clusters for mention in cluster if mention in home
    ]
    return float(sum(shares)), float(sum(map(len, clusters)))


def _aligned(response: Clusters, key: Clusters) -> float:
    if not response or not key:
        return 0.0
    alike = np.array([[2 * len(a & b) / (len(a) + len(b)) for b in response] for a in key])
    rows, columns = linear_sum_assignment(alike, maximize=True)
    return float(alike[rows, columns].sum())


_NO_LINKS, _NO_CLUSTERS = PRF(), ClusterScore()


@dataclass(frozen=True, slots=True)
class AntecedentScore(Score):
    """Counts over mentions: how many there are, how many have the right antecedent or none; and the links."""

    mentions: int = 0
    right: int = 0
    links: PRF = _NO_LINKS
    clusters: ClusterScore = _NO_CLUSTERS

    def as_dict(self) -> dict[str, float]:
        return {
            "accuracy": 100 * float(ratio(self.right, self.mentions)),
            **self.links.as_dict("link_"),
            **self.clusters.as_dict(),
        }


def link_f1_of(counts: Counts) -> Counts:
    return 100 * f1_of(counts[..., 2:5])


def antecedent_accuracy_of(counts: Counts) -> Counts:
    return 100 * ratio(counts[..., 1], counts[..., 0])


def conll_of_links(counts: Counts) -> Counts:
    """The CoNLL score of summed counts of `AntecedentScore`."""
    return conll_of(counts[..., 5:])
