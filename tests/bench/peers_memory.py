"""What NumPy and torch, where they are installed, reach in memory on one thread: the time of a copy of
the same traffic, (bytes in + bytes out) / 2, over theirs, as the kernels' table has ours. Outputs
exist before and are used again. Medians of turns.

  peers_memory.py [TURNS]
"""
import statistics
import sys
import time

import numpy

try:
    import torch
    torch.set_num_threads(1)
except ImportError:
    torch = None

SHAPE = (32, 256, 56, 56)
TURNS = int(sys.argv[1]) if len(sys.argv) > 1 else 5


def seconds(work):
    begin = time.process_time()
    work()
    return time.process_time() - begin


def ratio(work, traffic):
    source, target = numpy.ones(traffic, numpy.uint8), numpy.zeros(traffic, numpy.uint8)
    work()
    times = [(seconds(lambda: numpy.copyto(target, source)), seconds(work)) for _ in range(TURNS)]
    return statistics.median(copy / own for copy, own in times)


def numpy_job(data, arrange, dtype):
    view = arrange(data)
    out = numpy.empty(view.shape, dtype)
    with numpy.errstate(all="ignore"):
        return ratio(lambda: numpy.copyto(out, view, casting="unsafe"), (data.nbytes + out.nbytes) // 2)


def torch_job(data, arrange, dtype):
    tensor = torch.from_numpy(data)
    view = arrange(tensor)
    out = torch.empty(tuple(view.shape), dtype=dtype)
    traffic = (tensor.nelement() * tensor.element_size() + out.nelement() * out.element_size()) // 2
    return ratio(lambda: out.copy_(view), traffic)


def channels_last(data):
    return data.transpose(0, 2, 3, 1) if isinstance(data, numpy.ndarray) else data.permute(0, 2, 3, 1)


def lanes(count):
    def arrange(data):
        n, c, h, w = data.shape
        data = data.reshape(n, c // count, count, h, w)
        return data.transpose(0, 1, 3, 4, 2) if isinstance(data, numpy.ndarray) else data.permute(0, 1, 3, 4, 2)
    return arrange


def same(data):
    return data


# Job, source, how it is arranged, target; None where a peer has no such dtype.
JOBS = [
    ("NCHW -> NHWC float32", "float32", channels_last, "float32"),
    ("NCHW -> NHWC 16-bit", "int16", channels_last, "int16"),
    ("NCHW -> NHWC 8-bit", "int8", channels_last, "int8"),
    ("-> kCHW4 float32", "float32", lanes(4), "float32"),
    ("-> kCHW32 8-bit", "int8", lanes(32), "int8"),
    ("float32 -> kHWC8 float16", "float32", channels_last, "float16"),
    ("float32 -> float16", "float32", same, "float16"),
    ("float32 -> bfloat16", "float32", same, "bfloat16"),
    ("float32 -> int8", "float32", same, "int8"),
    ("float16 -> float32", "float16", same, "float32"),
    ("float64 -> float32", "float64", same, "float32"),
    ("int64 -> int32", "int64", same, "int32"),
]

print("| job | NumPy | torch |\n|---|---|---|")
for name, source, arrange, target in JOBS:
    random = numpy.random.default_rng(1)
    data = (random.random(SHAPE, numpy.float32) * 15 - 7.5).astype(source)
    cells = [f"{numpy_job(data, arrange, target):.2f}" if hasattr(numpy, target) else ""]
    cells.append(f"{torch_job(data, arrange, getattr(torch, target)):.2f}" if torch else "")
    print(f"| {name} | {cells[0]} | {cells[1]} |", flush=True)
