"""Sentence-level semantic role labelling: the bridge that we train ourselves."""
