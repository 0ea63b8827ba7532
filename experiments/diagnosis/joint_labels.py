"""Labels that friends decide on together, on dev as if it had no labels: how good they are before anyone learns them.

Role labels by γ, with controls; rewrites with CSRL as it is and with one that never errs; and what is learnt of
rewrites taken edit by edit. `--examples N` prints rewrites that a perfect friend would have had right instead.

    python experiments/diagnosis/joint_labels.py RUNS   # see seeds.py
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from seeds import Measured, by_seed, config_and_data, measured_seeds

from friend_training.core.friendship import Friendship, Joint, decide
from friend_training.core.task import Prediction
from friend_training.friendships.csrl_rewriting import RoleMatcher, csrl_rewriting
from friend_training.friendships.joint_labels import (
    CheckedRoles,
    ConfirmedEdits,
    DisputedRoles,
    ProposedInsertions,
    ProposedRoles,
    WithoutPronouns,
    nothing_rewritten,
    said_elsewhere,
)
from friend_training.study.data import with_found_predicates
from friend_training.study.open import open_task
from friend_training.study.resources import open_bridge
from friend_training.tasks.csrl.metrics import score
from friend_training.tasks.rewriting.edits import build_script
from friend_training.types import CsrlExample, Dialogue, Rewrite, RewritingExample

RECORDS = "synthetic-few-shot-joint/joint_labels.jsonl"
WEIGHTS = (8.0, 32.0, 64.0, 128.0)
EDIT_WEIGHTS = (1.0, 4.0, 16.0, 32.0)
SST_THRESHOLD = 0.8

REASONS = (
    "CSRL finds nothing in other turns",
    "it finds a part of what is right, or more",
    "it finds something else",
    "it is right, and outweighed",
)
"""Why a rewrite is not right that a perfect friend would have had right."""

Labels = Sequence[Sequence[Prediction]]


def measure(study: Path, data_dir: Path | None, *, examples: int = 0) -> Measured:
    config, data = config_and_data(study, data_dir)
    csrl, rewriting = (open_task(study, task, "base").task for task in ("csrl", "rewriting"))
    plain = open_bridge(study, config)
    bridge = WithoutPronouns(plain) if config.pronouns == "resolved" else plain
    friends = csrl_rewriting(bridge, RoleMatcher(**config.friendship.model_dump()))
    tasks, settle, propose = {"csrl": csrl, "rewriting": rewriting}, DisputedRoles(bridge), ProposedRoles(bridge)

    gold = data.tasks["csrl"].dev
    inputs = [example.dialogue for example in gold]
    own, rewrites = csrl.predict(inputs), rewriting.predict(inputs)

    def roles(joint: Joint) -> list[float]:
        said = {"csrl": own, "rewriting": rewrites}
        return f1(decide("csrl", [friends.with_joint("csrl", joint)], tasks, inputs, said), gold)

    of_roles = {"CSRL's own": f1(own, gold)}
    of_roles["checked arguments"] = f1(CheckedRoles(plain, "friend", config.pronouns)(inputs, own, (), rewrites), gold)
    for weight in WEIGHTS:
        of_roles[f"joint, γ = {weight:g}"] = roles(Joint(weight, propose=propose, settle=settle))
    best = config.joint.match_weight
    of_roles |= {
        "without proposals": roles(Joint(best)),
        "bridge alone": roles(Joint(best, propose=propose, settle=settle, friend=nothing_rewritten)),
        "shuffled friend": roles(Joint(best, propose=propose, settle=settle, foreign=config.seed)),
        "best of 16": f1(nearest(csrl.n_best(inputs, 16), gold), gold),
    }
    return {
        "seed": config.seed,
        "roles": of_roles,
        **of_rewrites(config, data, tasks, friends, examples),
    }


def f1(labels: Labels, gold: Sequence[CsrlExample]) -> list[float]:
    """F1 in total and across turns."""
    found = score(
        [unit.label for units in labels for unit in units],
        [label for example in gold for label in example.roles],
        [example.dialogue for example in gold for _ in example.roles],
    ).as_dict()
    return [found["f1"], found["cross_f1"]]


def nearest(ranked: Sequence[Sequence[Sequence[Prediction]]], gold: Sequence[CsrlExample]) -> Labels:
    """Of the likeliest labels the one that has most in common with gold."""

    def alike(one: Prediction, label: Any) -> float:
        own, right = set(one.label.arguments), set(label.arguments)
        return 2 * len(own & right) / max(1, len(own) + len(right))

    return [
        [max(unit, key=lambda one: alike(one, label)) for unit, label in zip(units, example.roles, strict=True)]
        for units, example in zip(ranked, gold, strict=True)
    ]


def of_rewrites(config: Any, data: Any, tasks: dict[str, Any], friends: Friendship, examples: int) -> dict[str, Any]:
    """Exact match of decided rewrites, and what of them is learnt edit by edit."""
    csrl, rewriting = tasks["csrl"], tasks["rewriting"]
    gold: list[RewritingExample] = list(data.tasks["rewriting"].dev)
    inputs = [example.dialogue for example in gold]
    if not any(dialogue.predicates for dialogue in inputs):
        inputs = with_found_predicates(inputs, config, lambda done, total: None)
    own, said = rewriting.predict(inputs), csrl.predict(inputs)
    known = {example.dialogue.id: example.roles for example in data.tasks["csrl"].dev}
    perfect = [
        [replace(unit, label=label) for unit, label in zip(units, known.get(one.id, ()), strict=False)]
        for one, units in zip(inputs, said, strict=True)
    ]
    by_friend = (
        {"CSRL": said, "a perfect friend": perfect} if any(one.id in known for one in inputs) else {"CSRL": said}
    )

    def decided_on(joint: Joint, friend: Labels) -> list[list[Prediction]]:
        predictions = {"csrl": friend, "rewriting": own}
        return decide("rewriting", [friends.with_joint("rewriting", joint)], tasks, inputs, predictions)

    listed = rewriting.n_best(inputs, 16)
    em = {"the rewriter's own": exact(own, gold)}
    em["one of 16"] = (
        100
        * sum(any(one.label.text == e.rewrite for one in units[0]) for units, e in zip(listed, gold, strict=True))
        / len(gold)
    )
    edits = {
        f"own, from {SST_THRESHOLD}": learnt(
            [[replace(u, content=u.content and u.confidence >= SST_THRESHOLD) for u in units] for units in own], gold
        ),
        "edits without a friend": learnt(
            decided_on(Joint(0.0, settle=ConfirmedEdits(confirmed=False)), said),
            gold,
        ),
    }
    for name, friend in by_friend.items():
        decided: Labels = own
        for weight in EDIT_WEIGHTS:
            for proposals in (None, ProposedInsertions()):
                joint = Joint(weight, proposals=4, propose=proposals, settle=ConfirmedEdits())
                found = decided_on(joint, friend)
                em[f"with {name}, γ = {weight:g}{', proposals' if proposals else ''}"] = exact(found, gold)
                if proposals and weight == config.joint.edits_match_weight:
                    edits[f"edits with {name}"] = learnt(found, gold)
                    decided = found
        if name == "CSRL":
            with_csrl = decided
    if examples and len(by_friend) > 1:
        print_examples(gold, own, with_csrl, decided, said, perfect, examples)
    lost = {reason: [0.0] for reason in REASONS}
    for example, (together,), (best,), roles, right in zip(gold, with_csrl, decided, said, perfect, strict=True):
        if best.label.text == example.rewrite != together.label.text:
            lost[reason_of(example.dialogue, roles, right)][0] += 1
    return {"rewrites": {row: [value] for row, value in em.items()}, "edits": edits, "lost": lost}


def reason_of(dialogue: Dialogue, roles: Sequence[Prediction], right: Sequence[Prediction]) -> str:
    """Why CSRL did not help where a perfect friend would have."""
    said, wanted = set(said_elsewhere(dialogue, roles)), set(said_elsewhere(dialogue, right))
    spans, right_spans = ({(a.turn, a.start, a.end) for a in found} for found in (said, wanted))
    if not spans:
        return REASONS[0]
    if spans & right_spans:
        return REASONS[3]
    overlap = any(a[0] == b[0] and a[1] < b[2] and b[1] < a[2] for a in spans for b in right_spans)
    return REASONS[1] if overlap else REASONS[2]


def exact(labels: Labels, gold: Sequence[RewritingExample]) -> float:
    return 100 * sum(units[0].label.text == e.rewrite for units, e in zip(labels, gold, strict=True)) / len(gold)


def learnt(labels: Labels, gold: Sequence[RewritingExample]) -> list[float]:
    """Insertions that would be learnt per 100 utterances, and how many in 100 of them are right."""
    right = count = 0
    for (unit,), example in zip(labels, gold, strict=True):
        script = build_script(example.dialogue, example.rewrite, span_source="dialogue")
        wanted = set() if script is None else texts(example.dialogue, script)
        if unit.content:
            found = {one for one in texts(example.dialogue, unit.label) if one[0] not in unit.label.unsure}
            count += len(found)
            right += len(found & wanted)
    return [100 * count / len(gold), 100 * right / max(1, count)]


def texts(dialogue: Dialogue, script: Rewrite) -> set[tuple[int, str]]:
    return {(i.before, dialogue.turns[i.turn].text[i.start : i.end]) for i in script.insertions}


def print_examples(
    gold: Sequence[RewritingExample],
    own: Labels,
    joint: Labels,
    perfect: Labels,
    said: Labels,
    right: Labels,
    count: int,
) -> None:
    rows = zip(gold, own, joint, perfect, said, right, strict=True)
    lost = [row for row in rows if row[3][0].label.text == row[0].rewrite != row[2][0].label.text]
    print(f"{len(lost)} of {len(gold)} rewrites would be right with a perfect friend only")
    for example, (alone,), (together,), _, roles, gold_roles in lost[:count]:
        dialogue = example.dialogue
        print("\n" + " / ".join(turn.text for turn in dialogue.turns))
        print(f"  right: {example.rewrite}   own: {alone.label.text}   with CSRL: {together.label.text}")
        for name, units in (("CSRL says", roles), ("gold", gold_roles)):
            print(f"  {name}: " + "; ".join(in_words(dialogue, unit) for unit in units))


def in_words(dialogue: Dialogue, unit: Prediction) -> str:
    predicate = unit.label.predicate
    current = len(dialogue.turns) - 1
    arguments = ", ".join(
        f"{a.role} {dialogue.turns[a.turn].text[max(a.start, 0) : a.end] or 'speaker'}"
        + ("" if a.turn == current else " (before)")
        for a in unit.label.arguments
    )
    return f"{dialogue.utterance.text[predicate.start : predicate.end]}: {arguments or 'nothing'}"


def main() -> None:
    count = 0
    if "--examples" in sys.argv:
        at = sys.argv.index("--examples")
        count = int(sys.argv.pop(at + 1))
        sys.argv.pop(at)
    records = measured_seeds(partial(measure, examples=count), RECORDS, __doc__)
    print(by_seed("role labels: F1, F1 across turns", records, "roles"))
    print(by_seed("rewrites: exact match", records, "rewrites"))
    print(by_seed("rewrites right with a perfect friend only", records, "lost", ".0f"))
    print(by_seed("insertions learnt of 100 utterances, right in 100", records, "edits"))


if __name__ == "__main__":
    main()
