"""What stands behind the page: which run is opened, its texts, the friend's translation, marks and edits, trees."""

import json

import pytest

from friend_training.core.task import Prediction
from friend_training.errors import DataError, RunError
from friend_training.friendships.csrl_rewriting import RoleMatcher, csrl_rewriting
from friend_training.report.label_text import edits, marks
from friend_training.runs.inputs import INPUTS, save_inputs
from friend_training.runs.run import Run
from friend_training.study import resources
from friend_training.types import (
    Argument,
    Dialogue,
    Insertion,
    Predicate,
    Rewrite,
    Roles,
    SentenceArgument,
    SentenceRoles,
    Turn,
)
from friend_training.web.inspector import unit_view
from friend_training.web.inspector.corrections import Said, correction_of
from friend_training.web.inspector.run_view import open_inspected
from friend_training.web.inspector.unit_view import Texts, friends_of, kind_of
from helpers.small_run import DIALOGUES, small_study
from helpers.tiny_config import tiny_config


def test_a_study_its_method_and_a_run_by_itself_can_be_opened(study):
    whole = open_inspected(study)
    assert (whole.name, whole.method, whole.run.folder) == ("small", "fdt", study / "methods" / "fdt")
    inside = open_inspected(study / "methods" / "fdt")
    assert (inside.study.resolve(), inside.method) == (study.resolve(), "fdt")


@pytest.mark.parametrize(
    ("method", "message"), [("sst", "'sst' has no pseudo-labels, only fdt"), ("../fdt", "no pseudo")]
)
def test_a_method_that_is_not_there(study, method, message):
    with pytest.raises(RunError, match=message):
        open_inspected(study, method)


def test_a_run_without_pseudo_labels_or_no_run_at_all(tmp_path):
    Run.create(tmp_path / "empty", "name: x\n", {})
    with pytest.raises(RunError, match="no pseudo-labels have been selected"):
        open_inspected(tmp_path / "empty")
    with pytest.raises(RunError, match="not a run folder"):
        open_inspected(tmp_path)


def test_texts_that_were_not_kept_are_made_meanwhile(tmp_path):
    def make():
        save_inputs(tmp_path, DIALOGUES)

    texts = Texts(tmp_path, make)
    texts.wait()
    assert texts.state == "ready"
    assert texts.get("d1")["turns"][1]["text"] == "我很喜欢"
    assert texts.containing("海边").to_pylist() == ["d2"]
    assert texts.get("nobody") is None


def test_texts_that_cannot_be_had_say_why(tmp_path):
    def fail():
        raise DataError("the data folder is gone")

    texts = Texts(tmp_path, fail)
    texts.wait()
    assert "the data folder is gone" in texts.state
    assert texts.get("d1") is None
    assert INPUTS in Texts(tmp_path).state


DIALOGUE = Dialogue("d", (Turn("A", "你喜欢红茶吗"), Turn("B", "我很喜欢它")), (Predicate(2, 4),))
REWRITE = Rewrite("我很喜欢红茶", (4,), (Insertion(4, 0, 3, 5),))
ROLES = Roles(Predicate(2, 4), (Argument("ARG0", 1, 0, 1), Argument("ARG1", 0, 3, 5)))


def test_marks_and_edits():
    assert [(m.turn, m.start, m.end, m.what) for m in marks(DIALOGUE, ROLES)] == [
        (1, 0, 1, "ARG0"),
        (0, 3, 5, "ARG1"),
        (1, 2, 4, "predicate"),
    ]
    assert [(m.turn, m.start, m.end, m.what) for m in marks(DIALOGUE, REWRITE)] == [(0, 3, 5, "source")]
    pieces = edits(DIALOGUE, REWRITE)
    assert [(p.kind, p.text, p.turn) for p in pieces] == [
        ("kept", "我很喜欢", None),
        ("inserted", "红茶", 0),
        ("deleted", "它", None),
    ]
    assert "".join(piece.text for piece in pieces if piece.kind != "deleted") == REWRITE.text
    at_the_end = edits(DIALOGUE, Rewrite("我很喜欢它红茶", (), (Insertion(5, 0, 3, 5),)))
    assert [piece.kind for piece in at_the_end] == ["kept", "inserted"]


class _Bridge:
    """Reads the first character as ARG0 and the last as ARG1."""

    name = "fake"

    def label(self, sentences):
        return [
            tuple(
                SentenceRoles(
                    p, (SentenceArgument("ARG0", 0, 1), SentenceArgument("ARG1", len(s.text) - 1, len(s.text)))
                )
                for p in s.predicates
            )
            for s in sentences
        ]


@pytest.fixture
def translator(monkeypatch, tmp_path):
    config = tiny_config("friendship.mean=arithmetic")
    monkeypatch.setattr(unit_view, "run_config", lambda folder: config)
    monkeypatch.setattr(resources, "open_bridge", lambda folder, config: _Bridge())
    return unit_view.Translator(tmp_path)


