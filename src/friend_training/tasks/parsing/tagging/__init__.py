"""Part-of-speech tagging: a tag for each word."""
