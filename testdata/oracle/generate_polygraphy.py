#!/usr/bin/env python3
"""Writes testdata/polygraphy with Polygraphy itself: polygraphy 0.53.6, numpy 2.4.6 (pip install polygraphy==0.53.6 numpy==2.4.6).

    generate_polygraphy.py
"""

import pathlib

import numpy as np
from polygraphy.comparator import RunResults
from polygraphy.comparator.struct import IterationResult
from polygraphy.json import save_json

HERE = pathlib.Path(__file__).resolve().parent.parent / "polygraphy"
OUTPUTS = {"conv/out:0": np.arange(6, dtype="f4").reshape(1, 2, 3), "mask": np.array([True, False]), "scalar": np.array(7, dtype="i8"), "none": np.zeros((0, 2), "f2")}

results = RunResults()
for runner in ("trt-runner-N0", "onnxrt-runner-N0"):
    results.append((runner, [IterationResult(outputs=dict(OUTPUTS), runtime=0.25, runner_name=runner)]))
results.save(str(HERE / "outputs.json"))
save_json([{"x": np.arange(3, dtype="u1")}, {"x": np.arange(3, 6, dtype="u1")}], str(HERE / "inputs.json"))
