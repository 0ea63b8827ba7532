"""No dialogue, and no near-duplicate of one, on two sides."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from friend_training.data.splits import Clusters, count_dialogues, join_near_duplicates, split
from friend_training.errors import DataError
from friend_training.types import CsrlExample, Dialogue, RewritingExample, Turn, dialogue_group


def dialogue(name: str, *texts: str) -> Dialogue:
    return Dialogue(name, tuple(Turn("AB"[i % 2], text) for i, text in enumerate(texts)))


def different(count: int) -> list[Dialogue]:
    generator = random.Random(3)
    characters = [chr(0x4E00 + i) for i in range(2000)]
    return [dialogue(f"d{i}", "".join(generator.choices(characters, k=12)), "好") for i in range(count)]


def test_sizes_are_exact_and_parts_disjoint() -> None:
    parts = split(different(50), {"train": 30, "dev": 5, "test": 10})
    assert {name: len(part) for name, part in parts.items()} == {"train": 30, "dev": 5, "test": 10}
    names = [d.id for part in parts.values() for d in part]
    assert len(set(names)) == 45


def test_the_rest_goes_where_it_should_wherever_it_is_named() -> None:
    parts = split(different(50), {"train": None, "dev": 5})
    assert len(parts["train"]) == 45


def test_seeded_and_independent_of_order() -> None:
    examples = different(40)
    first = split(examples, {"a": 20, "b": None}, seed=1)
    turned = split(examples[::-1], {"a": 20, "b": None}, seed=1)
    assert {d.id for d in first["a"]} == {d.id for d in turned["a"]}
    assert {d.id for d in split(examples, {"a": 20, "b": None}, seed=2)["a"]} != {d.id for d in first["a"]}
    assert [d.id for d in first["a"]] == [d.id for d in examples if d in first["a"]], "order is kept within a part"


def test_cuts_of_one_dialogue_stay_together_and_count_once() -> None:
    examples = [CsrlExample(Dialogue(f"{d.id}/turn{n}", d.turns[:n]), ()) for d in different(20) for n in (1, 2)]
    parts = split(examples, {"train": 15, "dev": 5})
    groups = [{dialogue_group(e.dialogue.id) for e in part} for part in parts.values()]
    assert groups[0].isdisjoint(groups[1])
    assert [count_dialogues(part) for part in parts.values()] == [15, 5]
    assert [len(part) for part in parts.values()] == [30, 10]


def test_rewriting_cases_of_one_context_stay_together() -> None:
    cases = [
        RewritingExample(dialogue(f"r{i}-{j}", d.turns[0].text, "嗯！" if j else "嗯", f"然后呢{i}{j}"), "x")
        for i, d in enumerate(different(20))
        for j in (0, 1)
    ]
    for seed in range(5):
        parts = split(cases, {"train": 20, "dev": 20}, seed=seed)
        groups = [{e.dialogue.id.split("-")[0] for e in part} for part in parts.values()]
        assert groups[0].isdisjoint(groups[1])


def test_near_duplicates_stay_together() -> None:
    originals = different(20)
    copies = [dialogue(f"copy-{d.id}", f"{d.turns[0].text}！", "好呀") for d in originals]
    for seed in range(5):
        parts = split([*originals, *copies], {"a": 20, "b": 20}, seed=seed)
        groups = [{d.id.removeprefix("copy-") for d in part} for part in parts.values()]
        assert groups[0].isdisjoint(groups[1])


def test_what_cannot_be_filled_is_an_error() -> None:
    with pytest.raises(DataError, match=r"test \(2 missing\) from 10 dialogues"):
        split(different(10), {"train": 9, "test": 3})


@given(st.lists(st.text(alphabet="甲乙丙", max_size=7), max_size=12))
def test_clusters_hold_exactly_the_chains_of_alike_texts(texts: list[str]) -> None:
    """Against the plain definition, by trying all pairs."""

    def pieces(text: str) -> set[str]:
        return {text[i : i + 4] for i in range(len(text) - 3)}

    def alike(a: str, b: str) -> bool:
        union = pieces(a) | pieces(b)
        return bool(a) and (a == b or (bool(union) and len(pieces(a) & pieces(b)) >= 0.8 * len(union)))

    expected = Clusters(len(texts))
    for i, a in enumerate(texts):
        for j, b in enumerate(texts[:i]):
            if alike(a, b):
                expected.join(i, j)
    clusters = Clusters(len(texts))
    join_near_duplicates(clusters, texts)
    assert clusters.labels() == expected.labels()
