"""Mentions: which of them are queried, found by rules where nobody gives them, and the links that gold clusters say."""

import re
from collections.abc import Sequence

from friend_training.types import CoreferenceExample, Dialogue, Link, Mention, Mentioned

PRONOUNS = frozenset(
    (
        *("he", "him", "his", "himself", "she", "her", "hers", "herself", "it", "its", "itself", "they", "them"),
        *("their", "theirs", "themselves", "this", "that", "these", "those", "one", "ones", "there"),
    )
)
"""Words that stand for something said before."""

SPEAKERS = frozenset(["i", "me", "my", "mine", "myself", "you", "your", "yours", "yourself"])
"""Words for those who speak: who that is, every dialogue knows. Links of these are left out."""

_DETERMINERS = frozenset(["the", "this", "that", "these", "those"])

_ORDINALS = frozenset(["first", "second", "third", "last", "next", "new", "same", "other"])

_WORDS = re.compile(r"[^\W_]+")


def find_mentions(dialogue: Dialogue) -> tuple[Mention, ...]:
    """Pronouns and definite descriptions of u_t: of "the last song" it is the noun, as in MuDoCo."""
    turn = len(dialogue.turns) - 1
    words = list(_WORDS.finditer(dialogue.utterance.text))
    texts = [word[0].lower() for word in words]
    found: list[Mention] = []
    for number, word in enumerate(words):
        before = texts[number - 1] if number else ""
        after = texts[number + 1] if number + 1 < len(texts) else ""
        if texts[number] in _DETERMINERS and after and after not in PRONOUNS | SPEAKERS and _touch(words, number):
            continue  # the noun is the mention
        described = before in _DETERMINERS and texts[number] not in _ORDINALS | SPEAKERS
        described |= before in _ORDINALS and number > 1 and texts[number - 2] in _DETERMINERS
        if texts[number] in PRONOUNS or described:
            found.append(Mention(turn, *word.span()))
    return tuple(found)


def _touch(words: Sequence[re.Match[str]], number: int) -> bool:
    """Whether only a blank stands between a word and the next."""
    return words[number + 1].start() - words[number].end() == 1


def first_word(dialogue: Dialogue, mention: Mention) -> str:
    """The mention's first word in lower case; of "I'm" it is i."""
    found = _WORDS.search(dialogue.turns[mention.turn].text[mention.start : mention.end])
    return found[0].lower() if found else ""


def is_pronoun(dialogue: Dialogue, mention: Mention) -> bool:
    text = dialogue.turns[mention.turn].text[mention.start : mention.end].lower()
    return text in PRONOUNS or first_word(dialogue, mention) in SPEAKERS


def without_speakers(example: CoreferenceExample) -> CoreferenceExample:
    """The example without the mentions of those who speak."""
    clusters = (
        tuple(mention for mention in cluster if first_word(example.dialogue, mention) not in SPEAKERS)
        for cluster in example.clusters
    )
    return CoreferenceExample(example.dialogue, tuple(cluster for cluster in clusters if cluster))


def gold_links(example: CoreferenceExample) -> tuple[Link, ...]:
    """A link for each gold mention of u_t, to the nearest mention before it that is no pronoun, or else the nearest."""
    last = len(example.dialogue.turns) - 1
    links = []
    for cluster in example.clusters:
        for place, mention in enumerate(cluster):
            if mention.turn == last:
                before = [one for one in cluster[:place] if one.turn < last or one.end <= mention.start]
                named = [one for one in before if not is_pronoun(example.dialogue, one)]
                nearest = named or before
                links.append(Link(mention, nearest[-1] if nearest else None))
    return tuple(sorted(links, key=lambda link: link.mention))


def queried(given: Dialogue | Mentioned) -> Mentioned:
    """A dialogue with the mentions that are queried: those given, or those found."""
    return given if isinstance(given, Mentioned) else Mentioned(given, find_mentions(given))
