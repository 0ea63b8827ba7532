"""What led to the settings of archive/real-few-shot-resolved, measured on dev with the Base of each seed, as if dev had
no labels: what better decoding brings; whom pronouns stand for, and who finds it; which rewrites are right; how good
CSRL's labels are by who has made them.

For diagnosis: nothing goes back into training.

    python experiments/diagnosis/decoding_and_pronouns.py RUNS   # the experiment's runs: has seed-1, seed-2, …
    python experiments/diagnosis/decoding_and_pronouns.py        # only print the tables
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from seeds import by_seed, config_and_data, measured_seeds

from friend_training.bridges.bridge import Bridge
from friend_training.core.task import Prediction
from friend_training.friendships.bridge_quality import bridge_roles
from friend_training.friendships.joint_labels import (
    Check,
    CheckedRoles,
    Said,
    WithoutPronouns,
    is_pronoun,
    read_rewrites,
    read_utterances,
)
from friend_training.nn.task import TorchTask
from friend_training.study.csrl_rewriting import TASKS
from friend_training.study.open import open_task
from friend_training.study.plans import probed_inputs
from friend_training.study.resources import open_bridge
from friend_training.study.run_data import RunData
from friend_training.tasks.csrl.metrics import CsrlScore
from friend_training.types import SPEAKER, Argument, CsrlExample, Roles

Counts = Counter[str]


def main() -> None:
    records = measured_seeds(measure, "archive/real-few-shot-resolved/decoding_and_pronouns.jsonl", __doc__)
    print(by_seed("Base on dev", records, "decoding"), end="\n\n")
    print(by_seed("CSRL's labels of dev, F1", records, "labels"), end="\n\n")
    print(right_of("the bridge finds a pronoun in u_t", records, "pronouns"), end="\n\n")
    print(right_of("a rewrite that inserts something", records, "rewrites"))


def measure(study: Path, data_dir: Path | None) -> dict[str, Any]:
    """All that is measured of one seed's Base."""
    config, data = config_and_data(study, data_dir)
    bridge = open_bridge(study, config)
    csrl, rewriting = (open_task(study, name, "base").task for name in TASKS)
    inputs = [example.dialogue for example in data.tasks["csrl"].dev]
    roles, rewrites = csrl.predict(inputs), {}
    for turns, words in ((None, "of the whole dialogue"), (config.rewriting_turns, "of three turns")):
        rewriting.definition.context_turns = turns  # type: ignore[attr-defined]
        rewrites[words] = rewriting.predict(inputs)
    return {
        "seed": config.seed,
        "decoding": decoding(csrl, rewriting, data),
        "labels": labels(data.tasks["csrl"].dev, bridge, roles, rewrites),
        "pronouns": pronouns(data.tasks["csrl"].dev, bridge, roles, rewrites),
        "rewrites": rewrites_right(config, data, csrl, rewriting),
    }


def decoding(csrl: TorchTask, rewriting: TorchTask, data: RunData) -> dict[str, float]:
    """The same weights, decoded as printed and better."""
    found: dict[str, float] = {}
    for adjacent, words in (("apart", "as printed"), ("once", "each role once")):
        csrl.definition.adjacent = adjacent  # type: ignore[attr-defined]
        found[f"F1, {words}"] = csrl.evaluate(data.tasks["csrl"].dev)["f1"]
    for spans, words in (("apart", "as printed"), ("together", "spans of one turn")):
        rewriting.definition.spans = spans  # type: ignore[attr-defined]
        scores = rewriting.evaluate(data.tasks["rewriting"].dev)
        found |= {f"EM, {words}": scores["em"], f"WER, {words}": scores["wer"]}
    return found


def labels(
    gold: Sequence[CsrlExample],
    bridge: Bridge,
    roles: Sequence[Sequence[Prediction]],
    rewrites: Mapping[str, Sequence[Sequence[Prediction]]],
) -> dict[str, float]:
    """F1 of what CSRL would be trained on, by who has made it; unsure spans count as no arguments."""
    inputs = [example.dialogue for example in gold]
    named = bridge_roles(WithoutPronouns(bridge), inputs)
    found = {
        "CSRL's own": _f1(gold, [[unit.label for unit in units] for units in roles]),
        "the bridge's, with pronouns": _f1(gold, bridge_roles(bridge, inputs)),
        "the bridge's, without": _f1(gold, named),
    }
    for shown, made in rewrites.items():
        found[f"the bridge's on the rewrite {shown}"] = _f1(gold, _as_labels(gold, read_rewrites(bridge, inputs, made)))
    for check, words in zip(
        get_args(Check), ("fdt-checked", "fdt-answers", "checked-shuffled", "unchecked"), strict=True
    ):
        checked = CheckedRoles(bridge, check, "resolved")(inputs, roles, (), rewrites["of three turns"])
        found[words] = _f1(gold, [[unit.label for unit in units] for units in checked])
    return found


