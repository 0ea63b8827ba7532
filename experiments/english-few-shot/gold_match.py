"""Gold against gold: the matching score of gold links with gold rewrites, and what shuffling leaves of it."""

from collections.abc import Mapping, Sequence

from friend_training.core.task import Prediction
from friend_training.friendships.coreference_rewriting import coreference_rewriting, propose_rewrites
from friend_training.methods.controls import shuffled
from friend_training.tasks.coreference.mentions import find_mentions, gold_links, without_speakers
from friend_training.tasks.coreference.task import unit_of
from friend_training.tasks.rewriting.edits import FUNCTION_WORDS, build_word_script, from_extended, with_function_words
from friend_training.types import CoreferenceExample, Rewrite, RewritingExample

Links = Mapping[str, CoreferenceExample]
"""Gold links by the id of the dialogue."""


def measure(examples: Sequence[RewritingExample], links_of: Links) -> dict[str, float]:
    extended = [with_function_words(e.dialogue, FUNCTION_WORDS) for e in examples]
    scripts = [build_word_script(d, e.rewrite) for d, e in zip(extended, examples, strict=True)]
    built = [
        (e, links_of[e.dialogue.id], from_extended(script, e.dialogue))
        for e, script in zip(examples, scripts, strict=True)
        if script is not None
    ]
    inputs = [e.dialogue for e, _, _ in built]
    rewrites = [[Prediction(e.dialogue.id, script, 1.0)] for e, _, script in built]
    links = [
        [Prediction(unit_of(e.dialogue, link.mention), link, 1.0) for link in gold_links(without_speakers(cut))]
        for e, cut, _ in built
    ]
    friends = coreference_rewriting()
    found = friends.match(inputs, rewrites, links)
    chance = shuffled(friends, seed=1).match(inputs, rewrites, links)
    changed = [script.text != e.dialogue.utterance.text for e, _, script in built]
    return {
        "utterances": len(examples),
        "buildable": len(built) / len(examples),
        "changed": sum(changed),
        "match_per_utterance": _mean([match.first[0] for match in found]),
        "shuffled_per_utterance": _mean([match.first[0] for match in chance]),
        "abstains_per_utterance": sum(match.first[0] is None for match in found) / len(found),
        "abstains_on_changed": sum(m.first[0] is None for m, c in zip(found, changed, strict=True) if c) / sum(changed),
        "match_on_changed": _mean([m.first[0] for m, c in zip(found, changed, strict=True) if c]),
        "mentions": sum(len(match.second) for match in found),
        "match_per_mention": _mean([score for match in found for score in match.second]),
        "shuffled_per_mention": _mean([score for match in chance for score in match.second]),
        "abstains_per_mention": sum(s is None for m in found for s in m.second) / sum(len(m.second) for m in found),
        **_finder([links_of[e.dialogue.id] for e in examples]),
    }


def proposed_by_gold_links(example: RewritingExample, cut: CoreferenceExample) -> str:
    """The utterance as the gold links alone would rewrite it: the ceiling of the friend's labels as rewrites."""
    id, text = example.dialogue.id, example.dialogue.utterance.text
    gold = gold_links(without_speakers(cut))
    links = [Prediction(id, link, 1.0, link.antecedent is not None) for link in gold]
    [[proposed]] = propose_rewrites([example.dialogue], [[Prediction(id, Rewrite(text), 1.0)]], [links])
    return text if proposed is None else str(proposed.label.text)


def _finder(cuts: Sequence[CoreferenceExample]) -> dict[str, float]:
    """Of the gold mentions that have an antecedent, how many are found; of the found ones, how many are gold."""
    gold, found, both = 0, 0, 0
    for cut in map(without_speakers, cuts):
        linked = {link.mention for link in gold_links(cut) if link.antecedent is not None}
        mentions = set(find_mentions(cut.dialogue))
        gold, found, both = gold + len(linked), found + len(mentions), both + len(linked & mentions)
    return {"finder_recall": both / gold, "finder_precision": both / found}


def _mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return sum(known) / max(1, len(known))
