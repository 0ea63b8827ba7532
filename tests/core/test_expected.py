"""Errors of checked values, in our words."""

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from friend_training.core.expected import expected
from friend_training.errors import ConfigError, did_you_mean
from friend_training.study.config import parse_config

CONFIG = """name: reviews
tasks:
  good: {kind: estimator, gold: a.csv, dev: a.csv, test: a.csv, label: good}
  stars:
    kind: estimator
    gold: b.csv
    dev: b.csv
    test: b.csv
    label: stars
friendships:
  - {first: stars, second: good, means: {"1": bad}}
pool: {file: pool.csv}
methods: [base, fdt]
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("label: stars", "lable: stars", "line 9, tasks.stars.lable: there is no such setting; did you mean 'label'?"),
        ("pool: {file: pool.csv}", "", "\n  pool: this setting is missing (Unlabeled inputs, shared by all tasks.)"),
        ("pool: {file: pool.csv}", "pool: pool.csv", "line 12, pool: expected a mapping (given: 'pool.csv')"),
        ("[base, fdt]", "base", "line 13, methods: expected a list (given: 'base')"),
        ("[base, fdt]", "[base, ftd]", "line 13, methods.1: there is no such method; did you mean 'fdt'?"),
        ("kind: estimator,", "kind: estimater,", "line 3, tasks.good: expected a kind, one of 'text-classification', "),
        ("kind: estimator,", "kind: estimater,", "; did you mean 'estimator'? (given: 'estimater')"),
        (
            '{"1": bad}',
            "{1: bad}",
            "line 11, friendships.0.means.1: expected text (in quotation marks it is one)",
        ),
        ("gold: b.csv", "gold: [b.csv]", "line 6, tasks.stars.gold: expected text (given: ['b.csv'])"),
        ("label: stars", "metric: makro_f1", "expected 'accuracy' or 'macro_f1'; did you mean 'macro_f1'?"),
    ],
)
def test_a_config_that_cannot_be_used_names_line_setting_and_expectation(old: str, new: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(CONFIG.replace(old, new, 1), "reviews.yaml")
    assert said in str(caught.value)
    assert "Input should" not in str(caught.value)


def test_an_override_has_no_line() -> None:
    with pytest.raises(ConfigError, match=r"\n  seed: expected a whole number \(given: 'abc'\)$"):
        parse_config(CONFIG, "reviews.yaml", ["seed=abc"])
    with pytest.raises(ConfigError, match="there is no setting 'sed'; did you mean 'seed'"):
        parse_config(CONFIG, "reviews.yaml", ["sed=1"])


class Line(BaseModel):
    id: str
    share: Annotated[float, Field(le=1)] = 0.5
    kind: Literal["a", "b"] = "a"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("{}", "is missing"),
        ('{"id": []}', "expected text"),
        ('{"id": 3}', "expected text (in quotation marks it is one)"),
        ('{"id": "x", "share": 2}', "expected at most 1.0"),
        ('{"id": "x", "kind": "c"}', "expected 'a' or 'b'"),
        ("{", "broken JSON (EOF while parsing an object at line 1 column 1)"),
    ],
)
def test_what_was_expected(given: str, said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Line.model_validate_json(given)
    assert expected(caught.value.errors()[0]) == said


def test_what_was_probably_meant() -> None:
    assert did_you_mean("lable", ["label", "text"]) == "; did you mean 'label'?"
    assert did_you_mean("zebra", ["label", "text"]) == ""
