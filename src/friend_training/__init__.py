"""Friend-training: cross-task self-training, where models of related tasks check each other's pseudo-labels."""

__version__ = "0.1.0"
