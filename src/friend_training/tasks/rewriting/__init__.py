"""Dialogue rewriting: the last turn made complete by deletions and by insertions from the dialogue."""
