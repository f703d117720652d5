"""Two sets of dumped layers: which broke first, and the checks of single files."""

from __future__ import annotations

import os

from . import _btf, _dtypes
from ._files import existing
from ._report import TestedReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import Unpack

    from ._types import LayerOptions, Path


class LayersReport(TestedReport):
    """Which layer broke first, and why. It has no truth value: ask `.well`. It pickles."""

    __slots__ = ()
    _ask = ".well"

    @property
    def well(self) -> bool:
        """Nothing broke, and everything could be compared."""
        return bool(self._found.well)

    @property
    def verdict(self) -> dict[str, Any]:
        """"kind" ("clean", "broke", ...), "layer" and the figures, as in JSON."""
        verdict: dict[str, Any] = self.as_dict()["verdict"]
        return verdict

    @property
    def layers(self) -> list[dict[str, Any]]:
        """The pairs of layers in their order, as in JSON."""
        pairs: list[dict[str, Any]] = self.as_dict()["pairs"]
        return pairs

    def __repr__(self) -> str:
        verdict = self.verdict
        return f"<btf.LayersReport {verdict['kind']}{' ' + repr(verdict['layer']) if verdict.get('layer') else ''}>"

    def _repr_html_(self) -> str:
        from ._notebook import of_layers

        return of_layers(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._found.json(), self._options, self._found.newest_input, *self._call)


def _restored(state: str, options: dict[str, Any], newest_input: int | None, function: str,
              operands: tuple[str, ...]) -> LayersReport:
    return LayersReport(_btf.layers_from_state(state, options, newest_input), options, function, *operands)


def layers(actual: Path, golden: Path, *, graph: Path | list[Path] | None = None,
           **given: Unpack[LayerOptions]) -> LayersReport:
    """Pairs the layers of two dumps by name, puts them in order, and says which broke first.

    `graph`: an ONNX model, the layer list of a TensorRT engine, or a list of both; with a model,
    elements of each layer are recomputed from its own inputs. Options: actual_graph, weights=False,
    accumulate, compute ("fp16"), computes ({"softmax*": "fp32"}), order (text: a name a line),
    baseline, isolated, max_error, require_all, hints, dequantize, block, jobs.
    """
    options = plain_layers(graph, given)
    return of_layers(_btf.layers, existing(actual), existing(golden), options)


def of_layers(compare: Callable[..., _btf.LayerRun], actual: str, golden: str, options: dict[str, Any]) -> LayersReport:
    return LayersReport(compare(actual, golden, options), options, "layers", repr(actual), repr(golden))


def plain_layers(graph: Path | list[Path] | None, given: Any) -> dict[str, Any]:
    """The options of layers() as the module takes them."""
    graphs = [] if graph is None else graph if isinstance(graph, (list, tuple)) else [graph]
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    options["graph"] = [existing(one) for one in graphs]
    for name in ("compute", "accumulate"):
        if name in options:
            options[name] = _dtypes.name_of(options[name])
    if options.get("computes"):
        options["computes"] = {glob: _dtypes.name_of(dtype) for glob, dtype in options["computes"].items()}
    for name in ("actual_graph", "baseline"):
        if options.get(name) is not None:
            options[name] = existing(options[name])
    return options


def validate(path: Path, *, spec: str | None = None, finite: bool = False, jobs: int = 0) -> list[_btf.Finding]:
    """Reads the whole file and returns what is wrong or odd with it; an empty list: nothing.

    `finite`: NaN and Inf are errors too.
    """
    return _btf.validate(os.fsdecode(path), spec, finite, jobs)
