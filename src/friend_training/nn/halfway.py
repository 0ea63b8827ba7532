"""An encoder that is told something half-way up: below, one row per dialogue; above, one row per predicate.

The lower half of the layers does not know which predicate is meant, so all predicates of a dialogue share it.
"""

from typing import Any

from torch import Tensor, nn
from transformers.masking_utils import create_bidirectional_mask


def encode_halfway(model: nn.Module, vectors: Tensor, types: Tensor, mask: Tensor, at: Tensor, added: Tensor) -> Tensor:
    """Word vectors [B, M, E] → [U, M, H]: row u is dialogue `at[u]`, and gets `added[u]` [M, H] in the middle.

    The model's own forward pass offers no way in; this is the same pass written out, for all `FAMILIES`.
    """
    parts: Any = model
    hidden = parts.embeddings(inputs_embeds=vectors, token_type_ids=types)
    if hasattr(parts, "embeddings_project"):
        hidden = parts.embeddings_project(hidden)
    attention = create_bidirectional_mask(config=parts.config, inputs_embeds=hidden, attention_mask=mask)
    positions = ()
    if hasattr(parts.encoder, "embed_positions"):  # rotary: every layer is given the positions anew
        positions = (parts.encoder.embed_positions(hidden.shape[:-1], 0)[None, None],)
    middle = len(parts.encoder.layer) // 2
    for number, layer in enumerate(parts.encoder.layer):
        if number == middle:
            hidden = hidden[at] + added
            attention = None if attention is None else attention[at]
        output = layer(hidden, attention, *positions)
        hidden = output[0] if isinstance(output, tuple) else output
    return hidden  # type: ignore[no-any-return]
