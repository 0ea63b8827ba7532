"""The friendships of a run, by kind, and what a method makes of them: another friend, or labels of another making."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from friend_training.core.friendship import Candidates, Friendship, Joint, Match, Predictions, Propose
from friend_training.core.task import Prediction
from friend_training.data.splits import normalise
from friend_training.errors import ConfigError
from friend_training.friendships.coreference_rewriting import coreference_rewriting, random_links, with_links
from friend_training.friendships.labels import label_friendship, learned_means
from friend_training.friendships.parsing import constituency_dependency, constituency_tagging
from friend_training.friendships.rewriting_slots import rewriting_slots
from friend_training.friendships.tags import span_friendship, tag_friendship
from friend_training.loop.labelling import Audit
from friend_training.methods.controls import oracle, shuffled
from friend_training.methods.registry import MethodSpec
from friend_training.runs.run import Run
from friend_training.runs.steps import Prepare
from friend_training.study.config import FriendsConfig, OwnJointConfig
from friend_training.study.kinds import is_trained
from friend_training.study.run_data import HiddenGold, RunData, gold_units, input_of
from friend_training.study.sections import (
    Config,
    CoreferenceFriendshipConfig,
    GivenFriendshipConfig,
    LabelsFriendshipConfig,
    PairConfig,
    ParsersFriendshipConfig,
    SelectionConfig,
    SlotsFriendshipConfig,
    TagsFriendshipConfig,
    TreeTagsFriendshipConfig,
)
from friend_training.types import CoreferenceExample, Dialogue, Link, text_of

Variant = Callable[[Friendship], Friendship]

Deciding = Callable[[str, SelectionConfig], Joint | None]
"""How the labels of a task are decided by what its selection says; None: they are its own, as wholes."""


@dataclass(frozen=True, slots=True)
class StudyFriendship:
    """A friendship as its kind made it.

    `variants` has what else this kind can do, by the name that a method asks for it: labels of another making
    (`MethodSpec.labels`), or another friend (`MethodSpec.friend`). `deciding` makes labels as the selection of a task
    asks for them, where the method does not.
    """

    friendship: Friendship
    variants: Mapping[str, Variant] = field(default_factory=dict)
    deciding: Deciding = lambda task, selection: None


def friendships_of(
    friendships: Sequence[StudyFriendship], spec: MethodSpec, config: Config, audit: Audit | None
) -> list[Friendship]:
    """The friendships of a run with the friend and the labels that a method or, if it names none, a task asks for."""
    made = [found for one in friendships for found in _of_method(one, spec, config, audit)]
    in_parts = _tasks_whose(made, lambda joint: joint.settle is not None)
    for name, section in config.sections.items():
        if spec.labels == "own" and section.selection.choose == "parts" and name not in in_parts:
            raise ConfigError(
                f"tasks.{name}.selection.choose is parts, but no friendship of {name} says what parts of a label it"
                " confirms; tags, spans, the paper's pair and parsers do"
            )
    return made


def taken_whole(friendships: Sequence[Friendship]) -> frozenset[str]:
    """The tasks all of whose labels are learnt that have a part left, whatever their scores."""
    return _tasks_whose(friendships, lambda joint: joint.every)


def _tasks_whose(friendships: Sequence[Friendship], holds: Callable[[Joint], bool]) -> frozenset[str]:
    sides = ((name, one.joint(name)) for one in friendships for name in (one.first, one.second))
    return frozenset(name for name, joint in sides if joint is not None and holds(joint))


def _of_method(one: StudyFriendship, spec: MethodSpec, config: Config, audit: Audit | None) -> list[Friendship]:
    friendship = one.friendship
    if spec.labels == "friend":
        return friends_labels(friendship)
    if spec.labels != "own":
        friendship = _variant(one, spec, spec.labels)(friendship)
    else:
        for name in (friendship.first, friendship.second):
            if is_trained(config, name):
                joint = one.deciding(name, config.sections[name].selection)
                friendship = friendship if joint is None else friendship.with_joint(name, joint)
    match spec.friend:
        case "partner":
            return [friendship]
        case "shuffled":
            return [_controlled(shuffled(friendship, seed=config.seed), friendship, foreign=config.seed)]
        case "oracle":
            return [_controlled(oracle(friendship, audit), friendship)]
    return [_variant(one, spec, spec.friend)(friendship)]


def _controlled(control: Friendship, friendship: Friendship, *, foreign: int | None = None) -> Friendship:
    """A control of how labels are matched, whose labels are decided on by the friendship itself, with a `foreign`
    friend or its own."""
    for name in (friendship.first, friendship.second):
        joint = friendship.joint(name)
        if joint is not None and (joint.ranks or foreign is None):
            control = control.with_joint(name, replace(joint, through=friendship, foreign=foreign))
        elif joint is not None:
            raise ConfigError(
                f"friendship {friendship.name}: no friend can be shuffled where parts of labels are chosen"
            )
    return control


def decided_with(friendship: Friendship, joint: OwnJointConfig) -> Deciding:
    """How any friendship makes labels: from both sides' likeliest ones and what the friend proposes."""

    def deciding(task: str, selection: SelectionConfig) -> Joint | None:
        first = task == friendship.first
        settle = (friendship.parts_first if first else friendship.parts_second) if selection.choose == "parts" else None
        if selection.labels == "own":
            return None if settle is None else Joint(0.0, best=1, settle=settle)
        propose = friendship.propose_first if first else friendship.propose_second
        return Joint(
            joint.match_weight,
            joint.temperature,
            joint.best,
            joint.friend_best,
            propose=None if propose is None else ProposedLabels(propose),
            settle=settle,
            confidence="own" if settle is not None else "joint",
        )

    return deciding


