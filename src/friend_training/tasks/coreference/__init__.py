"""Coreference: what each mention of the last turn stands for, as a link to an earlier span."""
