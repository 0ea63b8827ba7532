"""Bridges: fixed sentence SRL parsers, which carry a rewrite over to the label space of CSRL (section 4.2).

bridge        what a bridge is; any parser as a bridge; answers remembered
ltp           LTP tiny, read by our own code
ltp_package   LTP through its own package
hanlp         HanLP
predicates    finders of predicates in unlabeled text
"""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = [
    "Bridge",
    "CachedBridge",
    "FramedVerbFinder",
    "FramedWordFinder",
    "HanlpParser",
    "LexiconFinder",
    "LtpPackageParser",
    "LtpParser",
    "NoBridge",
    "ParserBridge",
    "PredicateFinder",
    "VerbFinder",
]

if TYPE_CHECKING:
    from friend_training.bridges.bridge import Bridge, CachedBridge, NoBridge, ParserBridge
    from friend_training.bridges.hanlp import HanlpParser
    from friend_training.bridges.ltp import LtpParser
    from friend_training.bridges.ltp_package import LtpPackageParser
    from friend_training.bridges.predicates import (
        FramedVerbFinder,
        FramedWordFinder,
        LexiconFinder,
        PredicateFinder,
        VerbFinder,
    )
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "bridge": ("Bridge", "CachedBridge", "NoBridge", "ParserBridge"),
            "hanlp": ("HanlpParser",),
            "ltp": ("LtpParser",),
            "ltp_package": ("LtpPackageParser",),
            "predicates": ("FramedVerbFinder", "FramedWordFinder", "LexiconFinder", "PredicateFinder", "VerbFinder"),
        },
    )
