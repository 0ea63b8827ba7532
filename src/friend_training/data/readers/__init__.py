"""Readers of public formats, one file per family: each yields typed examples and counts what it could not read."""
