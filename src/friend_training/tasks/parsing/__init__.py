"""Parsers and taggers of sentences in words."""
