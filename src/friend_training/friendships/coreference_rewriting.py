"""Rewriting and coreference as friends, with no model between: an edit that replaces a mention is a link.

The common space Σ is the links of u_t: which stretch of u_t stands for which words said before. A rewrite that puts
"Ann Lee" in the place of "her" says so as plainly as a link from "her" to "Ann". A friend that has nothing to say
abstains: an ellipsis has no mention, a name that is said again is linked but seldom rewritten, and of two pronouns for
one entity only the first is written out.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from friend_training.core.friendship import Candidates, Friendship, Joint, Match, Predictions
from friend_training.core.task import Prediction
from friend_training.tasks.coreference.mentions import is_pronoun, queried
from friend_training.tasks.coreference.task import unit_of
from friend_training.tasks.rewriting.edits import (
    FUNCTION_WORDS,
    FUNCTION_WORDS_TURN,
    apply_word_script,
    from_extended,
    replacements,
    to_extended,
    with_function_words,
)
from friend_training.types import Dialogue, Insertion, Link, Mention, Mentioned, Rewrite, words_in

Given = Dialogue | Mentioned


@dataclass(frozen=True, slots=True)
class Said:
    """A stretch [start, end) of u_t and the words that it stands for, in lower case; none: it stands for itself.

    `pronoun` says that a rewrite would write it out: it is the first pronoun of its entity in u_t.
    """

    start: int
    end: int
    words: frozenset[str]
    pronoun: bool = False
    confidence: float = 1.0


Sigma = tuple[Said, ...]


def translate_rewrites(inputs: Sequence[Given], predictions: Sequence[Sequence[Prediction]]) -> list[Sigma]:
    """The stretches that a rewrite replaces by words of the dialogue; function words alone say nothing."""
    found = []
    for given, units in zip(inputs, predictions, strict=True):
        dialogue, script = queried(given).dialogue, units[0].label
        said = []
        for stretch, one in replacements(script, dialogue.utterance.text):
            if stretch is not None and one.turn != FUNCTION_WORDS_TURN:
                words = _words(dialogue.turns[one.turn].text[one.start : one.end])
                said.append(Said(*stretch, words, confidence=units[0].confidence))
        found.append(tuple(said))
    return found


def translate_links(inputs: Sequence[Given], predictions: Sequence[Sequence[Prediction]]) -> list[Sigma]:
    """Each mention and the words of its antecedent."""
    found = []
    for given, units in zip(inputs, predictions, strict=True):
        dialogue = queried(given).dialogue
        written: set[frozenset[str]] = set()  # entities that a pronoun of u_t has stood for already
        said = []
        for unit in units:
            link: Link = unit.label
            words = frozenset[str]()
            if link.antecedent is not None:
                at = link.antecedent
                words = _words(dialogue.turns[at.turn].text[at.start : at.end])
            own = link.antecedent is not None and link.antecedent.turn == link.mention.turn
            first = is_pronoun(dialogue, link.mention) and not own and words not in written
            if first and words:
                written.add(words)
            said.append(Said(link.mention.start, link.mention.end, words, first, unit.confidence))
        found.append(tuple(said))
    return found


@dataclass(frozen=True, slots=True)
class LinkMatcher:
    """M: for each mention how much of the antecedent's words and of those that the rewrite puts there is the same.

    That is the share of the shorter of the two. A pronoun that one friend resolves and the other leaves scores 0, one
    that both leave 1; of other mentions that the rewrite leaves there is nothing to say. The utterance has the mean of
    its mentions. With `proposals` a pronoun that only coreference resolves scores what coreference gives it: the label
    is then to be merged with the link (`merge_rewrites`).
    """

    proposals: bool = False

    def __call__(self, first: Sequence[Sigma], second: Sequence[Sigma]) -> list[Match]:
        found = []
        for rewritten, linked in zip(first, second, strict=True):
            scores = tuple(self._score(one, rewritten) for one in linked)
            telling = [score for score in scores if score is not None]
            found.append(Match((sum(telling) / len(telling) if telling else None,), scores))
        return found

    def _score(self, link: Said, rewritten: Sigma) -> float | None:
        over = [one for one in rewritten if one.start < link.end and one.end > link.start]
        if over:
            if not link.words:
                return 0.0
            return max(len(link.words & one.words) / max(1, min(len(link.words), len(one.words))) for one in over)
        if not link.pronoun:
            return None
        if link.words and self.proposals:
            return link.confidence
        return 0.0 if link.words else 1.0


_REPLACED = frozenset(["he", "him", "his", "she", "her", "it", "its", "they", "them", "their", "this", "that"])
_POSSESSIVE = frozenset(["his", "its", "their"])
_NO_NOUN = frozenset(
    (
        *("to", "that", "and", "if", "when", "at", "on", "for", "in", "about", "with", "back", "again", "now"),
        *("please", "or", "from", "by", "as", "so", "then", "too", "today", "tomorrow"),
    )
)
"""What follows "her" where it is no possessive."""


def rewrite_of_links(dialogue: Dialogue, links: Sequence[Link], *, to: Rewrite | None = None) -> Rewrite:
    """The rewrite that links propose: a pronoun, or a part of a name, gives way to its antecedent, "his" with 's.

    `to` is a rewrite that the edits are added to; what it replaces already stays as it is.
    """
    extended = with_function_words(dialogue, FUNCTION_WORDS)
    text = dialogue.utterance.text
    base = Rewrite(text) if to is None else to_extended(to, dialogue)
    deleted, inserted = set(base.deleted), {one.before: one for one in base.insertions}
    words = words_in(text)
    taken: set[str] = set()
    for link in links:
        at = link.mention
        own = text[at.start : at.end].lower()
        if link.antecedent is None or link.antecedent.turn == at.turn:
            continue
        if own not in _REPLACED and not _is_part_of_name(dialogue, link):
            continue
        if any(offset in deleted for offset in range(at.start, at.end)) or at.start in inserted:
            continue
        turn, start, end = _with_article(dialogue, link.antecedent)
        said = dialogue.turns[turn].text[start:end].lower()
        if said in taken:
            continue
        taken.add(said)
        deleted.update(range(at.start, at.end))
        inserted[at.start] = Insertion(at.start, turn, start, end)
        after = next((span for span in words if span[0] >= at.end), None)
        following = "" if after is None else text[slice(*after)].lower()
        noun = following.isalpha() and following not in _NO_NOUN
        if after is not None and after[0] not in inserted and noun and (own in _POSSESSIVE or own == "her"):
            place = " ".join(FUNCTION_WORDS).index("'s")
            inserted[after[0]] = Insertion(after[0], len(dialogue.turns) - 1, place, place + 2)
    script = Rewrite("", tuple(sorted(deleted)), tuple(inserted[before] for before in sorted(inserted)))
    return from_extended(replace(script, text=apply_word_script(extended, script)), dialogue)


def _is_part_of_name(dialogue: Dialogue, link: Link) -> bool:
    """Whether the mention is a name that the antecedent says in full: Lee, of Ann Lee."""
    assert link.antecedent is not None
    short, full = (dialogue.turns[one.turn].text[one.start : one.end] for one in (link.mention, link.antecedent))
    return short[:1].isupper() and full[:1].isupper() and set(short.lower().split()) < set(full.lower().split())


def _with_article(dialogue: Dialogue, antecedent: Mention) -> tuple[int, int, int]:
    """The antecedent with "the" before it, which MuDoCo's mentions leave out."""
    text = dialogue.turns[antecedent.turn].text
    before = [span for span in words_in(text) if span[1] <= antecedent.start]
    if before and text[slice(*before[-1])].lower() == "the":
        return antecedent.turn, before[-1][0], antecedent.end
    return antecedent.turn, antecedent.start, antecedent.end


