"""The encoder written out in two halves: the same pass as transformers' own, for every family, shared below."""

import pytest
import torch
from torch import Tensor
from transformers import AutoConfig, AutoModel

from friend_training.nn.encoder import FAMILIES, Encoder

WIDTH, LENGTH = 16, 7


def encoder_of(family: str) -> Encoder:
    torch.manual_seed(0)
    sizes = {
        "vocab_size": 30,
        "embedding_size": 12 if family in ("electra", "roformer") else WIDTH,
        "hidden_size": WIDTH,
        "num_hidden_layers": 3,
        "num_attention_heads": 2,
        "intermediate_size": 20,
        "max_position_embeddings": 40,
        "initializer_range": 0.5,  # the usual one leaves a network of this size next to linear
    }
    return Encoder(AutoModel.from_config(AutoConfig.for_model(family, **sizes))).eval()


def batch() -> tuple[Tensor, Tensor, Tensor]:
    ids = torch.randint(5, 30, (3, LENGTH), generator=torch.Generator().manual_seed(1))
    mask = torch.ones(3, LENGTH, dtype=torch.long)
    mask[1, 4:] = 0
    return ids, torch.zeros_like(ids), mask


@pytest.mark.parametrize("family", FAMILIES)
def test_with_nothing_added_it_is_the_models_own_pass(family: str) -> None:
    encoder, (ids, types, mask) = encoder_of(family), batch()
    at = torch.tensor([2, 0, 1, 1])
    got = encoder.halfway(ids, types, mask, at, torch.zeros(4, LENGTH, WIDTH))
    expected = encoder(ids, types, mask)[at]
    real = mask[at].bool()
    torch.testing.assert_close(got[real], expected[real], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_added_reaches_the_other_pieces_of_its_own_row_only(family: str) -> None:
    encoder, (ids, types, mask) = encoder_of(family), batch()
    at, added = torch.tensor([0, 0]), torch.zeros(2, LENGTH, WIDTH)
    plain = encoder.halfway(ids, types, mask, at, added)
    added[1, 2] = torch.randn(WIDTH, generator=torch.Generator().manual_seed(2))
    told = encoder.halfway(ids, types, mask, at, added)
    torch.testing.assert_close(told[0], plain[0])
    assert ((told[1] - plain[1]).abs().amax(dim=1) > 1e-4).all()  # every piece, the marked one's neighbours too


def test_the_lower_half_is_passed_once_for_all_rows_of_a_dialogue() -> None:
    encoder, (ids, types, mask) = encoder_of("bert"), batch()
    rows: list[int] = []
    for layer in encoder.model.encoder.layer:  # type: ignore[union-attr]
        layer.register_forward_pre_hook(lambda _, inputs: rows.append(len(inputs[0])))
    encoder.halfway(ids, types, mask, torch.tensor([0, 0, 1, 2, 2]), torch.zeros(5, LENGTH, WIDTH))
    assert rows == [3, 5, 5]
