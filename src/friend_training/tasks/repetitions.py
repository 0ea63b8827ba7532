"""Labels without labelling: what a turn says again of an earlier one is replaced by a pronoun, or left out.

"Call Ann Lee" after "Who is Ann Lee?" becomes "Call her"; what was written is the rewrite, and where the name stood
before is what the pronoun stands for. Models of both tasks learn from such turns before they see gold. A phrase counts
where it is a name (it has a capital) or stands after an article or a preposition, so that verbs are left alone.
"""

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from friend_training.tasks.coreference.mentions import PRONOUNS, SPEAKERS
from friend_training.types import CoreferenceExample, Dialogue, Mention, RewritingExample, Turn, words_in

_BEFORE_NOUNS = frozenset(
    ("the", "a", "an", "my", "your", "our", "this", "that", "these", "those", "his", "her", "their")
)
_PREPOSITIONS = frozenset(("from", "by", "for", "with", "of", "about", "at", "in", "on", "to"))
_SMALL_WORDS = (
    _BEFORE_NOUNS
    | _PREPOSITIONS
    | PRONOUNS
    | SPEAKERS
    | frozenset(
        (
            *(
                "we",
                "us",
                "and",
                "or",
                "but",
                "if",
                "is",
                "are",
                "was",
                "were",
                "be",
                "am",
                "do",
                "does",
                "did",
                "have",
            ),
            *("has", "had", "can", "could", "will", "would", "should", "not", "no", "yes", "ok", "okay", "please"),
            *("here", "then", "so", "just", "also", "all", "any", "some", "what", "who", "when", "where", "which"),
            *("how", "why", "now", "today", "tomorrow", "s", "t", "m", "ve", "re", "ll", "d"),
        )
    )
)
_OF_NAMES = ("him", "her", "them", "him", "her", "it")
_OF_THINGS = ("it", "that", "them", "this", "it", "that one")
_LONGEST = 5
_LEFT_OUT = 0.25
_CHANGED = 0.6
_TRIED = 0.75


@dataclass(frozen=True, slots=True)
class Repetition:
    """A dialogue whose last turn was changed or not, that turn as it was written, and the pronoun put there, if any."""

    dialogue: Dialogue
    written: str
    link: tuple[Mention, Mention] | None = None
    """The antecedent and the pronoun."""


def repetitions(dialogues: Iterable[Dialogue], *, most: int, seed: int) -> list[Repetition]:
    """About six of ten are changed; which, how and in what order is drawn."""
    draw = random.Random(seed)
    order = [dialogue for dialogue in dialogues if dialogue.context]
    draw.shuffle(order)
    changed: list[Repetition] = []
    left: list[Repetition] = []
    for given in order:
        made = _changed(given, draw) if draw.random() < _TRIED else None
        if made is not None and len(changed) < _CHANGED * most:
            changed.append(made)
        elif made is None and len(left) < (1 - _CHANGED) * most:
            left.append(Repetition(given, given.utterance.text))
    found = changed + left[: math.ceil(len(changed) * (1 / _CHANGED - 1))]
    draw.shuffle(found)
    return found


def repeated_rewrites(dialogues: Iterable[Dialogue], *, most: int, seed: int) -> list[RewritingExample]:
    """What was left out or replaced is to be put back, the others stay as they are."""
    return [RewritingExample(one.dialogue, one.written) for one in repetitions(dialogues, most=most, seed=seed)]


def repeated_links(dialogues: Iterable[Dialogue], *, most: int, seed: int) -> list[CoreferenceExample]:
    """The pronoun that stands in the place of a phrase is to be linked to where that was said before."""
    found = repetitions(dialogues, most=most, seed=seed)
    return [CoreferenceExample(one.dialogue, (one.link,)) for one in found if one.link is not None]


def _changed(given: Dialogue, draw: random.Random) -> Repetition | None:
    text = given.utterance.text
    phrases = list(_phrases(given))
    if not phrases:
        return None
    first, last, antecedent = draw.choice(phrases)
    words = words_in(text)
    said = [text[start:end].lower() for start, end in words]
    name = text[words[first][0]].isupper()
    if first and said[first - 1] in _BEFORE_NOUNS:
        first -= 1
    if draw.random() < _LEFT_OUT:
        if first and said[first - 1] in _PREPOSITIONS:
            first -= 1
        left = f"{text[: words[first][0]].rstrip()} {text[words[last][1] :].lstrip()}".strip()
        return Repetition(_with(given, left), text) if any(map(str.isalnum, left)) else None
    pronoun = draw.choice(_OF_NAMES if name else _OF_THINGS)
    start, end = words[first][0], words[last][1]
    place = Mention(len(given.turns) - 1, start, start + len(pronoun))
    return Repetition(_with(given, text[:start] + pronoun + text[end:]), text, (antecedent, place))


def _with(given: Dialogue, text: str) -> Dialogue:
    return replace(given, turns=(*given.context, Turn(given.utterance.speaker, text)))


def _phrases(given: Dialogue) -> Iterator[tuple[int, int, Mention]]:
    """The first and last word of each phrase of u_t that an earlier turn has too, and where it was said last."""
    text = given.utterance.text
    words = words_in(text)
    said = [text[start:end].lower() for start, end in words]
    number = 0
    while number < len(said):
        before = said[number - 1] if number else ""
        name = number > 0 and text[words[number][0]].isupper()
        if said[number] in _SMALL_WORDS or not said[number].isalpha():
            number += 1
            continue
        place = _said_before(given, said[number:])
        if place is None or not (name or before in _BEFORE_NOUNS or (before in _PREPOSITIONS and before != "to")):
            number += 1
            continue
        length, antecedent = place
        yield number, number + length - 1, antecedent
        number += length


def _said_before(given: Dialogue, said: Sequence[str]) -> tuple[int, Mention] | None:
    """The longest beginning of these words that stands in an earlier turn; of equal ones the last."""
    best: tuple[int, Mention] | None = None
    for turn, one in enumerate(given.context):
        words = words_in(one.text)
        theirs = [one.text[start:end].lower() for start, end in words]
        for at in range(len(theirs)):
            length = 0
            while (
                length < min(_LONGEST, len(said), len(theirs) - at)
                and said[length] == theirs[at + length]
                and said[length].isalnum()
            ):
                length += 1
            while length > 1 and said[length - 1] in _SMALL_WORDS:
                length -= 1
            if length and (best is None or length >= best[0]):
                best = length, Mention(turn, words[at][0], words[at + length - 1][1])
    return best
