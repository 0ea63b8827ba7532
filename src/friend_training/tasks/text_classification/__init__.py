"""Text classification: one of a set of labels for a text, on any encoder."""
