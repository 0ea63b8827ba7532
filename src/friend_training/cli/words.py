"""Methods and phases as a reader wants to see them: the terminal says what the report says."""

from friend_training.report.words import method_in_words, phase_in_words

__all__ = ["method_in_words", "phase_in_words"]