def propose_rewrites(
    inputs: Sequence[Given], own: Sequence[Sequence[Prediction]], friends: Sequence[Sequence[Prediction]]
) -> list[list[Prediction | None]]:
    """Links as the rewrite that they propose, which may be none at all; the least sure link counts.

    Of an utterance without a mention coreference says nothing: None.
    """
    found: list[list[Prediction | None]] = []
    for given, units, links in zip(inputs, own, friends, strict=True):
        dialogue = queried(given).dialogue
        if not links:
            found.append([None for _ in units])
            continue
        label = rewrite_of_links(dialogue, [unit.label for unit in links])
        telling = [unit.confidence for unit in links if unit.content] if label.insertions else []
        sure = min(telling or [unit.confidence for unit in links])
        content, kind = bool(label.insertions), "changed" if label.insertions else "unchanged"
        found.append([Prediction(unit.unit, label, sure, content=content, kind=kind) for unit in units])
    return found


def propose_links(
    inputs: Sequence[Given], own: Sequence[Sequence[Prediction]], friends: Sequence[Sequence[Prediction]]
) -> list[list[Prediction | None]]:
    """A rewrite as the links that its edits say; None for a mention that it leaves."""
    found: list[list[Prediction | None]] = []
    for given, units, (rewrite, *_) in zip(inputs, own, friends, strict=True):
        text = queried(given).dialogue.utterance.text
        edits = [
            (stretch, one)
            for stretch, one in replacements(rewrite.label, text)
            if stretch is not None and one.turn not in (FUNCTION_WORDS_TURN, len(queried(given).dialogue.turns) - 1)
        ]
        found.append([_proposed(unit, edits, rewrite.confidence) for unit in units])
    return found


def _proposed(
    unit: Prediction, edits: Sequence[tuple[tuple[int, int], Insertion]], confidence: float
) -> Prediction | None:
    at = unit.label.mention
    for (start, end), one in edits:
        if start < at.end and end > at.start:
            link = Link(at, Mention(one.turn, one.start, one.end))
            return Prediction(unit.unit, link, confidence, content=True, kind="linked")
    return None


