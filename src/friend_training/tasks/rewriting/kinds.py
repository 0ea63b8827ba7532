"""Kinds of rewrites: is u_t changed at all?"""

from friend_training.examples import Dialogue


def kind_of_text(rewrite: str, dialogue: Dialogue) -> str:
    return "unchanged" if rewrite == dialogue.utterance.text else "changed"
