"""A few sentences with trees and heads, both by hand: gold labels that agree."""

from pathlib import Path

from friend_training.data.readers.treebanks import read_treebank
from friend_training.data.text_io import Problems
from friend_training.types import Heads, TreeExample

TREES = """
( (S (NP-SBJ (DT The) (NN cook)) (VP (MD will) (VP (VB make) (NP (DT a) (JJ big) (NN cake))
     (PP (IN for) (NP (PRP$ her) (NN sister))))) (. .)))
( (S (NP-SBJ (NNS Birds)) (VP (VBD sang) (SBAR-TMP (IN while) (S (NP-SBJ (PRP he)) (VP (VBD slept))))) (. .)))
( (S (NP-SBJ (NP (JJ red) (NNS pens)) (CC and) (NP (NN paper))) (VP (VBD fell) (PP (IN from)
     (NP (NP (DT the) (NN boy) (POS 's)) (NN desk)))) (. .)))
( (S (NP-SBJ (NP (NNS people)) (SBAR (WHNP-1 (WP who)) (S (NP-SBJ (-NONE- *T*-1)) (VP (VBP try)
     (S (NP-SBJ (-NONE- *)) (VP (TO to) (VP (VB help)))))))) (VP (VBP are) (ADJP-PRD (RB very) (JJ kind))) (. .)))
"""
HEADS = (
    Heads((2, 3, 0, 3, 7, 7, 4, 4, 10, 8, 3)),
    Heads((2, 0, 2, 5, 3, 2)),
    Heads((2, 4, 4, 5, 0, 5, 9, 9, 10, 6, 5)),
    Heads((6, 1, 2, 5, 3, 0, 8, 6, 6)),
)


def small_treebank(folder: Path) -> list[tuple[TreeExample, Heads]]:
    path = folder / "small.mrg"
    path.write_text(TREES, encoding="utf-8")
    return list(zip(read_treebank(path, Problems(path, strict=True)), HEADS, strict=True))