def merge_rewrites(
    inputs: Sequence[Given], first: Sequence[Sequence[Prediction]], second: Sequence[Sequence[Prediction]]
) -> list[list[Prediction]]:
    """Rewrites with the edits that links propose where the rewrite leaves a pronoun."""
    merged = []
    for given, units, links in zip(inputs, first, second, strict=True):
        dialogue = queried(given).dialogue
        label = rewrite_of_links(dialogue, [unit.label for unit in links], to=units[0].label)
        kind = "changed" if label.text != dialogue.utterance.text else "unchanged"
        merged.append([replace(units[0], label=label, content=bool(label.insertions), kind=kind)])
    return merged


def propose_edits(inputs: Sequence[Given], likeliest: Candidates, friends: Predictions) -> list[list[list[Prediction]]]:
    """What links make of each of the rewriter's own likeliest rewrites, for labels that are decided on together."""
    found = []
    for given, [candidates], links in zip(inputs, likeliest, friends, strict=True):
        dialogue, said = queried(given).dialogue, [unit.label for unit in links]
        labels = {rewrite_of_links(dialogue, said, to=one.label) for one in candidates}
        unit = candidates[0]
        found.append(
            [
                [
                    replace(unit, label=label, content=bool(label.insertions), kind="changed")
                    for label in sorted(labels, key=lambda label: label.text)
                    if label.insertions
                ]
            ]
        )
    return found


def propose_antecedents(
    inputs: Sequence[Given], likeliest: Candidates, friends: Predictions
) -> list[list[list[Prediction]]]:
    """What the rewrite puts in a mention's place as a link of it, for labels that are decided on together."""
    own = [[candidates[0] for candidates in units] for units in likeliest]
    return [[[] if one is None else [one] for one in units] for units in propose_links(inputs, own, friends)]


def coreference_rewriting(
    rewriting: str = "rewriting",
    coreference: str = "coreference",
    *,
    merged: bool = False,
    joint: float | None = None,
) -> Friendship:
    """Rewriting by words and coreference, by name, as friends.

    `merged` trains rewriting on labels that both make; with `joint`, the weight γ of the match, both tasks' labels are
    decided on together.
    """
    return Friendship(
        f"{rewriting}-{coreference}",
        rewriting,
        coreference,
        translate_rewrites,
        translate_links,
        LinkMatcher(proposals=merged),
        merge_first=merge_rewrites if merged else None,
        propose_first=propose_rewrites,
        propose_second=propose_links,
        joint_first=None if joint is None else Joint(joint, best=8, propose=propose_edits),
        joint_second=None if joint is None else Joint(joint, best=8, propose=propose_antecedents),
    )


# Friends of controls and ceilings: other links in the place of those that coreference predicts.


Links = Callable[[Given], Sequence[Link]]


def with_links(friendship: Friendship, links: Links) -> Friendship:
    """The friendship as it would be if coreference said these links, as surely as can be.

    They are of other mentions than those it predicts for, which have nothing to match: coreference is taught nothing.
    """

    def said(inputs: Sequence[Given]) -> list[list[Prediction]]:
        return [[Prediction(unit_of(queried(x).dialogue, one.mention), one, 1.0) for one in links(x)] for x in inputs]

    def translate(inputs: Sequence[Given], predictions: Sequence[Sequence[Prediction]]) -> list[tuple[Sigma, int]]:
        counts = [len(units) for units in predictions]
        return list(zip(friendship.translate_second(inputs, said(inputs)), counts, strict=True))

    def match(first: Sequence[Sigma], second: Sequence[tuple[Sigma, int]]) -> list[Match]:
        found = friendship.matcher(first, [links for links, _ in second])
        return [Match(one.first, (None,) * count) for one, (_, count) in zip(found, second, strict=True)]

    def merge(
        inputs: Sequence[Given], first: Sequence[Sequence[Prediction]], second: Sequence[Sequence[Prediction]]
    ) -> list[list[Prediction]]:
        return merge_rewrites(inputs, first, said(inputs))

    merged = None if friendship.merge_first is None else merge
    return replace(friendship, translate_second=translate, matcher=match, merge_first=merged)


def random_links(given: Given, *, seed: int) -> list[Link]:
    """Each found pronoun linked to a word of the context that is drawn at random: a friend without information."""
    dialogue, mentions = queried(given).dialogue, queried(given).mentions
    words = [
        Mention(turn, start, end)
        for turn, said in enumerate(dialogue.turns[:-1])
        for start, end in words_in(said.text)
        if said.text[start:end].isalnum() and said.text[start:end].lower() not in _REPLACED | _NO_NOUN
    ]
    draw = random.Random(f"{dialogue.id} {seed}")
    return [Link(mention, draw.choice(words) if words else None) for mention in mentions]


def _words(text: str) -> frozenset[str]:
    """The words of a text that carry meaning: no marks, articles or clitics."""
    found = frozenset(text[start:end].lower() for start, end in words_in(text))
    return frozenset(word for word in found if word.isalnum()) - {"the", "a", "an", "s"} or found
