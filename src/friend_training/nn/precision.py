"""Encoders that compute in bf16: weights, gradients, heads and losses stay fp32, only the encoder's products do not.

A processor with instructions for bf16 multiplies over twice as fast in it; one without them is slower than in fp32.
Attention itself stays in fp32 there: torch's fused kernel for processors goes backward three times slower in bf16. A
graphics card has fast kernels for bf16 alone.
"""

from contextlib import AbstractContextManager
from typing import Any, Literal

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

Precision = Literal["fp32", "bf16"]

ATTENTION = "sdpa_in_fp32"


def _attend_in_fp32(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **how: Any
) -> tuple[Tensor, None]:
    if query.device.type != "cpu":
        return sdpa_attention_forward(module, query, key, value, attention_mask, **how)
    with torch.autocast(query.device.type, enabled=False):
        mixed, _ = sdpa_attention_forward(module, query.float(), key.float(), value.float(), attention_mask, **how)
    return mixed.to(query.dtype), None


AttentionInterface.register(ATTENTION, _attend_in_fp32)
AttentionMaskInterface.register(ATTENTION, sdpa_mask)


def prepare(model: Any, precision: Precision) -> None:
    """Choose the attention of a transformers model; those with one of their own (RoFormer) keep it."""
    if model.config._attn_implementation in ("sdpa", ATTENTION):
        model.config._attn_implementation = ATTENTION if precision == "bf16" else "sdpa"


def computing(precision: Precision, device: str) -> AbstractContextManager[Any]:
    """Inside it, products are computed in that precision."""
    return torch.autocast(device, torch.bfloat16, enabled=precision == "bf16")
