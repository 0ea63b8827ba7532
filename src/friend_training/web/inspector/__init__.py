"""The inspector: pseudo-labels of a run in a browser, with filters, corrections and exports."""
