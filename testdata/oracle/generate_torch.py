#!/usr/bin/env python3
"""Writes testdata/torch with PyTorch itself: torch 2.13.0, numpy (pip install torch==2.13.0 numpy).

    generate_torch.py

Names of archives and ids in them differ from run to run, so the files are not made anew by themselves.
"""

import collections
import os
import pathlib

import torch

os.chdir(pathlib.Path(__file__).resolve().parent.parent / "torch")


def codes(dtype):
    data = bytes([0, 1, 1, 0]) if dtype == torch.bool else bytes(range(1, 1 + 4 * dtype.itemsize))
    return torch.frombuffer(bytearray(data), dtype=torch.uint8).view(dtype)


base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
views = collections.OrderedDict(w=base, transposed=base.t(), part=base[1:3, 2:5], tied=base, scalar=torch.tensor(3.5), empty=torch.zeros(0, 3))
torch.save(views, "views.pt")
names = "float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool uint16 uint32 uint64 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu"
types = {name: codes(getattr(torch, name)) for name in names.split()}
types["float4_e2m1fn"] = torch.arange(4, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
torch.save(types, "types.pth")
nested = {"model": {"layer.0": torch.ones(2), "layer": {"0": torch.zeros(1)}}, "epoch": 3, "list": [torch.ones(1), (torch.zeros(2),)], 7: torch.nn.Parameter(torch.ones(1))}
torch.save(nested, "nested.bin")
torch.save(torch.arange(3), "single.pt")
odd = {"complex": torch.zeros(2, dtype=torch.complex64), "expanded": torch.ones(1, 3).expand(4, 3), "sparse": torch.eye(2).to_sparse(), "meta": torch.ones(2, device="meta"), "sound": torch.ones(1)}
torch.save(odd, "odd.pt")
torch.save(torch.nn.Linear(1, 1), "module.pt")
torch.save(base, "old.pt", _use_new_zipfile_serialization=False)
torch.jit.script(torch.nn.ReLU()).save("script.pt")
