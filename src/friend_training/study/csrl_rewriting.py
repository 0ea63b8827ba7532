"""What is special to CSRL and rewriting in a study: whose labels, which friend, and what is scored without training."""

from dataclasses import replace

from friend_training.bridges.bridge import Bridge
from friend_training.core.counts import Evaluation
from friend_training.core.friendship import Friendship, Joint
from friend_training.friendships.bridge_controls import LabelledByBridge, score_bridge, with_gold_bridge
from friend_training.friendships.csrl_rewriting import TranslateRewrite
from friend_training.friendships.joint_labels import (
    Check,
    CheckedRoles,
    ConfirmedEdits,
    DisputedRoles,
    MergedRoles,
    ProposedInsertions,
    ProposedRoles,
    WithoutPronouns,
    nothing_rewritten,
)
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
    elif spec.decided_together:
        bridge = naming_bridge(setup.config, setup.bridge)
        friendship = replace(
            friendship, translate_second=TranslateRewrite(bridge), joint_first=joint_roles(setup, spec, bridge)
        )
    if spec.edit_by_edit:
        friendship = replace(friendship, joint_second=joint_rewrites(setup, spec))
    match spec.friend:
        case "shuffled":
            return shuffled(friendship, seed=setup.settings.seed)
        case "oracle":
            return oracle(friendship, setup.data.audit)
        case "gold-bridge":
            return with_gold_bridge(friendship, setup.data.gold_sigma)
    return friendship


def joint_roles(setup: Setup, spec: MethodSpec, bridge: Bridge) -> Joint:
    """How CSRL decides on its labels together with the rewriter, or with what a control puts in its place."""
    chosen = setup.config.joint
    return Joint(
        chosen.match_weight,
        chosen.temperature,
        chosen.best,
        propose=ProposedRoles(bridge),
        settle=DisputedRoles(bridge),
        friend=nothing_rewritten if spec.labels == "joint-with-bridge" else None,
        foreign=setup.settings.seed if spec.labels == "joint-with-foreign" else None,
    )


def joint_rewrites(setup: Setup, spec: MethodSpec) -> Joint:
    """How the rewriter decides on its edits together with CSRL, or by itself."""
    chosen = setup.config.joint
    if spec.labels == "edits-alone":
        return Joint(0.0, chosen.temperature, chosen.best, settle=ConfirmedEdits(chosen.sure, confirmed=False))
    return Joint(
        chosen.edits_match_weight,
        chosen.temperature,
        chosen.best,
        proposals=4,
        propose=ProposedInsertions(),
        settle=ConfirmedEdits(chosen.sure),
    )


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
