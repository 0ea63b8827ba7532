"""Methods, steps and amounts as a reader wants to see them, in the terminal and in the report."""

from friend_training.methods.registry import METHODS
from friend_training.runs.steps import (
    Count,
    Evaluate,
    FindThresholds,
    Label,
    MeasureAgreement,
    MethodStep,
    Select,
    Step,
    Test,
    Tidy,
    Train,
    TrainTogether,
    WeighFriends,
)

_PREPARED = {
    "data": "making or reading the data",
    "encoder": "pre-training the encoder",
    "bridge": "training the bridge",
    "informed": "csrl learns the bridge's sentences",
}


def method_in_words(method: str) -> str:
    return METHODS[method].title if method in METHODS else method


def step_in_words(step: Step) -> str:
    """The second update of CSRL, as a step of FDT: 'FDT: training csrl, iteration 2'."""
    match step:
        case MethodStep(method, Train(task, 0)) if method == "base" or (
            method in METHODS and METHODS[method].from_encoder
        ):
            return f"{method_in_words(method)}: training {task}"
        case MethodStep(method, inner):
            return f"{method_in_words(method)}: {step_in_words(inner)}"
        case Train(task, 0):
            return f"{task} starts from Base"
        case Train(task, iteration):
            return f"training {task}, iteration {iteration}"
        case TrainTogether():
            return "training all tasks together"
        case Evaluate(task, 0):
            return f"scoring {task} on dev, Base"
        case Evaluate(task, iteration):
            return f"scoring {task} on dev, iteration {iteration}"
        case Label(iteration, shard):
            return f"labelling the pool, iteration {iteration}, shard {shard}"
        case MeasureAgreement(iteration):
            return f"measuring on dev what friends agree on, iteration {iteration}"
        case WeighFriends(iteration):
            return f"weighing the friends' words on dev, iteration {iteration}"
        case FindThresholds(iteration):
            return f"finding thresholds on dev, iteration {iteration}"
        case Select(iteration):
            return f"selecting, iteration {iteration}"
        case Tidy(iteration):
            return f"tidying up, iteration {iteration}"
        case Test(task):
            return f"scoring {task} on test"
        case Count():
            return "counting right answers on test"
        case _:
            return _PREPARED.get(step.name.partition("-")[0], step.name)


def duration(seconds: float) -> str:
    """'0.4 s', '59 s', '4 min 10 s', '2 h 5 min'."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, left = divmod(minutes, 60)
    if hours:
        return f"{hours} h {left} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def megabytes(memory: float | None) -> str:
    """'1,204 MB'; a dash where it is not known."""
    return "–" if memory is None else f"{memory:,.0f} MB"


def percent(share: float | None) -> str:
    """'35.1 %'; a dash where there is nothing to take a share of."""
    return "–" if share is None else f"{100 * share:.1f} %"


def score(value: float | None, *, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
