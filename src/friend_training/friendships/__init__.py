"""Friendships, one file per pair of tasks: the only room that knows two tasks at once.

csrl_rewriting    the paper's case study (section 4.2)
coreference_rewriting    coreference and rewriting by words: an edit that replaces a mention is a link
joint_labels      CSRL labels that CSRL, the bridge and the rewrite make together
bridge_quality    how good a bridge is against gold; it alone, its labels, a bridge that never errs: controls
parsing           constituency with dependency (appendix), by head rules; constituency with tagging
polarity          polarity with emotions, or any two label sets that tell positive, neutral or negative
labels            any two label sets: by a table, two functions, or a table that is learned
candidates        which tasks would make good friends, by predictions that people already have
tags              two taggers of the same words, word by word or span by span

Two pairs are imported from their files (`friendships.csrl_rewriting`, `friendships.coreference_rewriting`), because
both have the same name.
"""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = [
    "CPED",
    "MELD",
    "POLARITIES",
    "Candidate",
    "CheckedRoles",
    "LabelledByBridge",
    "MergedRoles",
    "RoleMatcher",
    "TranslateRewrite",
    "WithoutPronouns",
    "bridge_failures",
    "bridge_roles",
    "constituency_dependency",
    "constituency_tagging",
    "gold_sigma",
    "label_friendship",
    "labels_without_meaning",
    "learned_means",
    "polarity_friends",
    "rank_friends",
    "rewriting_friendship",
    "score_bridge",
    "span_friendship",
    "tag_friendship",
    "translate_roles",
    "with_gold_bridge",
]

if TYPE_CHECKING:
    from friend_training.friendships.bridge_quality import (
        LabelledByBridge,
        bridge_failures,
        bridge_roles,
        gold_sigma,
        score_bridge,
        with_gold_bridge,
    )
    from friend_training.friendships.candidates import Candidate, rank_friends
    from friend_training.friendships.csrl_rewriting import (
        RoleMatcher,
        TranslateRewrite,
        rewriting_friendship,
        translate_roles,
    )
    from friend_training.friendships.joint_labels import CheckedRoles, MergedRoles, WithoutPronouns
    from friend_training.friendships.labels import label_friendship, labels_without_meaning, learned_means
    from friend_training.friendships.parsing import constituency_dependency, constituency_tagging
    from friend_training.friendships.polarity import CPED, MELD, POLARITIES, polarity_friends
    from friend_training.friendships.tags import span_friendship, tag_friendship
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "bridge_quality": (
                "LabelledByBridge",
                "bridge_failures",
                "bridge_roles",
                "gold_sigma",
                "score_bridge",
                "with_gold_bridge",
            ),
            "candidates": (
                "Candidate",
                "rank_friends",
            ),
            "csrl_rewriting": (
                "RoleMatcher",
                "TranslateRewrite",
                "rewriting_friendship",
                "translate_roles",
            ),
            "joint_labels": (
                "CheckedRoles",
                "MergedRoles",
                "WithoutPronouns",
            ),
            "labels": (
                "label_friendship",
                "labels_without_meaning",
                "learned_means",
            ),
            "parsing": (
                "constituency_dependency",
                "constituency_tagging",
            ),
            "polarity": (
                "CPED",
                "MELD",
                "POLARITIES",
                "polarity_friends",
            ),
            "tags": (
                "span_friendship",
                "tag_friendship",
            ),
        },
    )
