"""Any model with `fit` and `predict_proba` as a task."""
