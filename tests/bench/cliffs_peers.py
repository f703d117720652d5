"""What NumPy, torch and ml_dtypes need for the same jobs, in memory and on one thread."""
import statistics
import time
import warnings
from typing import Callable, NamedTuple

import numpy

try:
    import torch
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # of quantisation, which is to move to another package
except ImportError:
    torch = None
try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

TURNS = 3
SCALE = .02
LARGEST_INT8, LARGEST_FP8 = 127, 448


def allclose(files):
    near, base = numpy.array(files.array("near.npy")), numpy.array(files.array("base.npy"))
    return lambda: numpy.allclose(near, base, rtol=1e-2, atol=0)


def stats(files):
    base = numpy.array(files.array("base.npy"))
    return lambda: (base.min(), base.max(), base.mean(), base.std())


def astype(dtype):
    def job(files):
        base = numpy.array(files.array("base.npy"))
        return lambda: base.astype(dtype)
    return job


def rounded(files):
    base = numpy.array(files.array("base.npy"))
    return lambda: numpy.clip(numpy.rint(base / numpy.float32(SCALE)), -128, 127).astype(numpy.int8)


def torch_base(files):
    return torch.from_numpy(numpy.array(files.array("base.npy")))


def quantised(files):
    base = torch_base(files)
    return lambda: torch.quantize_per_tensor(base, SCALE, 0, torch.qint8)


def quantised_auto(files):
    base = torch_base(files)
    return lambda: torch.quantize_per_tensor(base, float(base.abs().max()) / LARGEST_INT8, 0, torch.qint8)


def fp8_auto(files):
    base = torch_base(files)
    return lambda: (base / (base.abs().max() / LARGEST_FP8)).to(torch.float8_e4m3fn)


def dequantised(files):
    codes = torch.quantize_per_tensor(torch_base(files), SCALE, 0, torch.qint8)
    return codes.dequantize


class Peer(NamedTuple):
    who: str
    module: object  # None: not installed
    job: Callable   # of the inputs: what is to be done, whose inputs are in memory


PEERS = {
    "allclose": Peer("NumPy", numpy, allclose),
    "stats": Peer("NumPy", numpy, stats),
    "astype int8": Peer("NumPy", numpy, astype(numpy.int8)),
    "astype int64": Peer("NumPy", numpy, astype(numpy.int64)),
    "quantise int8, NumPy": Peer("NumPy", numpy, rounded),
    "quantise int8": Peer("torch", torch, quantised),
    "quantise int8, auto": Peer("torch", torch, quantised_auto),
    "quantise fp8, auto": Peer("torch", torch, fp8_auto),
    "dequantise int8": Peer("torch", torch, dequantised),
}


def seconds(work):
    with numpy.errstate(all="ignore"):
        work()
        turns = []
        for _ in range(TURNS):
            begin = time.process_time()
            work()
            turns.append(time.process_time() - begin)
    return statistics.median(turns)


def nanoseconds(name, files):
    """Of an element; None where the peer is not installed."""
    peer = PEERS[name]
    if peer.module is None:
        return None
    return seconds(peer.job(files)) / files.elements("base.npy") * 1e9


def dtype_of(name):
    if hasattr(ml_dtypes, name):
        return numpy.dtype(getattr(ml_dtypes, name))
    return numpy.dtype(name)


def cast_nanoseconds(source, target, elements=1 << 20):
    """By NumPy's casts, which ml_dtypes adds its types to; None: not both of them have such types."""
    if ml_dtypes is None or not any(hasattr(ml_dtypes, name) for name in (source, target)):
        return None
    numbers = (numpy.random.default_rng(1).standard_normal(elements) * 50).astype(numpy.float32)
    try:
        with numpy.errstate(all="ignore"):
            codes = numbers.astype(dtype_of(source))
        return seconds(lambda: codes.astype(dtype_of(target))) / elements * 1e9
    except TypeError:  # as int4 to uint4
        return None
