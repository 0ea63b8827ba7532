"""Public conformance suites for tasks, matchers and friendships of your own, as scikit-learn has for estimators."""

from friend_training.core.conformance.matcher_rules import MatchCase, check_friendship, check_matcher
from friend_training.core.conformance.rules import ConformanceError, Violation
from friend_training.core.conformance.task_rules import check_task

__all__ = ["ConformanceError", "MatchCase", "Violation", "check_friendship", "check_matcher", "check_task"]
