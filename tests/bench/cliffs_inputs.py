"""The files that cliffs.py measures on. Each is made when it is first asked for, by its name."""
import os
import shutil
import zlib

import numpy

CHANNELS = 64
LARGE_PLANE = 448
PAIRS = 8  # of large layers


def convert(*options):
    """A maker: a conversion of another input, which is the first option."""
    source, *rest = options
    return lambda files, path: files.btftool("convert", *rest, files.path(source), path)


def array(make):
    return lambda files, path: numpy.save(path, make(files))


def copy(source):
    return lambda files, path: shutil.copyfile(files.path(source), path)


def noise(files, shape):
    return files.random().standard_normal(shape, numpy.float32)


def near(name, by):
    return lambda files: files.array(name) * (1 + by * noise(files, files.array(name).shape))


def half_other(files):
    """Every second number is another."""
    numbers = files.array("int64.npy").copy()
    numbers.reshape(-1)[::2] += 1
    return numbers


def sparse(files):
    """5 % filled. Not a product: -0 is an element that COO stores."""
    planes = files.array("planes.npy")
    return numpy.where(files.random().random(planes.shape, numpy.float32) < .05, planes, numpy.float32(0))


def as_nhwc(files):
    """The bytes of NHWC under the dims of NCHW."""
    planes = files.array("planes.npy")
    return numpy.ascontiguousarray(planes.transpose(0, 2, 3, 1)).reshape(planes.shape)


def small_files(by):
    def make(files, path):
        os.mkdir(path)
        numbers = numpy.random.default_rng(5).standard_normal((files.args.files, 8), numpy.float32)
        for i, row in enumerate(numbers * numpy.float32(by)):
            numpy.save(os.path.join(path, f"layer_{i:06d}.npy"), row)
    return make


def large_layers(by):
    def make(files, path):
        os.mkdir(path)
        random = numpy.random.default_rng(6)
        shape = (1, 32, -1, 32)
        for i in range(PAIRS):
            values = random.standard_normal(files.args.elements // PAIRS // 1024 * 1024, numpy.float32)
            numpy.save(os.path.join(path, f"layer{i}.npy"), (values * numpy.float32(by)).reshape(shape))
    return make


def cast_source(dtype):
    return convert("cast_numbers.npy", "--dtype", dtype)


class Maker(dict):
    def __missing__(self, name):
        if name.startswith("cast_"):
            return cast_source(name.removeprefix("cast_").removesuffix(".btf"))
        raise KeyError(name)


MAKERS = Maker({
    "base.npy": array(lambda files: noise(files, files.shape)),
    "same.npy": copy("base.npy"),
    "near.npy": array(near("base.npy", 1e-4)),
    "off.npy": array(lambda files: files.array("base.npy") + noise(files, files.shape)),
    "scaled.npy": array(lambda files: files.array("base.npy") * numpy.float32(1.05)),
    "int64.npy": array(lambda files: files.random().integers(-1 << 40, 1 << 40, files.shape)),
    "int64_half.npy": array(half_other),
    "planes.npy": array(lambda files: noise(files, files.planes)),
    "nhwc.npy": array(as_nhwc),
    "planes_hwc.btf": convert("planes.npy", "--layout", "kHWC"),
    "sparse.npy": array(sparse),
    "sparse_hwc.btf": convert("sparse.npy", "--layout", "kHWC"),
    "sparse_coo.btf": convert("sparse.npy", "--layout", "coo"),
    "sparse_coo_same.btf": copy("sparse_coo.btf"),
    "sparse_near.npy": array(near("sparse.npy", 1e-4)),
    "sparse_coo_near.btf": convert("sparse_near.npy", "--layout", "coo"),
    "shuffled.btf": convert("base.npy", "--shuffle"),
    "int8.btf": convert("base.npy", "--dtype", "int8", "--scale", "auto"),
    "int8_channels.btf": convert("base.npy", "--dtype", "int8", "--scale", "auto", "--scale-axis", "3"),
    "fp8.btf": convert("base.npy", "--dtype", "fp8", "--scale", "auto"),
    "mxfp8.btf": convert("base.npy", "--block-scale", "mxfp8"),
    "nvfp4.btf": convert("base.npy", "--block-scale", "nvfp4"),
    "small": small_files(1),
    "small_same": small_files(1),
    "layers": large_layers(1),
    "layers_near": large_layers(1.0001),
    "one.npy": array(lambda files: noise(files, (1,))),
    # Of the range that 8-bit integers have, some of them beyond it.
    "cast_numbers.npy": array(lambda files: noise(files, (files.args.cast_elements // 64, 64)) * numpy.float32(50)),
})


class Inputs:
    def __init__(self, args, scratch, btftool):
        self.args = args
        self.scratch = scratch
        self.btftool = btftool
        self.making = ""
        self.shape = (max(1, args.elements // 64**3), 64, 64, 64)
        side = min(LARGE_PLANE, int((args.elements / CHANNELS)**.5) // 4 * 4 or 4)
        self.planes = (max(1, args.elements // (CHANNELS * side * side)), CHANNELS, side, side)

    def path(self, name):
        path = os.path.join(self.scratch, name)
        if not os.path.exists(path):
            before, self.making = self.making, name
            MAKERS[name](self, path)
            self.making = before
        return path

    def random(self):
        """Of the file that is made: the same where it is made again."""
        return numpy.random.default_rng(zlib.crc32(self.making.encode()))

    def keep(self, names):
        """Room for the others."""
        for name in os.listdir(self.scratch):
            path = os.path.join(self.scratch, name)
            if name not in names:
                shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)

    def array(self, name):
        return numpy.load(self.path(name), mmap_mode="r")

    def elements(self, name):
        """By its name: those of large planes are some less."""
        if name.startswith(("planes", "sparse", "nhwc")):
            return int(numpy.prod(self.planes))
        return int(numpy.prod(self.shape))
