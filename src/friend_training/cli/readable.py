"""One pseudo-label as a person reads it: the dialogue, what the model says of it, and what the selector made of it."""

import json
from collections.abc import Mapping
from typing import Any

from rich.text import Text

from friend_training.examples import OPENING, ROLES, SPEAKER, Argument, Dialogue


def readable(row: Mapping[str, Any], dialogue: Dialogue) -> Text:
    """A row of the store and the dialogue it is about. The row's task is 'csrl' or 'rewriting'."""
    text = Text()
    for number, turn in enumerate(dialogue.turns):
        style = "" if number == len(dialogue.turns) - 1 else "dim"
        text.append(f"  {turn.speaker}: {turn.text}\n", style=style)
    label = json.loads(row["label"])
    if row["task"] == "csrl":
        _add_roles(text, label, dialogue)
    else:
        text.append("  → ")
        text.append(label["text"], style="bold")
        text.append("\n" if label["text"] != dialogue.utterance.text else "  (unchanged)\n")
    text.append(f"  {_scores(row)}", style="cyan")
    return text


def _add_roles(text: Text, label: Mapping[str, Any], dialogue: Dialogue) -> None:
    start, end = label["predicate"]["start"], label["predicate"]["end"]
    text.append("  → ")
    text.append(dialogue.utterance.text[start:end], style="bold")
    arguments = sorted(
        (Argument(**argument) for argument in label["arguments"]), key=lambda a: (ROLES.index(a.role), a.turn, a.start)
    )
    for argument in arguments:
        text.append(f"  {argument.role} ", style="magenta")
        text.append(_words(argument, dialogue), style="bold")
    for span in sorted(Argument(**span) for span in label.get("unsure", ())):
        text.append(f"  {span.role}? {_words(span, dialogue)}", style="dim")
    text.append("\n" if arguments else "  (no arguments)\n")


def _words(argument: Argument, dialogue: Dialogue) -> str:
    if argument.turn == OPENING:
        return "[the other speaker]"
    turn = dialogue.turns[argument.turn]
    words = turn.text[max(0, argument.start) : argument.end]
    return f"[{turn.speaker}]{words}" if argument.start == SPEAKER else words


def _scores(row: Mapping[str, Any]) -> str:
    """'match 0.95, confidence 0.61, overall 0.88 ≥ 0.60: chosen; it is right'."""
    parts = ["nothing to match" if row["match"] is None else f"match {row['match']:.2f}"]
    parts.append(f"confidence {row['confidence']:.2f}")
    if row["overall"] is not None:
        against = ""
        if row["threshold"] is not None:
            against = f" {'≥' if row['overall'] >= row['threshold'] else '<'} {row['threshold']:.2f}"
        parts.append(f"overall {row['overall']:.2f}{against}")
    decision = "chosen" if row["chosen"] else f"rejected ({row['reason']})"
    truth = {None: "", True: "; it is right", False: "; it is wrong"}[row["correct"]]
    return f"{', '.join(parts)}: {decision}{truth}"