@dataclass(frozen=True, slots=True)
class ProposedLabels:
    """What a friendship can say of the friend's answer as a label of one's own, as one more candidate."""

    propose: Propose

    def __call__(self, inputs: Sequence[Any], likeliest: Candidates, friends: Predictions) -> Candidates:
        own = [[unit[0] for unit in units] for units in likeliest]
        return [[[] if found is None else [found] for found in units] for units in self.propose(inputs, own, friends)]


def general_variants(friendship: Friendship, config: FriendsConfig) -> dict[str, Variant]:
    """What any friendship can do: labels decided on together, also with a foreign friend; labels in parts."""
    deciding = decided_with(friendship, config.joint)
    trained = [name for name in (friendship.first, friendship.second) if is_trained(config, name)]

    def made(labels: Literal["own", "joint"], *, foreign: int | None = None) -> Friendship:
        found = friendship
        for name in trained:
            parts = friendship.parts_first if name == friendship.first else friendship.parts_second
            joint = deciding(name, SelectionConfig(labels=labels, choose="whole" if parts is None else "parts"))
            found = found if joint is None else found.with_joint(name, replace(joint, foreign=foreign))
        return found if foreign is None else _controlled(shuffled(found, seed=foreign), found, foreign=foreign)

    variants: dict[str, Variant] = {
        "joint": lambda _: made("joint"),
        "joint-with-foreign": lambda _: made("joint", foreign=config.seed),
    }
    if friendship.parts_first is not None or friendship.parts_second is not None:
        variants["parts"] = lambda _: made("own")
    return variants


def _variant(one: StudyFriendship, spec: MethodSpec, name: str) -> Variant:
    if name not in one.variants:
        known = ", ".join(one.variants) or "nothing of the kind"
        raise ConfigError(f"{spec.title}: friendship {one.friendship.name} cannot do {name!r}; it can do {known}")
    return one.variants[name]


def friends_labels(friendship: Friendship) -> list[Friendship]:
    """Each task is trained on what its friend's prediction says as a label of its own, where that can be said.

    Nothing is compared: this is what the friend alone would teach. The confidence is the friend's. There are none where
    neither task's prediction can be said as a label of the other.
    """
    found = []
    first, second = friendship.first, friendship.second
    for own, friend, propose in (
        (first, second, friendship.propose_first),
        (second, first, friendship.propose_second),
    ):
        if propose is not None:
            found.append(
                Friendship(
                    name=f"{friendship.name}, labels of {friend}",
                    first=own,
                    second=friend,
                    translate_first=_counted,
                    translate_second=_counted,
                    matcher=_nothing_to_match,
                    merge_first=_Proposed(propose),
                )
            )
    return found


@dataclass(frozen=True, slots=True)
class _Proposed:
    """A merge: the friend's proposal in place of every label; where there is none, a label that nobody can choose."""

    propose: Propose

    def __call__(
        self, inputs: Sequence[Any], own: Sequence[Sequence[Prediction]], friends: Sequence[Sequence[Prediction]], /
    ) -> list[list[Prediction]]:
        proposals = self.propose(inputs, own, friends)
        return [
            [
                replace(unit, confidence=0.0, content=False) if found is None else replace(found, content=True)
                for unit, found in zip(units, said, strict=True)
            ]
            for units, said in zip(own, proposals, strict=True)
        ]


def _counted(inputs: Sequence[Any], predictions: Sequence[Sequence[Prediction]], /) -> list[int]:
    return [len(units) for units in predictions]


def _nothing_to_match(first: Sequence[int], second: Sequence[int], /) -> list[Match]:
    return [Match((None,) * a, (None,) * b) for a, b in zip(first, second, strict=True)]


# Friendships that a config names.


FEWEST_WITH_BOTH = 50
"""Texts that gold of both tasks labels, from which on meanings are learned from them and not from predictions."""


Table = Mapping[str, Any]

Learn = Callable[[LabelsFriendshipConfig], Table]
"""The table of a friendship whose meanings are learned."""


