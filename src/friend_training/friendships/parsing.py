"""The friendship that the paper's appendix sketches: a constituency and a dependency parser of the same sentences.

The sketch tests whether exactly one arc enters each phrase. All gold trees pass, but so does a chain, where every word
hangs on the word before, against any tree, and a flat tree against anything. So it has the name
`paper`, and by default the phrases are compared with the yields of dependency subtrees, in both directions, through
head rules: the common space Σ is the unlabelled dependency tree. A phrase structure tree has one inside, in which the
yield of a word is the largest phrase that it is the head of.

The unit of both tasks is the sentence, so a sentence has one score, the same for both.

Head rules: which child of a phrase carries its head word; so a phrase structure tree has a dependency tree inside.

The idea is Magerman's and Collins': for every kind of phrase a side to search from and the kinds of children in order
of preference. The table is for the categories and tags of the Penn Treebank, in the manner of the usual conversions:
the modal is the head of its clause, the last noun of its noun phrase, the complementizer of its subordinate clause.
NLTK's dependency sample is such a conversion, and on the 94,084 words of the sample these rules give its heads without
exception. Universal Dependencies, where content words are heads, wants other rules.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from friend_training.core.friendship import Candidates, Friendship, Joint, Match, Predictions
from friend_training.core.task import Prediction
from friend_training.errors import DataError
from friend_training.types import Bracket, Heads, Tags, Tree, Words

Scoring = Literal["head-rules", "paper", "paper-all"]

Choose = Literal["whole", "parts"]
"""Whether a chosen label is learnt as it is, or what the friend disputes of it is left open."""

Arcs = tuple[int, ...]
"""The head of each word, counted from 1, 0 for the root."""


Spans = tuple[tuple[int, int], ...]
"""Phrases of at least two words, [start, end)."""


def translate_tree(inputs: Sequence[Words], predictions: Sequence[Sequence[Prediction]]) -> list[Arcs]:
    """F_a: the dependency tree that head rules find in the tree."""
    return [lexical_heads(units[0].label) for _, units in zip(inputs, predictions, strict=True)]


def translate_heads(inputs: Sequence[Words], predictions: Sequence[Sequence[Prediction]]) -> list[Arcs]:
    """F_b: the dependency tree without its relations."""
    return [units[0].label.heads for _, units in zip(inputs, predictions, strict=True)]


def match_arcs(first: Sequence[Arcs], second: Sequence[Arcs]) -> list[Match]:
    """M for `head-rules`: the harmonic mean of arcs and phrases in common, 1 only for the same dependency tree.

    Arcs are counted by word. Of the phrases (see `phrases_of`) we take F1, which is the same from either side. Arcs
    alone are easily pleased: a chain has a fifth of them right, and none of the phrases.
    """
    return [_both(_arc_score(a, b)) for a, b in zip(first, second, strict=True)]


def _arc_score(a: Arcs, b: Arcs) -> float | None:
    """None for a single word: there is nothing that parsers could disagree about. Lengths differ when friends are
    shuffled on purpose; what only one side has counts as wrong."""
    longest = max(len(a), len(b))
    if longest < 2:
        return None
    arcs = sum(x == y for x, y in zip(a, b, strict=False)) / longest
    phrases_a, phrases_b = phrases_of(a), phrases_of(b)
    if not phrases_a and not phrases_b:
        return arcs
    phrases = 2 * len(phrases_a & phrases_b) / (len(phrases_a) + len(phrases_b))
    return 2 * arcs * phrases / (arcs + phrases) if phrases else 0.0


def phrases_of(arcs: Arcs) -> set[int]:
    """The yields of the words that have dependents, without the whole sentence.

    A yield may have holes, then no phrase is equal to it.
    """
    whole = (1 << len(arcs)) - 1
    return {covered for covered in yields_of(arcs) if covered.bit_count() > 1 and covered != whole}


def yields_of(arcs: Arcs) -> list[int]:
    """Each word with all that hangs on it, as a set of words (bit i: word i).

    Heads that go in a circle have yields like all others.
    """
    yields = [0] * len(arcs)
    for word in range(len(arcs)):
        above = word
        while not yields[above] >> word & 1:
            yields[above] |= 1 << word
            if arcs[above] == 0:
                break
            above = arcs[above] - 1
    return yields


def translate_phrases(inputs: Sequence[Words], predictions: Sequence[Sequence[Prediction]]) -> list[Spans]:
    """F_a for `paper`: where the phrases stand. Those of one word are left out: one arc enters every word."""
    return [
        tuple((bracket.start, bracket.end) for bracket in units[0].label.brackets if bracket.end - bracket.start > 1)
        for _, units in zip(inputs, predictions, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class MatchSpans:
    """M for `paper`: the share of the phrases that exactly one arc enters; with `every`, 1 if all are such, else 0."""

    every: bool = False

    def __call__(self, first: Sequence[Spans], second: Sequence[Arcs]) -> list[Match]:
        return [_both(self._score(spans, arcs)) for spans, arcs in zip(first, second, strict=True)]

    def _score(self, spans: Spans, arcs: Arcs) -> float | None:
        if not spans:
            return None
        entered_once = sum(_arcs_into(span, arcs) == 1 for span in spans)
        return float(entered_once == len(spans)) if self.every else entered_once / len(spans)


def _arcs_into(span: tuple[int, int], arcs: Arcs) -> int:
    start, end = span
    return sum(not start < head <= end for head in arcs[start:end])


def _both(score: float | None) -> Match:
    return Match((score,), (score,))


def disputed_arcs(
    inputs: Sequence[Words], decided: Predictions, likeliest: Candidates, friends: Predictions
) -> list[list[Prediction]]:
    """Dependency trees in which the arcs that head rules do not find in the friend's tree are left open."""
    return _settled(decided, friends, _disputed_arcs)


