"""Single elements of ONNX operators, with bounds for their errors, against onnx.reference.

  operator_cases.py PROGRAM [--ops A,B] [--count N] [--seed N] [--dtype float32|float16] [--fast] [--show]

Every operator is given random shapes, attributes and versions, and all elements are compared. PROGRAM evaluates the
models in the folders below the one it is given (evaluate_cases.cc).
"""

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
import zlib

try:
    import numpy as np
    import onnx
    from onnx.reference import ReferenceEvaluator

    import cases
    import cases_coding
    import cases_elementwise
    import cases_moving
    import cases_products
    import cases_reductions
    import cases_resize
except ImportError as missing:
    print(f"skipped: {missing}; tests/interop/venv.sh installs what is needed")
    sys.exit(0)

# Half a step of the type, and its smallest number.
HALF = {np.dtype(np.float32): (2.0**-24, 2.0**-149), np.dtype(np.float16): (2.0**-11, 2.0**-24)}
# Whole numbers that depend on comparisons of floats.
UNSURE = ("ArgMax", "ArgMin", "TopK", "Cast", "CastLike", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal")
# The part of a result that its bound may be, in the middle of an operator's cases; casts go to float16.
LOOSEST = {"float32": 1e-5, "float16": 2e-2}


def reference(case):
    """Of floats in double precision, as far as the reference has the operator for it."""
    if case.expected is not None:
        return case.expected
    model, given = cases.model_of(case)
    wide = cases.Case(case.op, [None if x is None else
                                np.asarray(x).astype(np.float64) if np.asarray(x).dtype in HALF else x
                                for x in case.inputs], case.attributes, case.opset, case.fixed, case.outputs)
    for one in (wide, case):
        try:
            model, given = cases.model_of(one)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ReferenceEvaluator(model).run(None, given)
        except Exception as error:  # the reference's own, of any kind
            last = error
    raise last


class Tally:
    def __init__(self):
        self.cases = self.elements = self.failures = self.unknown = 0
        self.first = ""
        self.bounds = []

    def fail(self, text):
        self.failures += 1
        self.first = self.first or text


def about(case):
    shapes = [None if x is None else (np.asarray(x).dtype.name, list(np.asarray(x).shape)) for x in case.inputs]
    return f"version {case.opset} {case.attributes} {shapes}"


def compare(folder, case, wanted, dtype, tally):
    with open(os.path.join(folder, "got.json")) as file:
        got = json.load(file)
    tally.cases += 1
    if "unsupported" in got:
        return tally.fail(f"{about(case)}: {got['unsupported']}")
    for output, expected in zip(got["outputs"], wanted):
        expected = np.asarray(expected)
        if list(expected.shape) != output["dims"]:
            return tally.fail(f"{about(case)}: dims {output['dims']}, expected {list(expected.shape)}")
        pairs = np.fromfile(os.path.join(folder, output["values"])).reshape(-1, 2)
        values, bounds = pairs[:, 0], pairs[:, 1]
        flat = expected.astype(np.float64).reshape(-1)
        floats = expected.dtype.kind == "f"
        half, least = HALF[np.dtype(dtype)] if floats else (0, 0)
        with np.errstate(invalid="ignore", over="ignore"):
            far = ~(np.abs(flat - values) <= 2 * bounds + half * np.abs(flat) + least)
            far &= ~(np.isnan(flat) & np.isnan(values)) & ~(flat == values)
        tally.elements += flat.size
        if not floats and not case.code_slack and bounds.any() and case.op not in UNSURE:
            tally.fail(f"{about(case)}: whole numbers with a bound of {bounds.max()}")
        size = np.abs(flat[np.isfinite(flat)]).max(initial=0)
        if floats and flat.size and size > 0:
            tally.bounds.append(float(np.median(bounds) / size))
        if far.any():
            at = int(np.argmax(far))
            return tally.fail(f"{about(case)}: element {at}: expected {flat[at]!r}, got {values[at]!r} "
                              f"with a bound of {bounds[at]:.3g}")
    return None


def run(program, op, options, dtype, tally):
    make, _, _ = cases.OPERATORS[op]
    work = tempfile.mkdtemp(prefix="operator-cases-")
    try:
        made = []
        for n in range(options.count):
            r = cases.Random([options.seed, n, zlib.crc32(op.encode())], cases.TYPES[dtype])
            case = make(r, op) if make.__code__.co_argcount == 2 else make(r)
            try:
                wanted = reference(case)
            except Exception as error:
                tally.unknown += 1
                if options.show:
                    print(f"  the reference: {about(case)}: {type(error).__name__}: {error}")
                continue
            folder = os.path.join(work, str(n))
            os.mkdir(folder)
            model, given = cases.model_of(case)
            onnx.save(model, os.path.join(folder, "model.onnx"))
            if given:
                np.savez(os.path.join(folder, "inputs.npz"), **given)
            if dtype == "float16":
                open(os.path.join(folder, "float16"), "w").close()
            made.append((folder, case, wanted))
        subprocess.run([program, work], check=True, timeout=600)
        for folder, case, wanted in made:
            compare(folder, case, wanted, dtype, tally)
    finally:
        shutil.rmtree(work)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--ops")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dtype")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    if options.fast:
        options.count = 12
    bad = 0
    totals = collections.Counter()
    for op, (_, types, _) in cases.OPERATORS.items():
        if options.ops and op not in options.ops.split(","):
            continue
        for dtype in types:
            if options.dtype and dtype != options.dtype:
                continue
            tally = Tally()
            run(options.program, op, options, dtype, tally)
            # Most of an operator's cases must be known to the reference.
            if tally.cases * 3 < options.count * 2:
                tally.fail(f"the reference knows {tally.cases} of {options.count} cases")
            loose = float(np.median(tally.bounds)) if tally.bounds else 0
            if loose > LOOSEST[dtype] and "Cast" not in op:
                tally.fail(f"bounds of {loose:.2g} of the results")
            totals += collections.Counter(cases=tally.cases, elements=tally.elements, failures=tally.failures)
            bad += tally.failures > 0
            if tally.failures or options.show:
                print(f"{op} {dtype}: {tally.cases} cases, {tally.elements} elements, {tally.failures} failures, "
                      f"{tally.unknown} unknown, bound {loose:.2g}; {tally.first}")
    print(f"{len(cases.OPERATORS)} operators, {totals['cases']} cases, {totals['elements']} elements, "
          f"{totals['failures']} failures")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