def own_friendships(
    config: FriendsConfig, given: Mapping[str, Friendship], learn: Learn, audit: Audit | None = None
) -> list[StudyFriendship]:
    """Those of a config; `given` are Python objects by name, `audit` knows hidden gold for ceilings."""
    hidden = audit if isinstance(audit, HiddenGold) else HiddenGold({})
    made = [_made(section, given, learn, hidden, config.seed) for section in config.friendships]
    return [_with_general(one, config) for one in made]


def _with_general(one: StudyFriendship, config: FriendsConfig) -> StudyFriendship:
    variants = {**general_variants(one.friendship, config), **one.variants}
    return replace(one, variants=variants, deciding=decided_with(one.friendship, config.joint))


def name_of(section: PairConfig) -> str:
    return section.name or f"{section.first}-{section.second}"


def _made(
    section: Any, given: Mapping[str, Friendship], learn: Learn, hidden: HiddenGold, seed: int
) -> StudyFriendship:
    name = name_of(section)
    match section:
        case GivenFriendshipConfig():
            if name not in given:
                raise ConfigError(
                    f"friendship {name!r} is a Python object: only the program that made this run, with FriendTrainer,"
                    " can open it"
                )
            return StudyFriendship(given[name])
        case LabelsFriendshipConfig():
            means = learn(section) if section.means == "learned" else section.means
            made = label_friendship(section.first, section.second, means, otherwise=section.otherwise, name=name)
            return StudyFriendship(made)
        case TagsFriendshipConfig():
            make = tag_friendship if section.kind == "tags" else span_friendship
            return StudyFriendship(make(section.first, section.second, section.means, name=name))
        case CoreferenceFriendshipConfig():
            return _coreference_rewriting(section, name, hidden, seed)
        case SlotsFriendshipConfig():
            return StudyFriendship(rewriting_slots(section.values, section.first, section.second, name=name))
        case ParsersFriendshipConfig():
            parsers = partial(constituency_dependency, section.scoring, first=section.first, second=section.second)
            return StudyFriendship(
                parsers(choose=section.choose, name=name), {"parts": lambda _: parsers(choose="parts", name=name)}
            )
        case TreeTagsFriendshipConfig():
            tagged = partial(constituency_tagging, first=section.first, second=section.second)
            return StudyFriendship(
                tagged(choose=section.choose, name=name), {"parts": lambda _: tagged(choose="parts", name=name)}
            )
    raise ConfigError(f"friendship {name!r}: kind {section.kind} is not known")


def _coreference_rewriting(
    section: CoreferenceFriendshipConfig, name: str, hidden: HiddenGold, seed: int
) -> StudyFriendship:
    pair = (section.first, section.second)
    own = replace(coreference_rewriting(*pair), name=name)
    merged = replace(coreference_rewriting(*pair, merged=True), name=name)
    joint = replace(coreference_rewriting(*pair, joint=section.match_weight), name=name)
    variants: dict[str, Variant] = {
        "merged": lambda _: merged,
        "joint": lambda _: joint,
        "merged-with-foreign": lambda _: with_links(merged, partial(random_links, seed=seed)),
    }
    if section.second in hidden.entities:
        gold = partial(_hidden_links, hidden.entities[section.second])
        variants["perfect"] = lambda friendship: with_links(friendship, gold)
    return StudyFriendship(own, variants)


def _hidden_links(entities: Mapping[str, CoreferenceExample], given: Dialogue) -> Sequence[Link]:
    return [link for _, link in gold_units(entities[given.id])] if given.id in entities else ()


def means_step(section: PairConfig) -> Prepare:
    """The step whose result is the table of a friendship that is learned."""
    return Prepare(f"means-{name_of(section)}")


def saved_friendships(run: Run, config: FriendsConfig, given: Mapping[str, Friendship]) -> list[Friendship]:
    """Those of a run that is there; what was learned is read from its folder."""

    def learned(section: LabelsFriendshipConfig) -> Table:
        return dict(run.require(means_step(section))["means"])

    return [one.friendship for one in own_friendships(config, given, learned)]


def learn_table(run: Run, section: PairConfig, data: RunData, predict: Callable[[str], Sequence[Any]]) -> Table:
    """What labels of the first task mean to the second: by texts that gold labels for both, else by what both Bases
    predict for the pool (`predict`). It is learned once, and its table is in the run's folder."""

    def learn() -> dict[str, Any]:
        first, second = (
            {normalise(text_of(input_of(one))): gold_units(one)[0][1] for one in data.tasks[name].gold}
            for name in (section.first, section.second)
        )
        both = sorted(first.keys() & second.keys())
        if len(both) >= FEWEST_WITH_BOTH:
            found = learned_means([first[text] for text in both], [second[text] for text in both])
        else:
            found = learned_means(predict(section.first), predict(section.second))
        told = {"agreement": found.agreement, "chance": found.chance, "pairs": found.pairs}
        return told | {"means": found.table, "from": "gold" if len(both) >= FEWEST_WITH_BOTH else "predictions"}

    return dict(run.do(means_step(section), learn)["means"])