def _disputed_arcs(unit: Prediction, said: Prediction) -> Prediction:
    open_words = _differing(unit.label.heads, lexical_heads(said.label))
    return replace(unit, label=replace(unit.label, unsure=_both_open(unit.label.unsure, open_words)))


def _settled(
    decided: Predictions, friends: Predictions, settle: Callable[[Prediction, Prediction], Prediction]
) -> list[list[Prediction]]:
    """Each sentence's label beside the friend's; where the friend has none it stays as it is."""
    return [
        [settle(unit, of_friend[0]) if of_friend else unit for unit in units]
        for units, of_friend in zip(decided, friends, strict=True)
    ]


def _both_open(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted({*first, *second}))


def _differing(own: Sequence[object], friends: Sequence[object]) -> tuple[int, ...]:
    return tuple(word for word, pair in enumerate(zip(own, friends, strict=True)) if pair[0] != pair[1])


def heads_of_trees(inputs: Sequence[Words], own: Predictions, friends: Predictions) -> list[list[Prediction | None]]:
    """The heads that head rules find in the friend's tree, as labels of a dependency parser.

    Rules say nothing of relations: a parser that learns them is proposed nothing.
    """
    return _proposed(own, friends, _as_heads)


def _proposed(
    own: Predictions, friends: Predictions, propose: Callable[[Prediction, Prediction], Prediction | None]
) -> list[list[Prediction | None]]:
    """What the friend's label of each sentence says; where the friend has none it says nothing."""
    return [
        [propose(unit, of_friend[0]) if of_friend else None for unit in units]
        for units, of_friend in zip(own, friends, strict=True)
    ]


def _as_heads(own: Prediction, said: Prediction) -> Prediction | None:
    if own.label.relations is not None:
        return None
    heads = lexical_heads(said.label)
    return Prediction(own.unit, Heads(heads), said.confidence, content=len(heads) > 1)


def trees_of_heads(inputs: Sequence[Words], own: Predictions, friends: Predictions) -> list[list[Prediction | None]]:
    """The phrases that the friend's subtrees are, as labels of a constituency parser.

    A word with all that hangs on it is a phrase, called as the parser itself calls it, or else by the tag of that word.
    Of phrases in between (a verb with its object, but without its subject), of those of one word and of tags the friend
    says nothing: they are left open. Heads that are not projective propose nothing.
    """
    return _proposed(own, friends, _as_tree)


