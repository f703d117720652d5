"""Comparisons and conversions by the workers of any `concurrent.futures.Executor`: processes, Dask, MPI, loky.

    >>> from concurrent.futures import ProcessPoolExecutor
    >>> with ProcessPoolExecutor() as executor:
    ...     report = btf.batch.diff("out", "golden", close=True, executor=executor)
"""

from __future__ import annotations

import concurrent.futures
import functools
import os
import tempfile

from . import _btf
from ._convert import ConvertedTensor, ConvertReport, plain_conversion
from ._diff import _plain, of_paths
from ._errors import Error, InvalidArgument
from ._files import TensorSet, existing
from ._fit import FitReport, of_dumps, plain_fit
from ._layers import of_layers, plain_layers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import Unpack

    from ._diff import DiffReport
    from ._layers import LayersReport
    from ._types import ConvertOptions, DiffOptions, DType, LayerOptions, Path

    # What a worker does with the items of these numbers: their lines of a part.
    Work = Callable[[tuple[int, ...]], "list[str] | Exception"]

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
    work = functools.partial(_compare, actual, golden, options, _deciding(options), plan.digest)
    with _Part(part, plan, _words(options)) as kept:
        kept.fill(work, executor, retries, in_flight)
        return of_paths(lambda *_: _btf.batch_report(kept.path, options), actual, golden, options)


def layers(actual: Path, golden: Path, *, executor: concurrent.futures.Executor, part: Path | None = None,
           retries: int = 3, in_flight: int = 256, graph: Path | list[Path] | None = None,
           **given: Unpack[LayerOptions]) -> LayersReport:
    """`btf.layers` of two paths whose layers are measured by an executor's workers.

    The report is that of `btf.layers`: workers measure and recompute elements, this process
    judges and looks for causes. Executor, part, retries and in_flight are those of `diff`.
    """
    options = plain_layers(graph, given)
    options.pop("jobs", None)
    if part is not None and options.get("order"):
        raise InvalidArgument("order= is a text, which no part can name: graph= can be kept in one")
    actual, golden = existing(actual), existing(golden)
    words = _layer_words(options)
    plan = _btf.batch_layers_plan(actual, golden, options, words)
    work = functools.partial(_measure, actual, golden, options, words, plan.digest)
    with _Part(part, plan, words) as kept:
        kept.fill(work, executor, retries, in_flight)
        return of_layers(lambda a, g, given: _btf.batch_layers_report(kept.path, a, g, given, words), actual, golden, options)


def fit(*golden: Path, executor: concurrent.futures.Executor, part: Path | None = None, retries: int = 3,
        in_flight: int = 256, dtype: DType | list[DType] = "fp16", graph: Path | None = None) -> FitReport:
    """`btf.fit` of paths whose layers and tensors are measured by an executor's workers.

    The report is that of `btf.fit`: workers measure, this process judges. Executor, part, retries
    and in_flight are those of `diff`.
    """
    what = plain_fit(golden, dtype, graph)
    words = ["--dtype=" + ",".join(what[1])] + ([] if graph is None else [f"--graph={what[2]}"])
    plan = _btf.batch_fit_plan(*what, words)
    with _Part(part, plan, words) as kept:
        kept.fill(functools.partial(_fit, *what, words, plan.digest), executor, retries, in_flight)
        return of_dumps(lambda dumps, names, model: _btf.batch_fit_report(kept.path, dumps, names, model, words), *what)


def convert(source: Path | list[Path] | TensorSet, target: Path, *, executor: concurrent.futures.Executor,
            part: Path | None = None, retries: int = 3, in_flight: int = 256, dtype: DType = None,
            layout: str | None = None, spec: str | None = None, layout_in: str | None = None,
            format: str | None = None, **options: Unpack[ConvertOptions]) -> ConvertReport:
    """`btf.convert` of files to a directory, each file by one of an executor's workers.

    `target` is a directory that gets a file for each of the source, or ends with a slash. A file is
    old or whole new; those that are not written when an error ends the call stay as they were.
    `part` keeps what is done: the next call goes on from there. Executor, retries and in_flight are
    those of `diff`.
    """
    paths, spec, layout_in, given = plain_conversion(source, spec, layout_in, dtype, layout, format, options)
    given.pop("jobs", None)
    where = (paths, os.fsdecode(target), spec, layout_in, given)
    words = [repr(spec), repr(layout_in), *_deciding(given)]
    plan = _btf.batch_convert_plan(*where, words)
    with _Part(part, plan, words) as kept:
        kept.fill(functools.partial(_convert, *where, words, plan.digest), executor, retries, in_flight)
        written, tensors = _btf.batch_convert_report(kept.path)
    return ConvertReport(written, [ConvertedTensor(one) for one in tensors])


