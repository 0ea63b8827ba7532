"""Agreement and results examined: the paper's theory, its simulation, and statistics.

error_rates     how often a label is wrong although friends agree (section 3.2), in the paper's form and corrected,
                and simulated with explicit labels and translation tables
agreement       what two friends agreed on, against what theory expects; how often confidences are right
three_friends   accuracy without labels, from three friends; votes of several sources, by the reliability of each
audit           the units a person should look at, and the precision of what was chosen
significance    paired bootstrap
"""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = [
    "AgreementReport",
    "Comparison",
    "Metric",
    "PrecisionInterval",
    "Question",
    "Triangle",
    "Votes",
    "agreement_report",
    "audited_precision",
    "checks_needed",
    "corrected_error_rate",
    "count_votes",
    "error_correlation",
    "expected_calibration_error",
    "match_probability",
    "measured_epsilon",
    "needed_friend_accuracy",
    "needed_size",
    "paired_bootstrap",
    "paired_bootstraps",
    "precision_interval",
    "printed_error_rate",
    "questions",
    "reliability",
    "simulate_agreement",
    "triangle_of_predictions",
    "triangles_of_run",
    "uniform_epsilon",
]

if TYPE_CHECKING:
    from friend_training.analysis.agreement import (
        AgreementReport,
        agreement_report,
        error_correlation,
        expected_calibration_error,
        measured_epsilon,
        reliability,
    )
    from friend_training.analysis.audit import (
        PrecisionInterval,
        Question,
        audited_precision,
        checks_needed,
        precision_interval,
        questions,
    )
    from friend_training.analysis.error_rates import (
        corrected_error_rate,
        match_probability,
        needed_friend_accuracy,
        needed_size,
        printed_error_rate,
        simulate_agreement,
        uniform_epsilon,
    )
    from friend_training.analysis.significance import Comparison, Metric, paired_bootstrap, paired_bootstraps
    from friend_training.analysis.three_friends import (
        Triangle,
        Votes,
        count_votes,
        triangle_of_predictions,
        triangles_of_run,
    )
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "agreement": (
                "AgreementReport",
                "agreement_report",
                "error_correlation",
                "expected_calibration_error",
                "measured_epsilon",
                "reliability",
            ),
            "audit": (
                "PrecisionInterval",
                "Question",
                "audited_precision",
                "checks_needed",
                "precision_interval",
                "questions",
            ),
            "error_rates": (
                "corrected_error_rate",
                "match_probability",
                "needed_friend_accuracy",
                "needed_size",
                "printed_error_rate",
                "simulate_agreement",
                "uniform_epsilon",
            ),
            "significance": (
                "Comparison",
                "Metric",
                "paired_bootstrap",
                "paired_bootstraps",
            ),
            "three_friends": (
                "Triangle",
                "Votes",
                "count_votes",
                "triangle_of_predictions",
                "triangles_of_run",
            ),
        },
    )