def _as_tree(own: Prediction, said: Prediction) -> Prediction | None:
    arcs: Arcs = said.label.heads
    yields = [_span(covered) for covered in yields_of(arcs)]
    if None in yields or len(yields) != len(own.label.tags):
        return None
    called = {(one.start, one.end): one.label for one in own.label.brackets}
    found: dict[tuple[int, int], str] = {}
    between: set[tuple[int, int]] = {(word, word + 1) for word in range(len(arcs))}
    for word, span in enumerate(yields):
        assert span is not None, "told above"
        if span[1] - span[0] > 1:
            found[span] = called.get(span) or phrase_name(own.label.tags[word])
        between |= _projections(word, [yields[child] for child, head in enumerate(arcs) if head == word + 1])
    ordered = sorted(found.items(), key=lambda one: (one[0][0], -one[0][1]))
    label = Tree(
        tuple(Bracket(*span, name) for span, name in ordered),
        own.label.tags,
        unsure=tuple(sorted(between - found.keys())),
        unsure_tags=tuple(range(len(arcs))),
    )
    return Prediction(own.unit, label, said.confidence, content=len(found) > 1)


def _span(covered: int) -> tuple[int, int] | None:
    """Words that stand together, as [start, end)."""
    start, end = (covered & -covered).bit_length() - 1, covered.bit_length()
    return (start, end) if covered.bit_count() == end - start else None


def _projections(word: int, children: Sequence[tuple[int, int] | None]) -> set[tuple[int, int]]:
    """The word with some of what hangs on it, from the inside out."""
    starts = [word, *(span[0] for span in children if span is not None and span[0] < word)]
    ends = [word + 1, *(span[1] for span in children if span is not None and span[0] > word)]
    return {(start, end) for start in starts for end in ends}


def disputed_phrases(
    inputs: Sequence[Words], decided: Predictions, likeliest: Candidates, friends: Predictions
) -> list[list[Prediction]]:
    """Trees in which the phrases that the friend does not confirm are left open, and those it finds besides.

    It confirms a phrase that hangs together in its heads too, on the word that head rules say. Of phrases of one word
    and of tags it says nothing: they are learnt as they are, and so is that other spans are no phrases.
    """
    return _settled(decided, friends, _disputed_phrases)


def _disputed_phrases(unit: Prediction, said: Prediction) -> Prediction:
    tree, arcs = unit.label, said.label.heads
    heads = lexical_heads(tree)
    own = {(one.start, one.end) for one in tree.brackets}
    disputed = {span for span in own if span[1] - span[0] > 1 and not _hangs_together(span, heads, arcs)}
    found = {span for covered in phrases_of(arcs) if (span := _span(covered)) is not None}
    kept = tuple(one for one in tree.brackets if (one.start, one.end) not in disputed)
    unsure = tuple(sorted({*tree.unsure, *disputed, *(found - own)}))
    return replace(unit, label=replace(tree, brackets=kept, unsure=unsure))


def _hangs_together(span: tuple[int, int], own: Arcs, friends: Arcs) -> bool:
    """Whether one arc of the friend's enters the span, at the word where one's own does, and only that word has
    dependents outside."""
    start, end = span
    entered = [word for word in range(start, end) if not start < own[word] <= end]
    outside = {friends[word] - 1 for word in (*range(start), *range(end, len(friends))) if start < friends[word] <= end}
    return entered == [word for word in range(start, end) if not start < friends[word] <= end] and outside <= {*entered}


def constituency_dependency(
    scoring: Scoring = "head-rules",
    *,
    choose: Choose = "whole",
    first: str = "constituency",
    second: str = "dependency",
    name: str | None = None,
) -> Friendship:
    """The friendship between a task that finds trees, `first`, and one that finds heads, `second`.

    `paper` gives a sentence the share of phrases that one arc enters; `paper-all`, as in the appendix, 1 if all are,
    else 0. With `choose="parts"` only the phrases and arcs that the friend confirms are learnt of what is chosen.
    """
    return Friendship(
        name=name or f"{first}-{second}",
        first=first,
        second=second,
        translate_first=translate_tree if scoring == "head-rules" else translate_phrases,
        translate_second=translate_heads,
        matcher=match_arcs if scoring == "head-rules" else MatchSpans(every=scoring == "paper-all"),
        propose_first=trees_of_heads,
        propose_second=heads_of_trees,
        joint_first=Joint(0.0, best=1, settle=disputed_phrases) if choose == "parts" else None,
        joint_second=Joint(0.0, best=1, settle=disputed_arcs) if choose == "parts" else None,
        parts_first=disputed_phrases,
        parts_second=disputed_arcs,
    )


