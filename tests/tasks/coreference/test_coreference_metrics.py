"""The cluster metrics on the example of the reference scorer (Pradhan et al. 2014) and beside scorch, and links."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scorch.scores import b_cubed, ceaf_e, muc

from friend_training.core.task import Evaluation
from friend_training.tasks.coreference.metrics import ClusterScore, conll_of
from friend_training.tasks.coreference.model import clusters_of_links
from friend_training.tasks.coreference.task import score_links
from friend_training.types import CoreferenceExample, Dialogue, Link, Mention, Turn


def clusters(*names: str) -> list[frozenset[str]]:
    return [frozenset(name) for name in names]


KEY, RESPONSE = clusters("abc", "defg"), clusters("ab", "cd", "fghi")


def test_the_example_of_the_reference_scorer() -> None:
    """Figures 4 to 8 of "Scoring Coreference Partitions of Predicted Mentions", computed there by hand."""
    found = ClusterScore.of(RESPONSE, KEY).as_dict()
    assert found["muc_recall"] == pytest.approx(100 * 2 / 5)
    assert found["muc_precision"] == pytest.approx(100 * 2 / 5)
    assert found["b_cubed_recall"] == pytest.approx(100 * (4 / 3 + 1 / 3 + 1 / 4 + 4 / 4) / 7)
    assert found["b_cubed_precision"] == pytest.approx(100 * (4 / 2 + 1 / 2 + 1 / 2 + 4 / 4) / 8)
    assert found["ceaf_e_recall"] == pytest.approx(100 * 1.3 / 2)
    assert found["ceaf_e_precision"] == pytest.approx(100 * 1.3 / 3)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12))
def test_another_scorer_gives_the_same(homes: list[tuple[int, int]]) -> None:
    """scorch is public code for the same metrics; each mention has a cluster on either side, or none (0)."""
    key, response = (
        [frozenset(m for m, of in enumerate(homes) if of[side] == name) for name in range(1, 5)] for side in (0, 1)
    )
    key, response = ([cluster for cluster in side if cluster] for side in (key, response))
    # where nothing is shared, and for clusters of one in MUC, scorch divides by zero or answers by convention
    assume(any(len(one & other) > 1 for one in key for other in response))
    found = ClusterScore.of(response, key).as_dict()
    for name, scorer in (("muc", muc), ("b_cubed", b_cubed), ("ceaf_e", ceaf_e)):
        recall, precision, f1 = scorer([set(one) for one in key], [set(one) for one in response])
        assert (found[f"{name}_recall"], found[f"{name}_precision"], found[f"{name}_f1"]) == pytest.approx(
            (100 * recall, 100 * precision, 100 * f1)
        )


def test_equal_clusters_are_perfect_and_singles_earn_no_links() -> None:
    assert ClusterScore.of(KEY, KEY).as_dict()["conll"] == pytest.approx(100)
    alone = ClusterScore.of(clusters(*"abcdefg"), KEY).as_dict()
    assert alone["muc_f1"] == 0
    assert alone["b_cubed_precision"] == pytest.approx(100)


def test_counts_of_dialogues_add_up() -> None:
    both = ClusterScore.of(RESPONSE, KEY) + ClusterScore.of(KEY, KEY)
    rows = np.stack([ClusterScore.of(RESPONSE, KEY).as_array(), ClusterScore.of(KEY, KEY).as_array()])
    assert float(conll_of(rows.sum(0))) == pytest.approx(both.as_dict()["conll"])


def test_links_close_over_clusters() -> None:
    a, b, c, d = (Mention(turn, 0, 1) for turn in range(4))
    assert clusters_of_links([(a, None), (b, a), (d, c), (c, b)]) == [frozenset({a, b, c, d})]


ANN = Mention(0, 5, 8)
HER = Mention(1, 5, 8)
IT = Mention(1, 13, 15)
EXAMPLE = CoreferenceExample(
    Dialogue("d/turn2", (Turn("user", "Call Ann Lee"), Turn("user", "Tell her of it"))), ((ANN, HER), (IT,))
)


def scored(*links: Link) -> Evaluation:
    return score_links([links], [EXAMPLE])


def test_an_antecedent_that_overlaps_the_gold_one_is_right() -> None:
    found = scored(Link(HER, Mention(0, 5, 12)), Link(IT, None))
    assert (found["accuracy"], found["link_f1"], found["conll"]) == (100, 100, 100)


def test_wrong_and_missing_links() -> None:
    wrong = scored(Link(HER, Mention(0, 0, 4)), Link(IT, Mention(0, 0, 4)))
    assert (wrong["accuracy"], wrong["link_precision"], wrong["link_recall"]) == (0, 0, 0)
    missing = scored(Link(HER, None), Link(IT, None))
    assert (missing["accuracy"], missing["link_recall"]) == (50, 0)
