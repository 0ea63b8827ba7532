"""What is special to CSRL and rewriting in a study: the bridge, labels made with it, scores without training."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from friend_training.bridges.bridge import Bridge
from friend_training.core.friendship import Friendship, Joint
from friend_training.core.task import Evaluation
from friend_training.errors import ConfigError
from friend_training.friendships.bridge_quality import LabelledByBridge, score_bridge, with_gold_bridge
from friend_training.friendships.csrl_rewriting import RoleMatcher, TranslateRewrite, csrl_rewriting
from friend_training.friendships.joint_labels import (
    Check,
    CheckedRoles,
    ConfirmedEdits,
    DisputedRoles,
    MergedRoles,
    PerfectFriend,
    ProposedInsertions,
    ProposedRoles,
    WithoutPronouns,
    nothing_rewritten,
)
from friend_training.loop.algorithm import TaskPlan
from friend_training.runs.progress import Relay
from friend_training.runs.run import Run
from friend_training.study.config import CaseStudyConfig
from friend_training.study.data import all_case_study_gold
from friend_training.study.friends import StudyFriendship, Variant
from friend_training.study.resources import make_resources
from friend_training.study.run_data import HiddenGold, RunData
from friend_training.study.sections import SelectionConfig
from friend_training.tasks.rewriting.metrics import RewritingScore
from friend_training.tasks.rewriting.task import score_rewrites

TASKS = ("csrl", "rewriting")
"""The names of the pair, in the order of tables."""

CHECKS: dict[str, Check] = {
    "checked": "friend",
    "answers": "answers",
    "checked-by-foreign": "foreign",
    "unchecked": "none",
}
"""Who must confirm an argument for it to be learnt."""


@dataclass(frozen=True, slots=True)
class PaperPair:
    """What only the paper's pair has; `start` is the checkpoint that an informed Base of CSRL goes on from."""

    config: CaseStudyConfig
    data: RunData
    data_dir: Path | None
    encoder: str
    bridge: Bridge
    start: Path | None

    @property
    def friendship(self) -> StudyFriendship:
        return paper_friendship(self.config, self.bridge, self.data)

    def labelled_by_bridge(self, plans: Mapping[str, TaskPlan]) -> dict[str, TaskPlan]:
        """CSRL alone, whose pseudo-labels are the bridge's."""
        plan = plans["csrl"]
        return {"csrl": replace(plan, task=LabelledByBridge(plan.task, naming_bridge(self.config, self.bridge)))}

    read_twice = "rewriting"
    """The task that a second model reads, by methods that have one."""

    def scores_without_training(self, method: str) -> dict[str, float]:
        """Methods that train nothing: the bridge as a CSRL parser, or u_t as its own rewrite, scored on test."""
        if method == "bridge-alone":
            gold = self.data.tasks["csrl"].test
            scores = score_bridge(naming_bridge(self.config, self.bridge), gold).as_dict()
            return {f"csrl.{name}": value for name, value in scores.items()}
        gold = self.data.tasks["rewriting"].test
        evaluated = Evaluation.of(score_rewrites([e.dialogue.utterance.text for e in gold], gold), RewritingScore())
        return {f"rewriting.{name}": value for name, value in evaluated.items()}

    def all_gold(self) -> Mapping[str, Sequence[Any]]:
        """The whole training sets that gold is drawn from."""
        return all_case_study_gold(self.config, self.data_dir)


def paper_pair(
    config: CaseStudyConfig, data: RunData, run: Run, resources: Path | None, data_dir: Path | None, listener: Relay
) -> PaperPair:
    made = make_resources(config, data, run, resources, listener)
    return PaperPair(config, data, data_dir, made.encoder, made.bridge, made.start)


