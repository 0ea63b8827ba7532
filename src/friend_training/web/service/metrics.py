"""Counts and times of the service, as the text that Prometheus reads."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES = (1, 2, 4, 8, 16, 32)


@dataclass
class Histogram:
    """How many values fell into each bucket, cumulative only when written."""

    bounds: tuple[float, ...]
    counts: list[int] = field(default_factory=list)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = [0] * (len(self.bounds) + 1)

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def lines(self, name: str, labels: str = "") -> Iterator[str]:
        below = 0
        for bound, count in zip([*map(str, self.bounds), "+Inf"], self.counts, strict=True):
            below += count
            yield f'{name}_bucket{{{labels}{"," if labels else ""}le="{bound}"}} {below}'
        within = f"{{{labels}}}" if labels else ""
        yield f"{name}_sum{within} {self.total:.6f}"
        yield f"{name}_count{within} {below}"


class Metrics:
    """What is counted. Endpoints are known names: nobody fills our memory by asking for new ones."""

    def __init__(self, waiting: Callable[[], int]) -> None:
        self.waiting = waiting
        self.requests: Counter[tuple[str, int]] = Counter()
        self.seconds: dict[str, Histogram] = {}
        self.batches = Histogram(SIZES)

    def answered(self, endpoint: str, status: int, seconds: float) -> None:
        self.requests[endpoint, status] += 1
        self.seconds.setdefault(endpoint, Histogram(SECONDS)).add(seconds)

    def text(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        name = "friend_training_requests_total"
        yield from _head(name, "counter", "Requests answered, by endpoint and status.")
        for (endpoint, status), count in sorted(self.requests.items()):
            yield f'{name}{{endpoint="{endpoint}",status="{status}"}} {count}'
        name = "friend_training_request_seconds"
        yield from _head(name, "histogram", "Seconds from the first byte of a request to its whole answer.")
        for endpoint, histogram in sorted(self.seconds.items()):
            yield from histogram.lines(name, f'endpoint="{endpoint}"')
        name = "friend_training_batch_size"
        yield from _head(name, "histogram", "Requests answered together by one call of the models.")
        yield from self.batches.lines(name)
        name = "friend_training_waiting"
        yield from _head(name, "gauge", "Requests in the queue.")
        yield f"{name} {self.waiting()}"


def _head(name: str, kind: str, meaning: str) -> Iterator[str]:
    yield f"# HELP {name} {meaning}"
    yield f"# TYPE {name} {kind}"
