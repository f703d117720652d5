"""What a notebook shows of files, tensors and reports: small tables, without scripts or styles of their own."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._array import Array
    from ._convert import ConvertReport
    from ._diff import DiffReport, TensorDiff
    from ._files import Tensor, TensorSet
    from ._layers import LayersReport

ROWS = 20  # a notebook is no place for thousands
FIGURES_OF = 1 << 20  # bytes of a tensor that are read for a few figures


def of_set(tensors: TensorSet) -> str:
    """The table of `btftool inspect`."""
    rows: list[list[object]] = [[tensor.index, tensor.name, tensor.dtype, tensor.layout, list(tensor.shape), tensor.nbytes, tensor.offset]
            for tensor in _first(tensors)]
    title = f"{tensors.path}: {tensors.format or 'files'}, {_counted(len(tensors), 'tensor')}"
    return _table(title, ["#", "name", "dtype", "layout", "shape", "bytes", "offset"], rows, len(tensors))


def of_tensor(tensor: Tensor) -> str:
    """Its row, and figures where few bytes say them."""
    rows: list[list[object]] = [["dtype", tensor.dtype], ["layout", tensor.layout], ["shape", list(tensor.shape)],
                                ["bytes", tensor.nbytes], ["file", tensor.path]]
    if tensor.nnz is not None:
        rows.append(["entries", tensor.nnz])
    elements = 1
    for size in tensor.shape:
        elements *= size
    # A sparse tensor of few bytes may have any number of elements.
    if tensor.nbytes <= FIGURES_OF and elements <= FIGURES_OF:
        rows += _figures(tensor)
    return _table(f"tensor {tensor.index} {tensor.name}", [], rows)


def _figures(tensor: Tensor) -> list[list[object]]:
    from ._errors import Error

    try:
        stats = tensor.stats()
    except (Error, OSError):  # a repr does not fail; whoever reads the tensor is told
        return []
    rows: list[list[object]] = [[name, stats[name]] for name in ("min", "max", "mean", "std")]
    return rows + [[name, stats[name]] for name in ("nan", "pos_inf", "neg_inf") if stats[name]]


def of_array(array: Array) -> str:
    rows: list[list[object]] = [["dtype", array.dtype], ["layout", array.layout], ["shape", list(array.shape)],
                                ["stored as", list(array.stored_shape)], ["bytes", array.nbytes]]
    return _table("array", [], rows)


def of_diff(report: DiffReport) -> str:
    """Verdict, counts, the worst of each tensor that differs, and its cause."""
    found = report.tensors
    different = [tensor for tensor in found if not tensor.same]
    verdict = "trouble" if report.trouble else "same" if report.same else "different"
    title = f"{verdict}: {len(different)} of {_counted(len(found), 'tensor')} differ"
    rows = [[tensor.name, tensor.result, _mismatched(tensor), tensor.max_abs, _worst(tensor), _cause(tensor)]
            for tensor in different[:ROWS]]
    return _table(title, ["tensor", "result", "elements", "max abs", "worst", "cause"], rows, len(different))


def _mismatched(tensor: TensorDiff) -> str:
    many = "some" if tensor.mismatched is None else str(tensor.mismatched)
    return f"{many} of {tensor.compared}" if tensor.compared else ""


def _worst(tensor: TensorDiff) -> str:
    worst = tensor.worst
    return "" if worst is None else f"{worst['index']}: {worst['actual']}, golden {worst['golden']}"


def _cause(tensor: TensorDiff) -> str:
    return ": ".join(tensor.causes[0]) if tensor.causes else tensor.reason or ""


def of_layers(report: LayersReport) -> str:
    """The verdict, and the layers that are not well."""
    verdict = report.verdict
    title = verdict["kind"] + (f": {verdict['layer']}" if verdict.get("layer") else "")
    layers = [layer for layer in report.layers if layer["state"] != "healthy"]
    rows = [[layer["golden"] or layer["actual"], layer["state"], layer["e"]] for layer in layers[:ROWS]]
    return _table(title, ["layer", "state", "relative error"], rows, len(layers))


def of_conversion(report: ConvertReport) -> str:
    title = f"{_counted(len(report.tensors), 'tensor')}, {_counted(report.bytes, 'byte')}"
    rows = [[one.index, one.name, f"{one.source_dtype} {one.source_layout}", f"{one.dtype} {one.layout}",
             list(one.shape), f"{one.loss.changed} of {one.loss.elements}", one.loss.max_abs]
            for one in report.tensors[:ROWS]]
    return _table(title, ["#", "name", "from", "to", "shape", "changed", "max abs"], rows, len(report.tensors))


def _first(tensors: TensorSet) -> Iterable[Tensor]:
    return (tensors[number] for number in range(min(ROWS, len(tensors))))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _table(title: str, heads: list[str], rows: list[list[object]], all: int = 0) -> str:
    import html

    def cell(value: object, name: str = "td") -> str:
        text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
        # A lone surrogate stands for a byte of a name that is no text.
        return f"<{name}>{html.escape(text.encode('utf-8', 'replace').decode())}</{name}>"

    lines = [f"<tr>{''.join(cell(head, 'th') for head in heads)}</tr>"] if heads and rows else []
    lines += [f"<tr>{''.join(cell(value) for value in row)}</tr>" for row in rows]
    if all > len(rows):
        lines.append(f"<tr><td colspan=\"{len(heads)}\">and {all - len(rows)} more</td></tr>")
    return f"<table><caption>{cell(title)[4:-5]}</caption>{''.join(lines)}</table>"
