"""The coordinating half of labelling: who labels a shard is the engine's business, to keep it, once, is done here."""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from friend_training.core.bench import Bench
from friend_training.core.engines.work import Checkpoint, Engine, Labelled, LabelWork
from friend_training.core.files import write_text
from friend_training.core.friendship import Friendship
from friend_training.core.labelling import Audit, Labels
from friend_training.core.plan import LoopSettings, TaskPlan
from friend_training.core.pool import Pool
from friend_training.core.run import Run


def label_phase(iteration: int, shard: int) -> str:
    return f"label-{iteration}-{shard:05d}"


def set_aside_path(run: Path, shard: int) -> Path:
    """The inputs of a shard that could not be read, one JSON object per line; no file where there are none."""
    return run / "set-aside" / f"shard-{shard:05d}.jsonl"


class Labeller:
    """Labels the shards of a pool in a run, in this process or by the engine of its settings."""

    def __init__(
        self,
        run: Run,
        plans: Mapping[str, TaskPlan],
        friendships: Sequence[Friendship],
        pool: Pool,
        settings: LoopSettings,
        audit: Audit | None,
        bench: Bench,
    ) -> None:
        self._run, self._plans, self._friendships, self._pool = run, plans, friendships, pool
        self._settings, self._audit, self._bench = settings, audit, bench
        self._results: Generator[Labelled] | None = None

    def label(self, iteration: int, shard: int, advanced: Callable[[int, int], None]) -> dict[str, Any]:
        """Label one shard and write it to the store; shards are asked for in their order."""
        if self._settings.engine is None:
            asked: dict[str, Labels] = {name: self._asked(name, iteration, shard) for name in self._plans}
            labelled = self._work({}).label(self._pool.shard(shard), advanced, asked)
        else:
            if self._results is None:
                self._results = self._begin(self._settings.engine, iteration, shard)
            labelled = next(self._results)
        self._run.store.write_labelled(iteration, shard, labelled.rows)
        result = {"inputs": labelled.inputs, "units": len(labelled.rows)}
        if not labelled.set_aside:
            return result
        lines = [json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in labelled.set_aside]
        write_text(set_aside_path(self._run.folder, shard), "".join(lines))
        return result | {"set_aside": len(lines)}

    def close(self) -> None:
        """The workers of an engine are not needed any more: all shards are labelled, or the run is being stopped."""
        if self._results is not None:
            self._results.close()
            self._results = None

    def _begin(self, engine: Engine, iteration: int, first: int) -> Generator[Labelled]:
        """The results of all shards from this one on that are not on record yet."""
        checkpoints = {}
        for name, plan in self._plans.items():
            number = plan.checkpoint_of(iteration - 1)
            digest = self._run.require(f"train-{name}-{number}")["digest"]
            checkpoints[name] = Checkpoint(self._run.checkpoint(name, number), digest)
        left = [n for n in range(first, self._pool.shards) if self._run.result(label_phase(iteration, n)) is None]
        return engine.labelled(self._work(checkpoints), (self._pool.shard(number) for number in left))

    def _asked(self, name: str, iteration: int, shard: int) -> Labels:
        """The task as it is in this iteration; what Base says of a shard need not be asked twice."""
        task = self._bench.at(name, iteration - 1)
        remembered = self._settings.first_labels
        if iteration > 1 or remembered is None:
            return task
        return remembered.asked(task, self._run.require(f"train-{name}-0")["digest"], shard)

    def _work(self, checkpoints: Mapping[str, Checkpoint]) -> LabelWork:
        tasks = {name: plan.task for name, plan in self._plans.items()}
        return LabelWork(tasks, checkpoints, self._friendships, self._settings.aggregate, self._audit)
