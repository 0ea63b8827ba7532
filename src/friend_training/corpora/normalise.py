"""When two texts count as the same: case, width, punctuation and spaces aside."""

import unicodedata


def normalise(text: str) -> str:
    """Letters, digits and Chinese characters only, in one width and case."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).lower()))
