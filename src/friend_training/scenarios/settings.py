"""Config sections as the settings of the library's parts."""

from friend_training.nn.training import TrainingSettings
from friend_training.scenarios import config


def training_settings(section: config.Training) -> TrainingSettings:
    return TrainingSettings(**(section.model_dump() | {"precision": section.precision}))  # left out where it is fp32
