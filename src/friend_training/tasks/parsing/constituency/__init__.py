"""Constituency parsing: the best tree over scored spans (CKY)."""
