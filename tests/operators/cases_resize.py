"""Resize in all its modes."""

import numpy as np

from cases import Case, case

PLACES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize",
          "half_pixel_symmetric")


@case("Resize")
def resize(r):
    image = [r.between(2, 6) for _ in range(r.pick(1, 2))]
    shape = [1, r.between(1, 2), *image]
    mode = r.pick("nearest", "linear", "cubic")
    place = r.pick(*PLACES)
    attributes = {"mode": mode, "coordinate_transformation_mode": place}
    if mode == "nearest":
        attributes["nearest_mode"] = r.pick("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    if mode == "cubic":
        attributes |= {"cubic_coeff_a": r.pick(-0.75, -0.5), "exclude_outside": r.between(0, 1)}
    roi = None
    if place == "tf_crop_and_resize":
        begin = [float(r.rng.uniform(-0.1, 0.4)) for _ in image]
        end = [float(r.rng.uniform(0.6, 1.1)) for _ in image]
        roi = np.array([0, 0, *begin, 1, 1, *end], np.float32)
        attributes["extrapolation_value"] = 2.5
    new = [r.between(1, 10) for _ in image]
    if r.chance() and roi is None:
        scales = np.array([1, 1, *(r.pick(0.5, 2, 1.5, 3, 1.25) for _ in image)], np.float32)
        return Case("Resize", [r.floats(shape), roi, scales], attributes, r.pick(11, 13, 18, 19)
                    if place != "half_pixel_symmetric" else 19, (1, 2))
    if roi is None and r.chance(0.3):
        attributes["axes"] = [d for d in range(2, len(shape))]
        sizes = np.array(new, np.int64)
        if r.chance():
            attributes["keep_aspect_ratio_policy"] = r.pick("not_larger", "not_smaller")
        return Case("Resize", [r.floats(shape), None, None, sizes], attributes, 19, (3,))
    return Case("Resize", [r.floats(shape), roi, None, np.array([*shape[:2], *new], np.int64)], attributes,
                19 if place == "half_pixel_symmetric" else r.pick(13, 19), (1, 3))


@case("Upsample", types=("float32",))
def upsample(r):
    shape = [1, r.between(1, 2), r.between(1, 4), r.between(1, 4)]
    scales = np.array([1, 1, r.between(1, 3), r.between(1, 3)], np.float32)
    x = r.floats(shape)
    wanted = x.repeat(int(scales[2]), 2).repeat(int(scales[3]), 3).astype(np.float64)
    return Case("Upsample", [x, scales], {"mode": "nearest"}, 9, (1,), expected=[wanted])
