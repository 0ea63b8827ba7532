"""Names that settings had before: old configs are still read, and results keep the ids they were recorded under.

An id is made from the recorded form of a config. Whoever renames a setting or a value adds the old name here.
"""

from collections.abc import Mapping
from typing import Any

OLD_CONFIG_NAMES = {
    "embedded-few-shot": "synthetic-few-shot",
    "embedded-domain-generalisation": "synthetic-domain-generalisation",
}
"""Configs that come with the package, by the names that they had before."""

_OLD_VALUES: dict[str, dict[str, str]] = {"data.kind": {"embedded": "synthetic"}}

_RECORDED_VALUES: dict[str, dict[str, str]] = {
    setting: {new: old for old, new in names.items()}
    for setting, names in {**_OLD_VALUES, "name": OLD_CONFIG_NAMES}.items()
}


LATER_SETTINGS: dict[str, Any] = {
    "engine": {"kind": "local", "workers": 1},
    "informed": False,
    "test_units": None,
    "repeated_roles": "apart",
    "predicate_as_argument": "allowed",
    "joint.match_weight": 64.0,
    "joint.temperature": 1.0,
    "joint.best": 16,
    "joint.edits_match_weight": 16.0,
    "joint.sure": 0.95,
    "pronouns": "kept",
    "checked_labels": "balanced",
    "rewriting_turns": None,
    "rewriting_metric": "em",
    "insertion_spans": "apart",
    "data.pool_of": "chats",
    "data.pool_corpora": [],
    "bridge.predicate_mark": "after",
    "bridge.adjacent": "apart",
    "bridge_training.precision": "fp32",
    "word_encoder.word": 100,
    "word_encoder.affix": 50,
    "word_encoder.width": 128,
    "word_encoder.layers": 2,
    "word_encoder.dropout": 0.33,
    "word_encoder.forget": 0.2,
    "tasks.csrl.balance": "none",
    "tasks.csrl.training.precision": "fp32",
    "tasks.rewriting.balance": "none",
    "tasks.rewriting.training.precision": "fp32",
    "tasks.csrl.selection.score": "paper",
    "tasks.csrl.selection.pick": None,
    "tasks.rewriting.selection.score": "paper",
    "tasks.rewriting.selection.pick": None,
}
"""Settings that came when results were recorded already, and what was done before they came: their defaults.

The recorded form leaves them out where they say that. Whoever adds a setting to a config adds it here."""


CHANGED_DEFAULTS: dict[str, Any] = {
    "repeated_roles": "apart",
    "predicate_as_argument": "allowed",
    "insertion_spans": "apart",
}
"""Settings of the paper's pair whose defaults are others today, and what they were.

Decided on dev (docs/decisions.md): each role once, no predicate its own argument, an insertion a span of one turn.
Every config that does not name them has these decisions; what was recorded before, and the paper's own settings, keep
what they were made with.
"""


def current_form(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a file, by the names that they have today."""
    return _renamed(config, _OLD_VALUES, "")


def complete_form(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a config that was written whole, as records and run folders have it, by today's names.

    What such a config does not name was as it was before there was a choice. A precision without a confidence was an
    estimate.
    """
    values = _estimates(config)
    return {**CHANGED_DEFAULTS, **values} if "friendship" in config else values


def _estimates(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    if value.keys() == {"precision"} and not isinstance(value["precision"], str):  # what networks compute in is a name
        return {"expected_precision": value["precision"]}
    return {key: _estimates(inner) for key, inner in value.items()}


def _recorded_estimates(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    if value.keys() == {"expected_precision"}:
        return {"precision": value["expected_precision"]}
    return {key: _recorded_estimates(inner) for key, inner in value.items()}


def recorded_form(config: Mapping[str, Any]) -> dict[str, Any]:
    """A config as results were recorded with it; one that is in this form stays as it is."""
    return _renamed(_told(_recorded_estimates(config), ""), _RECORDED_VALUES, "")


def _told(values: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Without the settings that came later and say what was done before they came, and sections of nothing else."""
    told = {
        key: _told(value, f"{place}{key}.") if isinstance(value, Mapping) else value
        for key, value in values.items()
        if f"{place}{key}" not in LATER_SETTINGS or value != LATER_SETTINGS[f"{place}{key}"]
    }
    return {key: value for key, value in told.items() if value != {} or values[key] == {}}


def _renamed(values: Mapping[str, Any], names: Mapping[str, Mapping[str, str]], place: str) -> dict[str, Any]:
    renamed: dict[str, Any] = {}
    for key, value in values.items():
        setting = f"{place}{key}"
        if isinstance(value, Mapping):
            value = _renamed(value, names, f"{setting}.")
        elif isinstance(value, str):
            value = names.get(setting, {}).get(value, value)
        renamed[key] = value
    return renamed
