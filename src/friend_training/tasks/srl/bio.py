"""Reading spans off BIO labels."""

from collections.abc import Iterator, Sequence


def labelled_spans(labels: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """(name, first, one past the last) of each span. An I that continues nothing opens a span, as in LTP."""
    start = 0
    for i in range(1, len(labels) + 1):
        ends = i == len(labels) or labels[i] != f"I-{labels[start][2:]}" or labels[start] == "O"
        if ends:
            if labels[start] != "O":
                yield labels[start][2:], start, i
            start = i
