"""Masked language modelling on raw text: what 'pre-trained' means for an encoder that was made from scratch."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import AutoModel

from friend_training.nn.batching import pad, training_batches
from friend_training.nn.encoder import EncoderShape, make_encoder
from friend_training.nn.optimizer import clip_gradients, warm_up_then_decay
from friend_training.nn.training import seed_everything

BATCH, RATE, MASKED_SHARE, LONGEST = 64, 2e-3, 0.15, 128


def pretrain_encoder(
    folder: Path,
    texts: Sequence[str],
    shape: EncoderShape,
    *,
    steps: int,
    seed: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Write a small encoder into `folder`, trained for `steps` to restore masked characters of `texts`."""
    tokenizer = make_encoder(folder, list(texts), shape, seed=seed)
    seed_everything(seed)
    model = AutoModel.from_pretrained(str(folder), add_pooling_layer=False)
    transform = nn.Sequential(nn.Linear(shape.width, shape.width), nn.GELU(), nn.LayerNorm(shape.width))
    weights = [*model.parameters(), *transform.parameters()]
    optimizer = torch.optim.AdamW(weights, lr=RATE, weight_decay=0.01, fused=True)

    tokenizer.remember(texts)
    rows = [np.array([tokenizer.cls_id, *tokenizer(t).ids[: LONGEST - 2], tokenizer.sep_id]) for t in texts]
    generator = np.random.default_rng(seed)
    mask_id = tokenizer.id_of("[MASK]")
    model.train()
    done = 0
    while done < steps:
        for indices in training_batches([len(row) for row in rows], BATCH, generator):
            ids = pad([rows[index] for index in indices], tokenizer.pad_id)
            real = (ids != tokenizer.pad_id) & (ids != tokenizer.cls_id) & (ids != tokenizer.sep_id)
            hidden_ids, targets = _mask(ids, real, mask_id, generator)
            hidden = model(input_ids=hidden_ids, attention_mask=(ids != tokenizer.pad_id).long()).last_hidden_state
            at = targets >= 0
            logits = transform(hidden[at]) @ model.get_input_embeddings().weight.T
            F.cross_entropy(logits, targets[at]).backward()  # type: ignore[no-untyped-call]
            clip_gradients(weights, 1.0)
            factor = warm_up_then_decay(done, steps=steps, warm_up=0.1)
            for group in optimizer.param_groups:
                group["lr"] = RATE * factor
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            done += 1
            progress(done, steps)
            if done == steps:
                break
    model.save_pretrained(str(folder))


def _mask(ids: Tensor, real: Tensor, mask_id: int, generator: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Hide a share of the characters; what is to be restored stands in `targets`, -1 elsewhere."""
    chosen = torch.from_numpy(generator.random(ids.shape) < MASKED_SHARE) & real
    targets = torch.where(chosen, ids, -1)
    return torch.where(chosen, mask_id, ids), targets