# The friendship of a constituency parser and a tagger: the preterminals of a tree are parts of speech.
#
# The common space Σ is the tag of each word, and nothing needs translating; the unit of both tasks is the sentence.


WordTags = tuple[str, ...]


def translate_tags(inputs: Sequence[Words], predictions: Sequence[Sequence[Prediction]]) -> list[WordTags]:
    """F of either side: a `Tree` and `Tags` both have a tag for each word."""
    return [units[0].label.tags for _, units in zip(inputs, predictions, strict=True)]


def match_tags(first: Sequence[WordTags], second: Sequence[WordTags]) -> list[Match]:
    """M: the share of the words with equal tags. Lengths only differ when friends are shuffled on purpose."""
    matches: list[Match] = []
    for a, b in zip(first, second, strict=True):
        longest = max(len(a), len(b))
        score = sum(x == y for x, y in zip(a, b, strict=False)) / longest if longest else None
        matches.append(Match((score,), (score,)))
    return matches


def disputed_tags(
    inputs: Sequence[Words], decided: Predictions, likeliest: Candidates, friends: Predictions
) -> list[list[Prediction]]:
    """Tags in which the words that the friend tags otherwise are left open."""
    return _settled(decided, friends, _disputed_tags)


def _disputed_tags(unit: Prediction, said: Prediction) -> Prediction:
    open_words = _differing(unit.label.tags, said.label.tags)
    return replace(unit, label=replace(unit.label, unsure=_both_open(unit.label.unsure, open_words)))


def disputed_preterminals(
    inputs: Sequence[Words], decided: Predictions, likeliest: Candidates, friends: Predictions
) -> list[list[Prediction]]:
    """Trees in which the preterminals of words that the friend tags otherwise are left open."""
    return _settled(decided, friends, _disputed_preterminals)


def _disputed_preterminals(unit: Prediction, said: Prediction) -> Prediction:
    open_words = _differing(unit.label.tags, said.label.tags)
    return replace(unit, label=replace(unit.label, unsure_tags=_both_open(unit.label.unsure_tags, open_words)))


def tags_of_trees(inputs: Sequence[Words], own: Predictions, friends: Predictions) -> list[list[Prediction | None]]:
    """The preterminals of the friend's tree, as labels of a tagger."""
    return _proposed(own, friends, _as_tags)


def _as_tags(own: Prediction, said: Prediction) -> Prediction:
    return Prediction(own.unit, Tags(said.label.tags), said.confidence, content=bool(said.label.tags))


def constituency_tagging(
    *, choose: Choose = "whole", first: str = "constituency", second: str = "tagging", name: str | None = None
) -> Friendship:
    """The friendship between a task that finds trees, `first`, and one that finds tags, `second`.

    With `choose="parts"` only the tags that the friend confirms are learnt of what is chosen, of a tree as well.
    """
    return Friendship(
        name=name or f"{first}-{second}",
        first=first,
        second=second,
        translate_first=translate_tags,
        translate_second=translate_tags,
        matcher=match_tags,
        propose_second=tags_of_trees,
        joint_first=Joint(0.0, best=1, settle=disputed_preterminals) if choose == "parts" else None,
        joint_second=Joint(0.0, best=1, settle=disputed_tags) if choose == "parts" else None,
        parts_first=disputed_preterminals,
        parts_second=disputed_tags,
    )


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


_PHRASES = {
    "NP": "NN NNS NNP NNPS PRP PRP$ DT PDT EX POS $ # FW",
    "S": "VBD VBZ VBP MD",
    "VP": "VB VBG VBN",
    "PP": "IN TO",
    "ADJP": "JJ JJR JJS",
    "ADVP": "RB RBR RBS",
    "QP": "CD",
    "SBAR": "WDT WP WP$ WRB",
    "PRT": "RP",
}
_NAMES = {tag: name for name, tags in _PHRASES.items() for tag in tags.split()}


def phrase_name(tag: str) -> str:
    """What the largest phrase around a head of this tag is called most often; a noun phrase where nobody knows."""
    return _NAMES.get(tag, "NP")


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
