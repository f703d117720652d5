"""Which layers of a network fit a narrow type, and which must stay wide."""

from __future__ import annotations

from . import _btf, _dtypes
from ._files import existing
from ._report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ._types import DType, Path


class FitReport(Report):
    """Which layers must stay wide, and why. It has no truth value: ask `.fits`."""

    __slots__ = ()
    _ask = ".fits"

    @property
    def fits(self) -> bool:
        """Nothing that can be judged must stay wide, and everything could be read."""
        return bool(self._found.fits)

    @property
    def types(self) -> list[dict[str, Any]]:
        """What was found for each float16 and bfloat16 that was asked, as in JSON."""
        types: list[dict[str, Any]] = self.as_dict()["types"]
        return types

    def wide(self, dtype: DType | None = None) -> list[str]:
        """Names of the layers that must stay wide; `dtype`: which, of several."""
        return self.list("names", dtype).splitlines()

    def list(self, form: str, dtype: DType | None = None) -> str:
        """The list as another tool takes it: "autocast", "onnxconverter", "trtexec", "polygraphy", "names"; "scales"."""
        text: str = self._found.list(form, None if dtype is None else _dtypes.name_of(dtype))
        return text

    def scales(self, dtype: DType | None = None) -> dict[str, float]:
        """The best scale of each tensor, for a type with scales as int8."""
        import json

        scales: dict[str, float] = json.loads(self.list("scales", dtype))
        return scales

    def __repr__(self) -> str:
        found = [f"{one['dtype']}: {one['wide']} of {len(one['layers'])} wide" for one in self.types]
        return f"<btf.FitReport {', '.join(found)}>" if found else f"<btf.FitReport fits={self.fits}>"


def fit(*golden: Path, dtype: DType | list[DType] = "fp16", graph: Path | None = None, jobs: int = 0) -> FitReport:
    """Says from float32 dumps which layers fit a narrow type, and which must stay wide, and why.

    `golden`: dumps of all tensors, each of one run. `dtype`: fp16, bf16; with scales int8, fp8; one or a list.
    `graph`: the ONNX model with its weights; without it tensors are measured and no layer is judged.
    """
    return of_dumps(lambda dumps, names, model: _btf.fit(dumps, names, model, jobs), *plain_fit(golden, dtype, graph))


def plain_fit(golden: tuple[Path, ...], dtype: DType | Sequence[DType],
              graph: Path | None) -> tuple[list[str], list[str], str | None]:
    """Paths of dumps, names of dtypes, the path of the model."""
    if not golden:
        raise TypeError("fit() needs a dump")
    dtypes: Sequence[Any] = dtype if isinstance(dtype, (list, tuple)) else [dtype]
    names: list[Any] = [_dtypes.name_of(one) for one in dtypes]
    return [existing(one) for one in golden], names, None if graph is None else existing(graph)


def of_dumps(judge: Callable[..., Any], dumps: list[str], names: list[str], model: str | None) -> FitReport:
    options: dict[str, Any] = {"dtype": names if len(names) > 1 else names[0]}
    if model is not None:
        options["graph"] = model
    return FitReport(judge(dumps, names, model), options, "fit", *map(repr, dumps))
