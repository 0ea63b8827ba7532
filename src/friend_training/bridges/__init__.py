"""Bridges: fixed sentence SRL parsers, which carry a rewrite over to the label space of CSRL (section 4.2).

bridge   what a bridge is; any parser as a bridge; answers remembered; finders of predicates in unlabeled text
ltp      LTP tiny, read by our own code; larger models through its own package
hanlp    HanLP
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
    from friend_training.bridges.bridge import (
        Bridge,
        CachedBridge,
        FramedVerbFinder,
        FramedWordFinder,
        LexiconFinder,
        NoBridge,
        ParserBridge,
        PredicateFinder,
        VerbFinder,
    )
    from friend_training.bridges.hanlp import HanlpParser
    from friend_training.bridges.ltp import LtpPackageParser, LtpParser
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "bridge": (
                "Bridge",
                "CachedBridge",
                "FramedVerbFinder",
                "FramedWordFinder",
                "LexiconFinder",
                "NoBridge",
                "ParserBridge",
                "PredicateFinder",
                "VerbFinder",
            ),
            "hanlp": ("HanlpParser",),
            "ltp": (
                "LtpPackageParser",
                "LtpParser",
            ),
        },
    )
