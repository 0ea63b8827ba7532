import torch

from friend_training.bridges.ltp import LtpHeads, viterbi

HIDDEN, D, LABELS = 6, 3, 5


def tensors(seed: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator).half()

    return {
        "cws.classifier.0.weight": draw(2, HIDDEN), "cws.classifier.0.bias": draw(2),
        "pos.classifier.0.weight": draw(3, HIDDEN), "pos.classifier.0.bias": draw(3),
        "srl.mlp.0.weight": draw(2 * D, HIDDEN), "srl.mlp.0.bias": draw(2 * D),
        "srl.atten.weight": draw(LABELS, D + 1, D + 1), "srl.crf.transitions": draw(LABELS, LABELS),
        "srl.crf.start_transitions": draw(LABELS), "srl.crf.end_transitions": draw(LABELS),
    }  # fmt: skip


def row_by_the_formula(weights: dict[str, torch.Tensor], words: torch.Tensor, p: int) -> list[int]:
    """One sentence, one predicate, as SOURCE.txt of the model writes it down."""
    weights = {name: tensor.float() for name, tensor in weights.items()}
    z = torch.relu(words @ weights["srl.mlp.0.weight"].T + weights["srl.mlp.0.bias"]).reshape(len(words), 2, D)
    one = torch.ones(1)
    x = torch.cat([z[p, 0], one])
    scores = torch.stack(
        [
            torch.stack([x @ weights["srl.atten.weight"][label] @ torch.cat([z[a, 1], one]) for label in range(LABELS)])
            for a in range(len(words))
        ]
    )  # [argument, label]
    chain = LtpHeads.from_tensors(weights).srl_chain
    return viterbi(scores.unsqueeze(0), torch.tensor([len(words)]), chain)[0].tolist()


def test_rows_of_a_batch_are_those_of_the_formula_one_by_one() -> None:
    empty = found = 0
    for seed in range(10):
        weights = tensors(seed)
        weights["srl.atten.weight"][0, -1, -1] += 4  # so that some rows are all O
        words = 0.7 * torch.randn(3, 5, HIDDEN, generator=torch.Generator().manual_seed(seed))
        counts = torch.tensor([5, 1, 3])
        asked = torch.arange(5) < counts.unsqueeze(1)
        rows = LtpHeads.from_tensors(weights).role_rows(words, counts, asked)
        given = {(b, p): labels for b, p, labels in zip(*(part.tolist() for part in rows), strict=True)}
        for b, count in enumerate(counts.tolist()):
            for p in range(count):
                expected = row_by_the_formula(weights, words[b, :count], p)
                assert given.pop((b, p), [0] * 5)[:count] == expected
                found, empty = found + any(expected), empty + (not any(expected))
        assert not given
    assert found > 20  # both kinds of rows have been seen
    assert empty > 20


def test_only_rows_asked_for_are_given() -> None:
    words = torch.randn(2, 4, HIDDEN, generator=torch.Generator().manual_seed(1))
    counts = torch.tensor([4, 4])
    heads = LtpHeads.from_tensors(tensors(2))
    everything = heads.role_rows(words, counts, torch.ones(2, 4, dtype=torch.bool))
    places = list(zip(everything[0].tolist(), everything[1].tolist(), strict=True))
    b, p = places[-1]
    asked = torch.zeros(2, 4, dtype=torch.bool)
    asked[b, p] = True
    sentence, word, labels = heads.role_rows(words, counts, asked)
    assert (sentence.tolist(), word.tolist()) == ([b], [p])
    assert labels.tolist() == [everything[2][-1].tolist()]
    assert [len(part) for part in heads.role_rows(words, counts, torch.zeros(2, 4, dtype=torch.bool))] == [0, 0, 0]
