"""How taggers and parsers on a word encoder are trained, unless told otherwise."""

from friend_training.nn.training import TrainingSettings

WORD_SETTINGS = TrainingSettings(
    batch_size=16, encoder_rate=2e-3, head_rate=2e-3, weight_decay=0.01, clip=5.0, labelling_pieces=2048
)
