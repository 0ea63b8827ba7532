"""Methods and steps as a reader wants to see them: the terminal says what the report says."""

from friend_training.report.words import method_in_words, step_in_words

__all__ = ["method_in_words", "step_in_words"]
