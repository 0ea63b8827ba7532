"""Dependency parsing: the best projective tree over scored arcs (Eisner)."""