class _Part:
    """The file that keeps what is done; without one that is wanted, for as long as the call takes."""

    def __init__(self, wanted: Path | None, plan: _btf.BatchPlan, words: list[str]):
        self._folder = None if wanted is not None else tempfile.TemporaryDirectory()
        self._wanted = wanted is not None
        self.path = os.path.join(self._folder.name, "part") if self._folder else os.fsdecode(wanted or "")
        self._plan = plan
        self._part = _btf.batch_part(self.path, plan, words)

    def __enter__(self) -> _Part:
        return self

    def __exit__(self, *error: object) -> None:
        self._part.close()
        if self._folder:
            self._folder.cleanup()

    def fill(self, work: Work, executor: concurrent.futures.Executor, retries: int, in_flight: int) -> None:
        """All that it lacks, by the executor's workers."""
        costs = self._plan.costs
        lacks = [number for number in range(len(costs)) if not self._part.has(number)]
        lost = _run(self._part, _tasks(costs, lacks), executor, retries, in_flight, work)
        if lost is not None:
            done = sum(self._part.has(number) for number in range(len(costs)))
            raise BatchInterrupted(done, len(costs), self.path if self._wanted else None) from lost
        self._part.finish()


def _run(part: _btf.BatchPart, tasks: list[tuple[int, ...]], executor: concurrent.futures.Executor, retries: int,
         in_flight: int, work: Work) -> BaseException | None:
    """Takes what workers find into the part. What is returned took the last worker."""
    waiting = tasks[::-1]
    tries: dict[tuple[int, ...], int] = {}
    running: dict[concurrent.futures.Future[Any], tuple[int, ...]] = {}
    end: BaseException | None = None
    while running or (waiting and end is None):
        try:
            while waiting and end is None and len(running) < in_flight:
                numbers = waiting[-1]
                running[executor.submit(work, numbers)] = numbers
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


def _answer(work: Callable[..., list[str]], *arguments: Any) -> list[str] | Exception:
    """In a worker. What goes wrong here is an answer; an exception means that the worker was lost."""
    try:
        return work(*arguments)
    except (Error, MemoryError) as error:
        return error


def _compare(actual: str, golden: str, options: dict[str, Any], words: list[str], digest: str,
             numbers: tuple[int, ...]) -> list[str] | Exception:
    return _answer(_btf.batch_compare, actual, golden, options, words, digest, list(numbers))


def _measure(actual: str, golden: str, options: dict[str, Any], words: list[str], digest: str,
             numbers: tuple[int, ...]) -> list[str] | Exception:
    return _answer(_btf.batch_layers_measure, actual, golden, options, words, digest, list(numbers))


def _fit(dumps: list[str], dtypes: list[str], graph: str | None, words: list[str], digest: str,
         numbers: tuple[int, ...]) -> list[str] | Exception:
    return _answer(_btf.batch_fit_measure, dumps, dtypes, graph, words, digest, list(numbers))


def _convert(paths: list[str], target: str, spec: str | None, layout_in: str | None, given: dict[str, Any],
             words: list[str], digest: str, numbers: tuple[int, ...]) -> list[str] | Exception:
    return _answer(_btf.batch_convert_files, paths, target, spec, layout_in, given, words, digest, list(numbers))


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


def _layer_words(options: dict[str, Any]) -> list[str]:
    """The same of layers. `order` is a file there."""
    words = ["--graph=" + path for path in options["graph"]]
    words += [f"--compute={glob}={dtype}" for glob, dtype in sorted((options.get("computes") or {}).items())]
    for name, value in sorted(options.items()):
        option = "--" + name.replace("_", "-")
        if name == "weights":
            words.append(f"{option}={'yes' if value else 'no'}")
        elif name == "hints":
            words += [] if value else ["--no-hints"]
        elif name == "order":
            words.append("# " + value)  # decides, and is in no part
        elif isinstance(value, bool):
            words += [option] if value else []
        elif name not in ("graph", "computes"):
            words.append(f"{option}={value}")
    return words


def _deciding(options: dict[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in sorted(options.items())]
