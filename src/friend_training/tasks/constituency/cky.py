"""The best tree over scored spans (CKY), for many sentences at once: all spans of one width together.

Trees are binary here. A phrase of more than two parts is cut in two by a span without a label, which costs nothing,
so no binarisation has to be chosen: the best tree is the best set of nested phrases.
"""

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]
Numbers = NDArray[np.int64]


def cky(scores: Scores, lengths: Numbers) -> NDArray[np.bool_]:
    """scores [B, N + 1, N + 1] of the spans from fence i to fence j, for their best answer, be it a label or none;
    lengths [B], from 1 to N. Gives the spans of the best binary tree of each sentence: [B, N + 1, N + 1].
    """
    batch, fences, _ = scores.shape
    # The same chart by first and by last fence and width, so that all splits of a span lie side by side in memory.
    by_start, by_end = (np.zeros((batch, fences, fences), dtype=scores.dtype) for _ in range(2))
    splits = np.zeros((batch, fences, fences), dtype=np.int64)
    for width in range(1, fences):
        here, there = np.arange(fences - width), np.arange(width, fences)
        best = scores[:, here, there]  # [B, starts]
        if width > 1:
            halves = by_start[:, : fences - width, 1:width] + by_end[:, width:, 1:width][:, :, ::-1]
            split = halves.argmax(axis=2)  # [B, starts]
            splits[:, : fences - width, width] = split + 1
            best = best + np.take_along_axis(halves, split[:, :, None], axis=2)[:, :, 0]
        by_start[:, : fences - width, width] = best
        by_end[:, width:, width] = best

    chosen = np.zeros((batch, fences, fences), dtype=bool)  # by first fence and width, then turned into fences
    chosen[np.arange(batch), 0, lengths] = True
    for width in range(fences - 1, 1, -1):
        row, start = np.nonzero(chosen[:, :, width])
        reach = splits[row, start, width]
        chosen[row, start, reach] = True
        chosen[row, start + reach, width - reach] = True
    spans = np.zeros_like(chosen)
    row, start, width_of = np.nonzero(chosen)
    spans[row, start, start + width_of] = True
    return spans
