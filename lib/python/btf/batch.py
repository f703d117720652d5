"""Comparisons by the workers of any `concurrent.futures.Executor`: processes, Dask, MPI, loky.

    >>> from concurrent.futures import ProcessPoolExecutor
    >>> with ProcessPoolExecutor() as executor:
    ...     report = btf.batch.diff("out", "golden", close=True, executor=executor)
"""

from __future__ import annotations

import concurrent.futures
import os
import tempfile

from . import _btf
from ._diff import DiffReport, _plain
from ._errors import Error
from ._files import existing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Unpack

    from ._types import DiffOptions, Path

_TASK_BYTES = 64 << 20  # of small pairs that go to a worker together


class BatchInterrupted(RuntimeError):
    """Workers were lost more often than they may be. `done` of `pairs` pairs are in `part`, the path
    that was given as `part=`: the same call with another executor goes on from there."""

    def __init__(self, done: int, pairs: int, part: str | None):
        kept = f", which are in {part}: call it again with another executor" if part else "; part= would keep them"
        super().__init__(f"workers were lost after {done} of {pairs} pairs{kept}")
        self.done = done
        self.pairs = pairs
        self.part = part

    def __reduce__(self) -> tuple[Any, ...]:
        return BatchInterrupted, (self.done, self.pairs, self.part)


def diff(actual: Path, golden: Path, *, executor: concurrent.futures.Executor, part: Path | None = None,
         retries: int = 3, in_flight: int = 256, **criteria: Unpack[DiffOptions]) -> DiffReport:
    """`btf.diff` of two paths whose pairs of files are compared by an executor's workers.

    The report is that of `btf.diff`. Workers must see the same paths. The largest pairs go first;
    small ones go together, 64 MiB a task; at most `in_flight` tasks are with the executor. A task
    whose worker is lost is submitted again, up to `retries` times; if the executor takes no more,
    BatchInterrupted says what is done. `part` is a file that keeps it: the next call goes on from
    there, and `btftool merge` makes reports of it (docs/scaling.md).
    """
    options = _plain(criteria)
    options.pop("jobs", None)
    actual, golden = existing(actual), existing(golden)
    plan = _btf.batch_plan(actual, golden, options, _deciding(options))
    if part is not None:
        return _diff(plan, actual, golden, os.fspath(part), executor, retries, in_flight, options, True)
    with tempfile.TemporaryDirectory() as folder:
        return _diff(plan, actual, golden, os.path.join(folder, "part"), executor, retries, in_flight, options, False)


def _diff(plan: _btf.BatchPlan, actual: str, golden: str, path: str | bytes, executor: concurrent.futures.Executor,
          retries: int, in_flight: int, options: dict[str, Any], kept: bool) -> DiffReport:
    path = os.fsdecode(path)
    part = _btf.batch_part(path, plan, _words(options))
    try:
        open_pairs = [number for number in range(len(plan.costs)) if not part.has(number)]
        comparison = (actual, golden, options, plan.digest)
        lost = _run(part, _tasks(plan.costs, open_pairs), executor, retries, in_flight, comparison)
        if lost is not None:
            done = sum(part.has(number) for number in range(len(plan.costs)))
            raise BatchInterrupted(done, len(plan.costs), path if kept else None) from lost
        part.finish()
    finally:
        part.close()
    return DiffReport(_btf.batch_report(path, options), options)


def _run(part: _btf.BatchPart, tasks: list[tuple[int, ...]], executor: concurrent.futures.Executor, retries: int,
         in_flight: int, comparison: tuple[str, str, dict[str, Any], str]) -> BaseException | None:
    """Takes what workers find into the part. What is returned took the last worker."""
    waiting = tasks[::-1]
    tries: dict[tuple[int, ...], int] = {}
    running: dict[concurrent.futures.Future[Any], tuple[int, ...]] = {}
    end: BaseException | None = None
    while running or (waiting and end is None):
        try:
            while waiting and end is None and len(running) < in_flight:
                numbers = waiting[-1]
                running[executor.submit(_compare, *comparison, numbers)] = numbers
                waiting.pop()
        except RuntimeError as closed:  # BrokenExecutor is one, and so is "after shutdown"
            end = closed
            continue
        future = next(concurrent.futures.as_completed(running))
        numbers = running.pop(future)
        try:
            answer = future.result()
        except (Exception, concurrent.futures.CancelledError) as lost:
            tries[numbers] = tries.get(numbers, 0) + 1
            waiting.append(numbers)
            if tries[numbers] > retries and end is None:
                end = lost
                _cancel(running)
            continue
        if isinstance(answer, Exception):
            _cancel(running)
            raise answer
        for line in answer:
            part.add(line)
    return end


def _cancel(running: dict[concurrent.futures.Future[Any], tuple[int, ...]]) -> None:
    for future in running:
        future.cancel()


def _compare(actual: str, golden: str, options: dict[str, Any], digest: str,
             numbers: tuple[int, ...]) -> list[str] | Exception:
    """In a worker. What goes wrong here is an answer; an exception means that the worker was lost."""
    try:
        return _btf.batch_compare(actual, golden, options, _deciding(options), digest, list(numbers))
    except (Error, MemoryError) as error:
        return error


def _tasks(costs: list[int], numbers: list[int]) -> list[tuple[int, ...]]:
    """The largest pairs first, each alone; small ones together."""
    tasks: list[tuple[int, ...]] = []
    group: list[int] = []
    total = 0
    for number in sorted(numbers, key=lambda number: (-costs[number], number)):
        group.append(number)
        total += costs[number]
        if total >= _TASK_BYTES:
            tasks.append(tuple(group))
            group, total = [], 0
    if group:
        tasks.append(tuple(group))
    return tasks


def _words(options: dict[str, Any]) -> list[str]:
    """The options as the command has them."""
    words = []
    for name, value in sorted(options.items()):
        option = "--" + name.replace("_", "-")
        if name == "max_mismatch_percent":
            words.append(f"--max-mismatch={value!r}%")
        elif name in ("equal_nan", "hints"):
            words += [] if value else ["--no-" + option[2:]]
        elif name == "pair":
            words.append(option + "=" + ",".join(value))
        elif name == "heatmap":
            words += [option + "=auto"] if value else []
        elif isinstance(value, bool):
            words += [option] if value and name != "figures" else []
        else:
            words.append(f"{option}={value}")
    return words


def _deciding(options: dict[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in sorted(options.items())]
