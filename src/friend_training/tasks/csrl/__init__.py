"""Conversational semantic role labelling: the arguments of a predicate of the last turn, anywhere in the dialogue."""
