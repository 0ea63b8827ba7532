"""What is special to CSRL and rewriting in a study: whose labels, which friend, and what is scored without training."""

from dataclasses import replace

from friend_training.bridges.bridge import Bridge
from friend_training.core.counts import Evaluation
from friend_training.core.friendship import Friendship
from friend_training.friendships.bridge_controls import LabelledByBridge, score_bridge, with_gold_bridge
from friend_training.friendships.joint_labels import Check, CheckedRoles, MergedRoles, WithoutPronouns
from friend_training.loop.plan import TaskPlan
from friend_training.methods.controls import oracle, shuffled
from friend_training.methods.registry import MethodSpec
from friend_training.study.config import Config
from friend_training.study.setup import Setup
from friend_training.tasks.rewriting.metrics import RewritingScore
from friend_training.tasks.rewriting.task import score_rewrites

CHECKS: dict[str, Check] = {
    "checked": "friend",
    "answers": "answers",
    "checked-by-foreign": "foreign",
    "unchecked": "none",
}
"""Who must confirm an argument for it to be learnt."""


def friendship_of(setup: Setup, spec: MethodSpec) -> Friendship:
    """The friendship with the friend and the labels that a method asks for."""
    friendship = setup.friendship
    if spec.labels == "merged":
        friendship = replace(friendship, merge_first=MergedRoles(setup.bridge))
    elif spec.labels in CHECKS:
        checked = CheckedRoles(setup.bridge, CHECKS[spec.labels], setup.config.pronouns)
        friendship = replace(friendship, merge_first=checked)
    match spec.friend:
        case "shuffled":
            return shuffled(friendship, seed=setup.settings.seed)
        case "oracle":
            return oracle(friendship, setup.data.audit)
        case "gold-bridge":
            return with_gold_bridge(friendship, setup.data.gold_sigma)
    return friendship


def labelled_by_bridge(setup: Setup, plan: TaskPlan) -> TaskPlan:
    """The plan of CSRL, whose pseudo-labels are the bridge's."""
    return replace(plan, task=LabelledByBridge(plan.task, naming_bridge(setup.config, setup.bridge)))


def naming_bridge(config: Config, bridge: Bridge) -> Bridge:
    """The bridge where it answers in CSRL's place."""
    return WithoutPronouns(bridge) if config.pronouns == "resolved" else bridge


def scores_without_training(setup: Setup, method: str) -> dict[str, float]:
    """Methods that train nothing: the bridge as a CSRL parser, or u_t as its own rewrite, scored on test."""
    if method == "bridge-alone":
        scores = score_bridge(naming_bridge(setup.config, setup.bridge), setup.data.csrl_test).as_dict()
        return {f"csrl.{name}": value for name, value in scores.items()}
    gold = setup.data.rewriting_test
    evaluated = Evaluation.of(score_rewrites([e.dialogue.utterance.text for e in gold], gold), RewritingScore())
    return {f"rewriting.{name}": value for name, value in evaluated.items()}
