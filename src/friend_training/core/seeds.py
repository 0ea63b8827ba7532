"""Seeds and draws by hashing names, so that chance depends on what something is and never on when it happens."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt


def derived_seed(*parts: str | int) -> int:
    """A seed for one piece of work, such as (run seed, task, iteration). It fits in 31 bits: every library takes it."""
    return int.from_bytes(_digest(_joined(parts)), "big") >> 33


def draws(units: Sequence[str], *parts: str | int) -> npt.NDArray[np.uint64]:
    """A uniform 64-bit number for each unit, the same in whatever order or batch the units come."""
    prefix = _joined(parts) + "\x1f"
    return np.frombuffer(b"".join(_digest(prefix + unit) for unit in units), dtype=">u8").astype(np.uint64)


def _joined(parts: Sequence[str | int]) -> str:
    return "\x1f".join(str(part) for part in parts)


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=8).digest()