def paper_friendship(config: CaseStudyConfig, bridge: Bridge, data: RunData | None = None) -> StudyFriendship:
    """The paper's friendship, and the labels and friends that only it can offer."""

    def merged(friendship: Friendship) -> Friendship:
        return replace(friendship, merge_first=MergedRoles(bridge))

    def checked(check: Check) -> Variant:
        settle = CheckedRoles(bridge, check, config.pronouns)
        return lambda friendship: replace(friendship, joint_first=Joint(0.0, best=1, settle=settle, every=True))

    def gold_bridge(friendship: Friendship) -> Friendship:
        return with_gold_bridge(friendship, None if data is None or data.bridge is None else data.bridge.gold_sigma)

    def joint(labels: str) -> Variant:
        naming = naming_bridge(config, bridge)
        return lambda friendship: replace(
            friendship, translate_second=TranslateRewrite(naming), joint_first=joint_roles(config, labels, naming)
        )

    def edits(labels: str) -> Variant:
        return lambda friendship: replace(friendship, joint_second=joint_rewrites(config, labels))

    def joint_edits(friendship: Friendship) -> Friendship:
        return edits("joint-edits")(joint("joint-edits")(friendship))

    def perfect_friends(friendship: Friendship) -> Friendship:
        found = joint_edits(friendship)
        gold = data.audit.labels if data is not None and isinstance(data.audit, HiddenGold) else None
        if gold is None or found.joint_first is None or found.joint_second is None:
            raise ConfigError(
                "edits-perfect gives each task a friend that never errs by the hidden gold of the pool, and this pool"
                " has none: it takes the synthetic dialogues, or public data with pool_of: labelled"
            )
        return replace(
            found,
            joint_first=replace(found.joint_first, friend=PerfectFriend(gold["rewriting"])),
            joint_second=replace(found.joint_second, friend=PerfectFriend(gold["csrl"])),
        )

    def deciding(task: str, selection: SelectionConfig) -> Joint | None:
        naming, of_roles = naming_bridge(config, bridge), task == "csrl"
        if selection.labels == "joint":
            made = joint_roles(config, "joint", naming) if of_roles else joint_rewrites(config, "joint-edits")
            parts = selection.choose == "parts"
            return replace(made, every=False) if parts else replace(made, every=False, settle=None, confidence="joint")
        if selection.choose == "whole":
            return None
        if of_roles:
            return Joint(0.0, best=1, settle=CheckedRoles(bridge, "friend", config.pronouns))
        return Joint(0.0, best=config.joint.best, settle=ConfirmedEdits(config.joint.sure))

    variants: dict[str, Variant] = {"merged": merged, "gold-bridge": gold_bridge, "edits-alone": edits("edits-alone")}
    variants |= {name: checked(check) for name, check in CHECKS.items()}
    variants |= {name: joint(name) for name in ("joint", "joint-with-foreign", "joint-with-bridge")}
    variants |= {"joint-edits": joint_edits, "joint-edits-with-gold": perfect_friends}
    return StudyFriendship(csrl_rewriting(bridge, RoleMatcher(**config.friendship.model_dump())), variants, deciding)


def joint_roles(config: CaseStudyConfig, labels: str, bridge: Bridge) -> Joint:
    """How CSRL decides on its labels together with the rewriter, or with what a control puts in its place."""
    chosen = config.joint
    return Joint(
        chosen.match_weight,
        chosen.temperature,
        chosen.best,
        propose=ProposedRoles(bridge),
        settle=DisputedRoles(bridge),
        every=True,
        friend=nothing_rewritten if labels == "joint-with-bridge" else None,
        foreign=config.seed if labels == "joint-with-foreign" else None,
    )


def joint_rewrites(config: CaseStudyConfig, labels: str) -> Joint:
    """How the rewriter decides on its edits together with CSRL, or by itself."""
    chosen = config.joint
    if labels == "edits-alone":
        return Joint(
            0.0, chosen.temperature, chosen.best, settle=ConfirmedEdits(chosen.sure, confirmed=False), every=True
        )
    return Joint(
        chosen.edits_match_weight,
        chosen.temperature,
        chosen.best,
        proposals=4,
        propose=ProposedInsertions(),
        settle=ConfirmedEdits(chosen.sure),
        every=True,
    )


def naming_bridge(config: CaseStudyConfig, bridge: Bridge) -> Bridge:
    """The bridge where it answers in CSRL's place."""
    return WithoutPronouns(bridge) if config.pronouns == "resolved" else bridge
