"""Two sets of dumped layers: which broke first, and the checks of single files."""

from __future__ import annotations

import os

from . import _btf, _dtypes
from ._files import existing
from ._report import Report


class LayersReport(Report):
    """Which layer broke first, and why. It has no truth value: ask `.well`."""

    __slots__ = ()
    _ask = ".well"

    @property
    def well(self) -> bool:
        """Nothing broke, and everything could be compared."""
        return self._found.well

    @property
    def verdict(self) -> dict:
        """"kind" ("clean", "broke", ...), "layer" and the figures, as in JSON."""
        return self.as_dict()["verdict"]

    def __repr__(self) -> str:
        verdict = self.verdict
        return f"<btf.LayersReport {verdict['kind']}{' ' + repr(verdict['layer']) if verdict.get('layer') else ''}>"


def layers(actual, golden, *, graph=None, **options) -> LayersReport:
    """Pairs the layers of two dumps by name, puts them in order, and says which broke first.

    `graph`: an ONNX model, the layer list of a TensorRT engine, or a list of both; with a model,
    elements of each layer are recomputed from its own inputs. Options: actual_graph, weights=False,
    accumulate, compute ("fp16"), computes ({"softmax*": "fp32"}), order (text: a name a line),
    baseline, isolated, max_error, require_all, hints, dequantize, jobs.
    """
    graphs = [] if graph is None else graph if isinstance(graph, (list, tuple)) else [graph]
    options["graph"] = [existing(one) for one in graphs]
    for name in ("compute", "accumulate"):
        options[name] = _dtypes.name_of(options.get(name))
    if options.get("computes"):
        options["computes"] = {glob: _dtypes.name_of(dtype) for glob, dtype in options["computes"].items()}
    for name in ("actual_graph", "baseline"):
        if options.get(name) is not None:
            options[name] = existing(options[name])
    return LayersReport(_btf.layers(existing(actual), existing(golden), options))


def validate(path, *, spec: str | None = None, finite: bool = False, jobs: int = 0) -> list:
    """Reads the whole file and returns what is wrong or odd with it; an empty list: nothing.

    `finite`: NaN and Inf are errors too.
    """
    return _btf.validate(os.fsdecode(path), spec, finite, jobs)
