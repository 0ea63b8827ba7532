"""Balance: what is chosen keeps the label distribution of gold.

The surest answer is mostly the commonest one, and two friends agree on it more easily than on any other. Whatever is
trained on such a choice learns to give that answer. So a selector can be told which share each label may have of what
it chooses: the policy is the same for every method, and it looks at gold labels of training only.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from friend_training.errors import DataError


def gold_shares(labels: Sequence[Any], label_type: Any = str) -> dict[str, float]:
    """The share of each label in gold, under the JSON by which the store, and so the selector, knows the label."""
    to_json = TypeAdapter(label_type).dump_json
    return shares_of_kinds([to_json(label).decode() for label in labels])


def shares_of_kinds(kinds: Sequence[str]) -> dict[str, float]:
    """The share of each kind in gold, for labels of which hardly two are the same."""
    if not kinds:
        raise DataError("no gold labels to take the shares of")
    counts = Counter(kinds)
    return {kind: counts[kind] / len(kinds) for kind in sorted(counts)}


def quotas(shares: Mapping[str, float], total: int) -> dict[str, int]:
    """How many of `total` each label may have: the whole parts, and what is left to the largest remainders."""
    exact = {label: share * total for label, share in shares.items()}
    whole = {label: math.floor(value) for label, value in exact.items()}
    left = round(math.fsum(exact.values())) - sum(whole.values())
    by_remainder = sorted(shares, key=lambda label: (whole[label] - exact[label], label))
    return {label: whole[label] + (label in by_remainder[:left]) for label in shares}
