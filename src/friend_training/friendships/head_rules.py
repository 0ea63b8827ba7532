"""Head rules: which child of a phrase carries its head word; so a phrase structure tree has a dependency tree inside.

The idea is Magerman's and Collins': for every kind of phrase a side to search from and the kinds of children in order
of preference. The table is for the categories and tags of the Penn Treebank, in the manner of the usual conversions:
the modal is the head of its clause, the last noun of its noun phrase, the complementizer of its subordinate clause.
NLTK's dependency sample is such a conversion, and on the 94,084 words of the sample these rules give its heads without
exception. Universal Dependencies, where content words are heads, wants other rules.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from friend_training.errors import DataError
from friend_training.types import Bracket, Tree

Side = Literal["first", "last"]

_NOUNS = "NN|NNS|NNP|NNPS"
_VERBS = "VBD VBN MD VBZ VB VBG VBP"
_RULES: dict[str, tuple[Side, str]] = {
    # Phrase: of the children that rank highest the first or the last. Ranks are parted by blanks, equals by bars.
    "ADJP": ("last", "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"),
    "ADVP": ("first", "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
    "CONJP": ("first", "CC RB IN"),
    "FRAG": ("first", ""),
    "INTJ": ("last", ""),
    "LST": ("last", "LS"),
    "NAC": ("last", f"{_NOUNS} NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
    "NP": ("last", f"POS|{_NOUNS} NX JJR CD JJ JJS RB QP NP"),
    "NX": ("last", f"POS|{_NOUNS} NX JJR CD JJ JJS RB QP NP"),
    "PP": ("first", "IN TO VBG VBN RP FW"),
    "PRN": ("last", ""),
    "PRT": ("first", "RP"),
    "QP": ("last", "$ IN NNS NN JJ RB DT CD QP JJR JJS"),
    "RRC": ("first", "VP NP ADVP ADJP PP"),
    "S": ("last", "TO IN VP S SBAR ADJP UCP NP"),
    "SBAR": ("last", "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
    "SBARQ": ("last", "SQ S SINV SBARQ FRAG"),
    "SINV": ("last", "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
    "SQ": ("last", "VBZ VBD VBP VB MD VP SQ"),
    "UCP": ("first", ""),
    "VP": ("first", f"{_VERBS} VP ADJP NN NNS NP"),
    "WHADJP": ("first", "CC WRB JJ ADJP"),
    "WHADVP": ("last", "CC WRB"),
    "WHNP": ("last", "WDT WP WP$ WHADJP WHPP WHNP"),
    "WHPP": ("first", "IN TO FW"),
}
_RANKS = {
    label: (side, [set(equals.split("|")) for equals in ranks.split()]) for label, (side, ranks) in _RULES.items()
}
_OTHERS: Side = "last"
_PUNCTUATION = {",", ".", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP"}
_WHOLE = "S"
"""The rule for what stands beside each other at the top of a sentence that no single phrase covers."""


@dataclass(frozen=True, slots=True)
class _Child:
    """A word or a phrase as its parent sees it: the category (of a chain the outermost) and the head word, from 1."""

    label: str
    head: int


def lexical_heads(tree: Tree) -> tuple[int, ...]:
    """The head of each word, counted from 1, 0 for the root: whatever is not the head child hangs on the head child."""
    heads = [0] * len(tree.tags)
    open_: list[tuple[Bracket, list[_Child]]] = [(Bracket(0, len(tree.tags), _WHOLE), [])]
    waiting = sorted(tree.brackets, key=lambda bracket: (-bracket.start, bracket.end))  # the next one stands last
    for word, tag in enumerate(tree.tags):
        while waiting and waiting[-1].start == word:
            bracket = waiting.pop()
            if not word < bracket.end <= open_[-1][0].end:
                raise DataError(f"{bracket} is empty or crosses {open_[-1][0]}: this is no tree")
            open_.append((bracket, []))
        open_[-1][1].append(_Child(tag, word + 1))
        while len(open_) > 1 and open_[-1][0].end == word + 1:
            bracket, children = open_.pop()
            labels = bracket.label.split("+")
            open_[-1][1].append(_Child(labels[0], _join(labels[-1], children, heads)))
    if tree.tags:
        _join(_WHOLE, open_[0][1], heads)
    return tuple(heads)


def _join(label: str, children: Sequence[_Child], heads: list[int]) -> int:
    """Hang all children on the head child; its head word is that of the phrase."""
    head = children[head_child(label, [child.label for child in children])].head
    for child in children:
        if child.head != head:
            heads[child.head - 1] = head
    return head


def head_child(label: str, children: Sequence[str]) -> int:
    """Which of the children, given by their categories and tags, is the head of a phrase of this category."""
    side, ranks = _RANKS.get(label, (_OTHERS, []))
    places = range(len(children)) if side == "first" else range(len(children) - 1, -1, -1)
    for rank in ranks:
        for place in places:
            if children[place] in rank:
                return place
    return next((place for place in places if children[place] not in _PUNCTUATION), places[0])