def _as_labels(gold: Sequence[CsrlExample], said: Sequence[Sequence[Said]]) -> list[list[Roles]]:
    return [
        [Roles(label.predicate, tuple(sorted(one))) for label, one in zip(example.roles, units, strict=True)]
        for example, units in zip(gold, said, strict=True)
    ]


def _f1(gold: Sequence[CsrlExample], made: Sequence[Sequence[Roles]]) -> float:
    total = CsrlScore()
    for example, units in zip(gold, made, strict=True):
        for label, given in zip(example.roles, units, strict=True):
            total += CsrlScore.of(given, label, example.dialogue)
    return total.as_dict()["f1"]


def pronouns(
    gold: Sequence[CsrlExample],
    bridge: Bridge,
    roles: Sequence[Sequence[Prediction]],
    rewrites: Mapping[str, Sequence[Sequence[Prediction]]],
) -> dict[str, Counts]:
    """Of the roles for which the bridge finds a pronoun in u_t: where gold has them, and who finds that."""
    inputs = [example.dialogue for example in gold]
    plain = read_utterances(bridge, inputs)
    friend = {shown: read_rewrites(bridge, inputs, made) for shown, made in rewrites.items()}
    there: Counts = Counter()
    right: Counts = Counter()
    for number, (example, units, in_u_t) in enumerate(zip(gold, roles, plain, strict=True)):
        current = len(example.dialogue.turns) - 1
        for place, (label, unit, seen) in enumerate(zip(example.roles, units, in_u_t, strict=True)):
            for role in {a.role for a in seen if is_pronoun(example.dialogue, a)}:
                wanted = {a for a in label.arguments if a.role == role}
                own = _elsewhere(role, frozenset(unit.label.arguments), current)
                rows: dict[str, tuple[bool, bool]] = {
                    "gold has the role in another turn": (True, any(_is_elsewhere(a, current) for a in wanted)),
                    "CSRL finds the role in another turn": (bool(own), own <= wanted),
                }
                for shown, said in friend.items():
                    friends = _elsewhere(role, said[number][place], current)
                    rows[f"the friend does, by its rewrite {shown}"] = (bool(friends), friends <= wanted)
                rows["both do, the same"] = (bool(own) and own == friends, own <= wanted)
                for row, (counts, holds) in rows.items():
                    there[row] += counts
                    right[row] += counts and holds
    return {"there": there, "right": right}


def _elsewhere(role: str, arguments: Said, current: int) -> Said:
    return frozenset(a for a in arguments if a.role == role and _is_elsewhere(a, current))


def _is_elsewhere(argument: Argument, current: int) -> bool:
    return argument.turn != current and argument.start != SPEAKER


def rewrites_right(config: Any, data: RunData, csrl: TorchTask, rewriting: TorchTask) -> dict[str, Counts]:
    """How many are right, by how sure the rewriter is, whether u_t has a predicate, and what CSRL says of the spans."""
    dialogues = probed_inputs(config, data, "rewriting")
    made, roles = rewriting.predict(dialogues), csrl.predict(dialogues)
    ranked = sorted((unit.confidence for [unit] in made if unit.content), reverse=True)
    surest, surer = (ranked[int(share * len(ranked))] for share in (0.3, 0.6))
    there: Counts = Counter()
    right: Counts = Counter()
    for example, dialogue, [unit], labels_of in zip(data.tasks["rewriting"].dev, dialogues, made, roles, strict=True):
        if not unit.content:
            continue
        sure = "surest 30 %" if unit.confidence >= surest else "next 30 %" if unit.confidence >= surer else "the rest"
        current = len(dialogue.turns) - 1
        said = {(a.turn, a.start, a.end) for one in labels_of for a in one.label.arguments if _is_elsewhere(a, current)}
        inserted = {(i.turn, i.start, i.end) for i in unit.label.insertions}
        who = "no predicate, so nothing to match" if not labels_of else "CSRL has no argument in another turn"
        if said:
            who = "CSRL has just what is inserted" if inserted <= said else "CSRL has something else in another turn"
        key = f"{sure}: {who}"
        there[key] += 1
        right[key] += unit.label.text == example.rewrite
    return {"there": there, "right": right}


def right_of(title: str, records: list[dict[str, Any]], what: str) -> str:
    there, right = (sum((Counter(r[what][name]) for r in records), Counter()) for name in ("there", "right"))
    rows = [f"| {title} | cases ({len(records)} seeds) | right |", "|---|--:|--:|"]
    order = [name for record in records for name in record[what]["there"]]
    for name in dict.fromkeys(sorted(order) if what == "rewrites" else order):
        if there[name]:
            rows.append(f"| {name} | {there[name]} | {100 * right[name] / there[name]:.0f} % |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
