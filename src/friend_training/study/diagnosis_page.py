"""A diagnosis as Markdown: tables, then examples to read. It holds dialogues, so it stays in the run folder."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from friend_training.friendships.bridge_quality import BridgeFailures
from friend_training.friendships.csrl_rewriting import RoleString
from friend_training.runs.files import write_text
from friend_training.study.csrl_rewriting import TASKS
from friend_training.study.diagnosis import Diagnosis, IterationDiagnosis, strictness
from friend_training.tasks.label_text import as_stored, label_line

FOLDER = "diagnosis"
WORDS: dict[str, str] = {"csrl": "CSRL", "rewriting": "rewriting"}


def numbers(diagnosis: Diagnosis, method: str) -> list[dict[str, Any]]:
    """One record per iteration, without any text: what may leave the run folder."""
    return [
        {
            "method": method,
            "seed": diagnosis.config.seed,
            "iteration": one.iteration,
            "epsilon": one.pair.epsilon,
            "error_correlation": None if one.pair.errors is None else one.pair.errors.phi,
            "error_correlation_se": None if one.pair.errors is None else one.pair.errors.standard_error,
            "agreed": one.pair.agreed,
            "error_when_agreed": one.pair.error,
            "corrected_error": one.pair.corrected_error,
            "friend_accuracy": one.pair.eta_b,
            "label_quality": [asdict(found) for found in one.quality],
            "tasks": {
                name: {
                    "units": len(made.right),
                    "accuracy": float(made.right.mean()),
                    "rules": {rule.rule: {"chosen": rule.count, "precision": rule.precision} for rule in made.rules},
                    "errors_only_match_catches": len(made.caught_by_match()),
                    "errors_only_confidence_catches": len(made.caught_by_confidence()),
                    "right_lost_by_match": len(made.lost_by_match()),
                    "strictness": [asdict(found) for found in strictness(made)],
                }
                for name, made in one.choices.items()
            },
        }
        for one in diagnosis.iterations
    ]


def keep_diagnosis(study: Path, diagnosis: Diagnosis, method: str, *, examples: int) -> str:
    """Write page and numbers into the run's folder; returns the page."""
    text = page(diagnosis, method, examples=examples)
    write_text(study / FOLDER / f"{method}.md", text)
    lines = [json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n" for record in numbers(diagnosis, method)]
    write_text(study / FOLDER / f"{method}.jsonl", "".join(lines))
    return text


def page(diagnosis: Diagnosis, method: str, *, examples: int) -> str:
    lines = [f"# Diagnosis of {method} on dev", ""]
    lines += [*_choice_table(diagnosis), "", *_strictness_table(diagnosis), ""]
    lines += [*_quality_table(diagnosis), "", *_pair_table(diagnosis), ""]
    lines += _bridge_table(diagnosis.bridge)
    if examples:
        for name in TASKS:
            lines += ["", *_cases(diagnosis.iterations[-1], name, diagnosis, examples)]
        lines += ["", *_bridge_cases(diagnosis.bridge, examples)]
    return "\n".join(lines) + "\n"


def _choice_table(diagnosis: Diagnosis) -> Iterator[str]:
    yield "| Task | Iteration | units | right | rule | chosen | right of the chosen |"
    yield "|---|--:|--:|--:|---|--:|--:|"
    for name in TASKS:
        for one in diagnosis.iterations:
            made = one.choices[name]
            for rule in made.rules:
                start = f"| {WORDS[name]} | {one.iteration} | {len(made.right)} | {_percent(float(made.right.mean()))}"
                yield f"{start} | {rule.rule} | {rule.count} | {_percent(rule.precision)} |"


def _strictness_table(diagnosis: Diagnosis) -> Iterator[str]:
    yield "How many are right among the best few whose labels say something:"
    yield ""
    yield "| Task | Iteration | share | units | right, by match and confidence | right, by confidence |"
    yield "|---|--:|--:|--:|--:|--:|"
    for name in TASKS:
        for one in diagnosis.iterations:
            for found in strictness(one.choices[name]):
                start = f"| {WORDS[name]} | {one.iteration} | {100 * found.share:.0f} % | {found.units}"
                yield f"{start} | {_percent(found.by_match)} | {_percent(found.by_confidence)} |"


def _quality_table(diagnosis: Diagnosis) -> Iterator[str]:
    yield "CSRL's labels argument by argument, and what is new to it in the labels merged with its friend's:"
    yield ""
    yield "| Iteration | rule | predicates | F1, own labels | F1, merged labels | new in merged labels |"
    yield "|--:|---|--:|--:|--:|--:|"
    for one in diagnosis.iterations:
        for found in one.quality:
            scores = f"{found.own:.1f} | {found.merged:.1f} | {found.new:.1f} %"
            yield f"| {one.iteration} | {found.rule} | {found.units} | {scores} |"


def _pair_table(diagnosis: Diagnosis) -> Iterator[str]:
    yield "CSRL's units. The rewrite is right about a predicate where it says, through the bridge, what gold says."
    yield ""
    heads = "ε | CSRL right | rewrite right | errors correlate (φ) | agree | error of the agreed | formula"
    yield f"| Iteration | {heads} | agree if both right |"
    yield "|--:|" + "--:|" * 8
    for one in diagnosis.iterations:
        pair = one.pair
        phi = "" if pair.errors is None else f"{pair.errors.phi:.2f} ± {pair.errors.standard_error:.2f}"
        cells = [f"{pair.epsilon:.3f}", _percent(pair.eta_a), _percent(pair.eta_b), phi, _percent(pair.agreed)]
        cells += [_percent(pair.error), _percent(pair.corrected_error), _percent(pair.agreed_when_both_right)]
        yield f"| {one.iteration} | {' | '.join(cells)} |"


def _bridge_table(bridge: BridgeFailures) -> Iterator[str]:
    quality = bridge.quality
    yield (
        f"The bridge on {quality['predicates']:.0f} gold predicates whose arguments all stand in their own utterance:"
        f" P {quality['precision']:.2f}, R {quality['recall']:.2f}, F1 {quality['f1']:.2f}, left empty"
        f" {quality['left_empty']:.2f}; matching score of gold {quality['match']:.2f} on average."
    )
    yield ""
    yield "| Role | right | missed | invented |"
    yield "|---|--:|--:|--:|"
    for role, right, missed, invented in bridge.roles:
        yield f"| {role} | {right} | {missed} | {invented} |"


def _cases(one: IterationDiagnosis, name: str, diagnosis: Diagnosis, count: int) -> Iterator[str]:
    made = one.choices[name]
    lists = {
        "Errors that matching catches and confidence does not": made.caught_by_match(),
        "Errors that confidence catches and matching does not": made.caught_by_confidence(),
        "Right labels that matching throws away": made.lost_by_match(),
    }
    for title, places in lists.items():
        yield f"## {WORDS[name]}, iteration {one.iteration}: {title} ({len(places)})"
        for place in places[:count]:
            yield ""
            yield from _case(one, name, diagnosis, place)
        yield ""


def _case(one: IterationDiagnosis, name: str, diagnosis: Diagnosis, place: int) -> Iterator[str]:
    labelled, made = one.labelled[name], one.choices[name]
    of_input = labelled.roles if name == "csrl" else labelled.rewrites
    where = [(number, unit) for number, units in enumerate(of_input) for unit in range(len(units))]
    number, unit = where[place]
    dialogue = labelled.dialogues[number]
    for turn in dialogue.turns:
        yield f"    {turn.speaker}: {turn.text}"
    rewrite = labelled.rewrites[number][0].label.text
    if name == "csrl":
        yield f"    says   {_line(labelled.roles[number][unit].label, dialogue)}"
        yield f"    gold   {_line(diagnosis.data.tasks['csrl'].dev[number].roles[unit], dialogue)}"
        yield f"    friend {rewrite}  →  {_strings(labelled.said_by_rewrites[number][unit])}"
    else:
        yield f"    says   {rewrite}"
        yield f"    gold   {diagnosis.data.tasks['rewriting'].dev[number].rewrite}"
        for roles, heard in zip(labelled.roles[number], labelled.said_by_rewrites[number], strict=True):
            yield f"    friend {_line(roles.label, dialogue)}  ↔  {_strings(heard)}"
    match = made.scores.match[place]
    yield f"    match {match:.2f}, confidence {made.scores.confidence[place]:.2f}, overall {made.overall[place]:.2f}"


def _bridge_cases(bridge: BridgeFailures, count: int) -> Iterator[str]:
    yield f"## Where the bridge fails ({len(bridge.cases)})"
    for case in bridge.cases[:count]:
        yield ""
        yield f"    {case.text}"
        yield f"    gold   {label_line(as_stored(case.gold), {'text': case.text})}"
        yield f"    bridge {label_line(as_stored(case.said), {'text': case.text})}"
        yield f"    match {case.match:.2f}"


def _line(label: Any, given: Any) -> str:
    return label_line(as_stored(label), as_stored(given))


def _strings(strings: Sequence[RoleString]) -> str:
    return " · ".join(f"{string.role} {string.text}" for string in strings) or "nothing"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
