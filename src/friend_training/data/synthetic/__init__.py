"""Chinese dialogues made by ourselves, with gold labels of CSRL, rewriting and sentence SRL that agree exactly."""

from friend_training.data.synthetic.dialogue import (
    SyntheticDialogue,
    csrl_examples,
    generate,
    generate_sentences,
    rewriting_examples,
)
from friend_training.data.synthetic.entities import Domain

__all__ = ["Domain", "SyntheticDialogue", "csrl_examples", "generate", "generate_sentences", "rewriting_examples"]