def test_the_score_taken_apart_is_the_friendships_own(translator):
    compared = translator.compare(DIALOGUE, [ROLES], REWRITE)
    friendship = csrl_rewriting(_Bridge(), RoleMatcher(mean="arithmetic"))
    predictions = ([[Prediction("u", ROLES, 1.0)]], [[Prediction("d", REWRITE, 1.0)]])
    [match] = friendship.match([DIALOGUE], *predictions)
    [one] = compared.predicates
    assert (one.match, compared.match) == (match.first[0], match.second[0])
    assert (one.distance, one.longest) == (1, 3)
    assert [(r.role, r.roles_say, r.rewrite_says, r.match == 1) for r in one.roles] == [
        ("ARG0", "我", "我", True),
        ("ARG1", "红茶", "茶", False),
    ]
    assert [(m.start, m.end, m.what) for m in one.read] == [(0, 1, "ARG0"), (5, 6, "ARG1"), (2, 4, "predicate")]


def test_a_predicate_that_the_rewrite_deletes(translator):
    compared = translator.compare(DIALOGUE, [ROLES], Rewrite("我很它", (2, 3)))
    [one] = compared.predicates
    assert (one.deleted, one.read, one.match) == (True, [], 0.0)


def test_without_a_bridge_it_says_why(tmp_path):
    translator = unit_view.Translator(tmp_path)
    assert translator.compare(DIALOGUE, [ROLES], REWRITE) is None
    assert "not a run folder" in translator.problem


@pytest.mark.parametrize(
    ("task", "tasks", "pair"),
    [
        ("csrl", {"csrl", "rewriting"}, ("csrl", "rewriting")),
        ("csrl", {"csrl", "rewriting", "csrl.strong", "rewriting.strong"}, ("csrl", "rewriting.strong")),
        ("rewriting", {"csrl", "rewriting", "csrl.strong", "rewriting.strong"}, ("csrl.strong", "rewriting")),
        ("csrl.strong", {"csrl", "rewriting", "csrl.strong", "rewriting.strong"}, ("csrl.strong", "rewriting")),
        ("csrl.second", {"csrl", "rewriting", "csrl.second"}, ("csrl.second", "rewriting")),
    ],
)
def test_who_is_whose_friend(task, tasks, pair):
    assert friends_of(task, tasks) == pair


TREE = {
    "brackets": [{"start": 0, "end": 3, "label": "S"}, {"start": 1, "end": 3, "label": "VP"}],
    "tags": ["N", "V", "N"],
}
HEADS = {"heads": [2, 0, 2], "relations": ["nsubj", "root", "obj"]}


@pytest.mark.parametrize("more", [{}, {"unsure": []}])
def test_roles_are_known_with_and_without_what_is_unsure(more):
    assert kind_of({"predicate": {"start": 0, "end": 1}, "arguments": []} | more) == "roles"


def test_labels_are_known_by_their_keys():
    assert [kind_of(label) for label in (TREE, HEADS, {"heads": [0]}, {"tags": ["N"]}, "good", {"x": 1})] == [
        "tree",
        "heads",
        "heads",
        "tags",
        "other",
        "other",
    ]


def _corrected(before, label):
    said = Said(task="t", iteration=1, unit="u", verdict="corrected", label=label)
    return correction_of(said, before, None, span_source="dialogue").label


def test_trees_heads_and_labels_of_other_tasks_are_corrected_as_json():
    flat = {**TREE, "brackets": TREE["brackets"][:1]}
    assert _corrected(TREE, flat) == flat
    assert _corrected(HEADS, {"heads": [2, 3, 0]}) == {"heads": [2, 3, 0], "relations": None}
    assert _corrected({"tags": ["N"]}, {"tags": ["V"]}) == {"tags": ["V"]}
    assert _corrected("good", "bad") == "bad"


@pytest.mark.parametrize(
    ("before", "label", "message"),
    [
        (TREE, {**TREE, "tags": ["N"]}, "1 for 3 words"),
        (TREE, {**TREE, "brackets": [{"start": 0, "end": 9, "label": "S"}]}, "words \\[start, end\\) of 3"),
        (TREE, {**TREE, "brackets": [{"start": a, "end": b, "label": "X"} for a, b in [(0, 2), (1, 3)]]}, "crosses"),
        (HEADS, {"heads": [2, 0]}, "for 3 words"),
        (HEADS, {"heads": [1, 0, 2]}, "another word"),
        (HEADS, {"heads": [2, 0, 4]}, "1 to 3"),
        ("good", {"label": "bad"}, "the form that it has"),
        ({"x": 1}, {"y": 1}, "the form that it has"),
        (json.loads('{"predicate": {"start": 0, "end": 1}, "arguments": []}'), [], "is not known"),
    ],
)
def test_labels_that_cannot_be(before, label, message):
    with pytest.raises(DataError, match=message):
        _corrected(before, label)


def test_two_inspectors_see_each_others_corrections(tmp_path):
    from friend_training.runs.corrections import Correction, save_correction
    from friend_training.web.inspector.run_view import look_at

    study = small_study(tmp_path / "study")
    look = look_at(study)
    units = look.reader.of("csrl", 1)
    assert look.places(units) == {}
    save_correction(study / "methods" / "fdt", Correction("csrl", "d3|2-4", "rejected"))
    assert list(look.places(units)) == [3]
