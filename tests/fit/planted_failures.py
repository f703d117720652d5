"""Planted nodes that fail in a narrow type."""

import numpy as np
from onnx import numpy_helper

from planting import differ, hard


# What overflows.

@hard("float16")
def hypotenuse(p, x):
    k = p.pick(600, 3000) / p.most
    s = p.n("Mul", x, k)
    root = p.n("Sqrt", p.n("Mul", s, s))
    return p.n("Mul", p.n("Mul", p.n("Sign", x), root), 1 / k)


@hard("float16")
def fourth_power(p, x):
    k = p.pick(25, 60) / p.most
    s = p.n("Pow", p.n("Mul", p.n("Abs", x), k), 4.0)
    return p.n("Mul", p.n("Mul", p.n("Sign", x), p.n("Pow", s, 0.25)), 1 / k)


@hard("float16")
def product_first(p, x):
    k = p.pick(2e5, 1e7) / p.most
    return p.n("Div", p.n("Mul", x, k), k)


@hard("float16")
def divided_by_little(p, x):
    k = p.pick(1e-5, 1e-4) * p.rms
    return p.n("Mul", p.n("Div", x, k), k)


@hard("float16")
def exponential_out_of_range(p, x):
    k = p.pick(13, 20) / p.most
    return p.n("Mul", p.n("Log", p.n("Exp", p.n("Mul", x, k))), 1 / k)


@hard("float16")
def sum_of_many(p, x):
    if p.x.shape[-1] < 4:
        return None
    k = p.pick(6e4, 1.2e5) / p.x.shape[-1] / p.rms
    v = p.n("Add", p.n("Mul", p.n("Abs", x), k), 5e4 / p.x.shape[-1])
    m = p.mean(v)
    return p.n("Mul", p.n("Div", x, m), p.n("Div", p.sum(v), float(p.x.shape[-1])))


@hard("float16")
def zero_times_a_mask(p, x):
    mask = p.n("Mul", p.n("Sub", p.n("Sign", p.n("Add", p.n("Abs", x), 1.0)), 1.0), p.pick(1e6, 1e9))
    return p.n("Add", x, mask)


@hard("float16")
def infinity_less_infinity(p, x):
    far = p.n("Add", p.n("Mul", p.n("Abs", x), 0.0), p.pick(1e5, 1e6))
    return p.n("Mul", x, p.n("Div", far, p.n("Identity", far)))


@hard("float16")
def squared_distance(p, x):
    """sqrt(x^2 + c^2) with a side that is large, over that."""
    c = p.pick(400, 2000)
    far = p.n("Add", p.n("Mul", x, 0.0), c)
    root = p.n("Sqrt", p.n("Mul", far, far))
    return p.n("Mul", p.n("Div", x, root), c)


# What vanishes.

@hard("float16")
def cube_that_vanishes(p, x):
    k = p.pick(2e-4, 1e-3) / p.most
    s = p.n("Mul", x, k)
    cube = p.n("Mul", p.n("Mul", s, s), s)
    root = p.n("Pow", p.n("Abs", cube), 1 / 3)
    return p.n("Mul", p.n("Mul", p.n("Sign", x), root), 1 / k)


@hard("float16")
def epsilon_of_a_root(p, x):
    zero = p.n("Mul", p.n("Abs", x), 0.0)
    root = p.n("Sqrt", p.n("Add", zero, 1e-12))
    return p.n("Mul", p.n("Div", x, root), 1e-6)


@hard("float16")
def least_of_a_clip(p, x):
    eps = 1e-10
    low = p.n("Max", p.n("Mul", x, 0.0), eps)
    return p.n("Mul", p.n("Div", x, low), eps)


@hard("float16")
def reciprocal_of_much(p, x):
    k = p.pick(1e-9, 1e-8) / p.rms
    return p.n("Div", p.n("Mul", x, k), k)


@hard("float16")
def product_of_littles(p, x):
    k = p.pick(1e-5, 5e-5) / p.rms
    little = p.n("Mul", x, k)
    less = p.n("Mul", little, p.pick(1e-5, 5e-5))
    return p.n("Div", less, float(k * numpy_helper.to_array(p.constants[-1])))


@hard("float16")
def softplus_of_the_low(p, x):
    """log(softplus) far below zero is the number itself."""
    k = 2 / p.most
    low = p.n("Sub", p.n("Mul", x, k), 20.0)
    return p.n("Mul", p.n("Add", p.n("Log", p.n("Softplus", low)), 20.0), 1 / k)


# What cancels.

@hard("float16", "bfloat16")
def offset(p, x):
    c = p.pick(150, 400) * p.rms
    return p.n("Sub", p.n("Add", x, c), c)


@hard("float16", "bfloat16")
def halves(p, x):
    c = p.pick(150, 400) * p.rms
    far, near = p.n("Add", x, c), p.n("Sub", x, c)
    return p.n("Mul", p.n("Add", far, near), 0.5)


@hard("float16", "bfloat16")
def one_less(p, x):
    k = p.pick(1e-3, 4e-3) / p.rms
    return p.n("Div", p.n("Sub", 1.0, p.n("Sub", 1.0, p.n("Mul", x, k))), k)


@hard("float16", "bfloat16")
def exponential_less_one(p, x):
    k = p.pick(1e-3, 4e-3) / p.most
    return p.n("Div", p.n("Log", p.n("Exp", p.n("Mul", x, k))), k)


@hard("float16", "bfloat16")
def logit(p, x):
    k = 1 / p.most
    s = p.n("Sigmoid", p.n("Add", p.n("Mul", x, k), 6.5))
    odds = p.n("Div", s, p.n("Sub", 1.0, s))
    return p.n("Div", p.n("Sub", p.n("Log", odds), 6.5), k)


@hard("float16", "bfloat16")
def difference_of_squares(p, x):
    """(x + c)^2 - (x - c)^2 is 4 c x."""
    c = p.pick(40, 90) * p.rms
    k = 40 / (p.most + c)
    a, b = p.n("Mul", p.n("Add", x, c), k), p.n("Mul", p.n("Sub", x, c), k)
    return p.n("Div", p.n("Sub", p.n("Mul", a, a), p.n("Mul", b, b)), 4 * c * k * k)


@hard("float16", "bfloat16")
def variance_of_the_far(p, x):
    """The mean of squares less the square of the mean, of numbers that are far from zero."""
    if p.x.shape[-1] < 4:
        return None
    c = p.pick(25, 60) * p.rms
    k = 60 / (p.most + c)
    v = p.n("Mul", p.n("Add", p.n("Abs", x), c), k)
    exact = p.n("Sub", v, p.mean(v))
    right = p.n("Add", p.mean(p.n("Mul", exact, exact)), 1e-3)
    mean = p.mean(v)
    naive = p.n("Add", p.n("Sub", p.mean(p.n("Mul", v, v)), p.n("Mul", mean, mean)), 1e-3)
    return p.n("Mul", x, p.n("Div", naive, right))


@hard("float16", "bfloat16")
def softmax_of_the_far(p, x):
    if p.x.shape[-1] < 4:
        return None
    k = 2 / p.most
    c = 500.0
    far = p.n("Softmax", p.n("Add", p.n("Mul", x, k), c), axis=p.x.ndim - 1)
    near = p.n("Softmax", p.n("Mul", x, k), axis=p.x.ndim - 1)
    return p.n("Mul", x, p.n("Div", far, near))


@hard("float16", "bfloat16")
def angle(p, x):
    """The arc cosine of a cosine near one."""
    k = p.pick(0.02, 0.05) / p.most
    a = p.n("Mul", p.n("Add", p.n("Abs", x), 0.2 * p.most), k)
    back = p.n("Sub", p.n("Div", p.n("Acos", p.n("Cos", a)), k), 0.2 * p.most)
    return p.n("Mul", p.n("Sign", x), back)


@hard("float16", "bfloat16")
def hyperbolic(p, x):
    k = 1 / p.most
    t = p.n("Tanh", p.n("Add", p.n("Mul", x, k), 3.5))
    return p.n("Div", p.n("Sub", p.n("Atanh", t), 3.5), k)


@hard("float16", "bfloat16")
def power_of_one_and_little(p, x):
    k = p.pick(1e-3, 3e-3) / p.most
    y = p.n("Pow", p.n("Add", p.n("Mul", x, k), 1.0), 8.0)
    return p.n("Div", p.n("Sub", p.n("Pow", y, 0.125), 1.0), k)


# Parts of networks, as they are written by hand.

@hard("float16")
def root_mean_square_of_much(p, x):
    k = p.pick(600, 3000) / p.rms
    far, near = p.n("Mul", x, k), p.n("Div", x, p.rms)
    one = p.n("Div", far, p.n("Sqrt", p.mean(p.n("Mul", far, far))))
    return p.n("Mul", p.n("Mul", one, p.n("Sqrt", p.mean(p.n("Mul", near, near)))), p.rms)


@hard("float16")
def root_mean_square_of_little(p, x):
    k = p.pick(3e-5, 2e-4) / p.rms
    far, near = p.n("Mul", x, k), p.n("Div", x, p.rms)
    one = p.n("Div", far, p.n("Sqrt", p.n("Add", p.mean(p.n("Pow", far, 2.0)), 1e-14)))
    return p.n("Mul", p.n("Mul", one, p.n("Sqrt", p.mean(p.n("Mul", near, near)))), p.rms)


@hard("float16")
def logarithm_of_sums(p, x):
    if p.x.shape[-1] < 4:
        return None
    s, c = p.n("Mul", x, 1 / p.most), 11.5
    one = p.n("Sub", p.n("Log", p.sum(p.n("Exp", p.n("Add", s, c)))), c)
    return differ(p, x, one, p.n("Log", p.sum(p.n("Exp", s))))


@hard("float16")
def product_of_matrices(p, x):
    size = p.x.shape[-1]
    if not 4 <= size <= 512:
        return None
    c = p.pick(2e5, 2e6) / p.most
    return p.n("Mul", p.n("MatMul", x, np.eye(size) * c), 1 / c)


@hard("float16", "bfloat16")
def centred_by_a_product(p, x):
    size = p.x.shape[-1]
    if not 4 <= size <= 512:
        return None
    centre = np.eye(size) - 1 / size
    far = p.n("MatMul", p.n("Add", x, p.pick(200, 500) * p.rms), centre)
    return p.n("Add", far, p.mean(x))


@hard("float16")
def batch_of_little_variance(p, x):
    if p.x.ndim < 2:
        return None
    c = p.x.shape[1]
    k = p.pick(1e-6, 1e-5) / p.rms
    y = p.n("BatchNormalization", p.n("Mul", x, k), np.ones(c), np.zeros(c), np.zeros(c), np.full(c, (k * p.rms) ** 2),
            epsilon=1e-16)
    return p.n("Mul", y, p.rms)


@hard("float16", "bfloat16")
def instance_of_the_far(p, x):
    if p.x.ndim < 3 or int(np.prod(p.x.shape[2:])) < 8:
        return None
    c = p.x.shape[1]
    s = p.n("Div", x, p.rms)
    one = p.n("InstanceNormalization", p.n("Add", s, p.pick(200, 500)), np.ones(c), np.zeros(c), epsilon=0.1)
    return differ(p, x, one, p.n("InstanceNormalization", s, np.ones(c), np.zeros(c), epsilon=0.1))


@hard("float16", "bfloat16")
def parts_of_a_norm_far(p, x):
    if p.x.shape[-1] < 8:
        return None

    def norm(s):
        d = p.n("Sub", s, p.mean(s))
        return p.n("Div", d, p.n("Sqrt", p.n("Add", p.mean(p.n("Pow", d, 2.0)), 0.1)))

    s = p.n("Div", x, p.rms)
    return differ(p, x, norm(p.n("Add", s, p.pick(200, 500))), norm(s))


@hard("float16", "bfloat16")
def sine_of_the_far(p, x):
    s = p.n("Mul", x, 1 / p.most)
    return differ(p, x, p.n("Sin", p.n("Add", s, float(2 * np.pi * 64))), p.n("Sin", s))


@hard("float16")
def reciprocal_root_of_little(p, x):
    k = p.pick(1e-10, 1e-9)
    a = p.n("Add", p.n("Abs", p.n("Mul", x, 1 / p.rms)), 0.3)
    one = p.n("Mul", p.n("Reciprocal", p.n("Sqrt", p.n("Mul", a, k))), float(np.sqrt(k)))
    return differ(p, x, one, p.n("Reciprocal", p.n("Sqrt", a)))


@hard("float16")
def logarithm_of_energies(p, x):
    k = p.pick(1e-8, 1e-7)
    a = p.n("Add", p.n("Abs", p.n("Mul", x, 1 / p.rms)), 0.1)
    one = p.n("Sub", p.n("Log", p.n("Mul", a, k)), float(np.log(np.float32(k))))
    return differ(p, x, one, p.n("Log", a))


@hard("float16")
def softplus_by_hand(p, x):
    k = p.pick(12.5, 15) / p.most
    s = p.n("Mul", x, k)
    one = p.n("Log", p.n("Add", p.n("Exp", s), 1.0))
    return p.n("Mul", p.n("Sub", one, p.n("Softplus", p.n("Neg", s))), 1 / k)


@hard("float16")
def length_by_one_operator(p, x):
    if p.x.shape[-1] < 4:
        return None
    k = p.pick(1e5, 3e5) / p.rms / np.sqrt(p.x.shape[-1])
    if k * p.most > 3e4:
        return None
    near = p.n("Add", p.n("Div", x, p.rms), 0.0)
    unit = p.n("Div", p.n("Mul", x, k), p.length(p.n("Mul", x, k)))
    return p.n("Mul", p.n("Mul", unit, p.length(near)), p.rms)


@hard("float16", "bfloat16")
def hyperbolic_cosine_less_one(p, x):
    """log(cosh(a) - 1) of a small a, against its series."""
    a = p.n("Add", p.n("Abs", p.n("Mul", x, p.pick(0.02, 0.05) / p.most)), 0.02)
    one = p.n("Log", p.n("Sub", p.n("Mul", p.n("Add", p.n("Exp", a), p.n("Exp", p.n("Neg", a))), 0.5), 1.0))
    other = p.n("Sub", p.n("Mul", p.n("Log", a), 2.0), float(np.log(2)))
    return differ(p, x, p.n("Mul", one, 0.2), p.n("Mul", other, 0.2))


@hard("float16", "bfloat16")
def difference_of_neighbours(p, x):
    """Sums along an axis that are taken apart again."""
    n = p.x.shape[-1]
    if not 16 <= n <= 512:
        return None
    total = p.n("MatMul", p.n("Add", x, 40 * p.rms), np.triu(np.ones((n, n))))
    before = np.eye(n) - np.eye(n, k=1)
    return p.n("Sub", p.n("MatMul", total, before), 40 * p.rms)


@hard("float16")
def quotient_of_products(p, x):
    k = p.pick(3e-6, 2e-5)
    far = p.n("Mul", p.n("Add", p.n("Abs", p.n("Div", x, p.rms)), 0.5), k)
    return p.n("Mul", x, p.n("Div", p.n("Mul", far, 3e-4), p.n("Mul", far, 3e-4)))


# What vanishes in a few places, and is divided by or has its logarithm taken there.

def little_root(p, s, epsilon=1e-12):
    return p.n("Sqrt", p.n("Add", p.n("Mul", s, s), epsilon))


@hard("float16")
def sign_of_little(p, x):
    """Squares of 2^-13 are below the subnormals, and so is the epsilon: 0 / 0."""
    s = p.n("Mul", x, 2.0**-13 / p.rms)
    return p.n("Mul", p.n("Abs", x), p.n("Div", s, little_root(p, s)))


@hard("float16")
def sign_of_a_few(p, x):
    """The same where only the smallest of many do."""
    s = p.n("Mul", x, p.pick(0.5, 2) / p.rms)
    return p.n("Mul", p.n("Abs", x), p.n("Div", s, little_root(p, s)))


@hard("float16")
def sign_by_reciprocal(p, x):
    s = p.n("Mul", x, p.pick(0.02, 0.2) / p.rms)
    return p.n("Mul", p.n("Abs", x), p.n("Mul", s, p.n("Reciprocal", little_root(p, s))))


@hard("float16")
def sign_by_a_power(p, x):
    s = p.n("Mul", x, p.pick(0.02, 0.2) / p.rms)
    return p.n("Mul", p.n("Abs", x), p.n("Mul", s, p.n("Pow", p.n("Add", p.n("Pow", s, 2.0), 1e-12), -0.5)))


@hard("float16")
def logarithm_of_a_few(p, x):
    """exp(log(x^2 + e) / 2) is |x|."""
    k = p.pick(0.02, 0.2) / p.rms
    s = p.n("Mul", x, k)
    log = p.n("Log", p.n("Add", p.n("Mul", s, s), 1e-12))
    return p.n("Mul", p.n("Mul", p.n("Sign", x), p.n("Exp", p.n("Mul", log, 0.5))), 1 / k)


@hard("float16")
def product_that_vanishes(p, x):
    """The logarithm of a product of parts, each of which is there."""
    a = p.n("Add", p.n("Abs", p.n("Mul", x, 1 / p.most)), 1e-3)
    k = p.pick(3e-4, 2e-3)
    log = p.n("Log", p.n("Mul", p.n("Mul", a, k), p.n("Mul", a, k)))
    other = p.n("Mul", p.n("Add", p.n("Log", a), float(np.log(np.float32(k)))), 2.0)
    # Logarithms are about -14, and off by as much as half a step there.
    return differ(p, x, p.n("Mul", log, 0.03), p.n("Mul", other, 0.03))


def normed(p, s, epsilon):
    d = p.n("Sub", s, p.mean(s))
    return p.n("Div", d, p.n("Sqrt", p.n("Add", p.mean(p.n("Mul", d, d)), epsilon)))


@hard("float16", "bfloat16")
def norm_by_squares(p, x):
    """By the mean of squares less the square of the mean, of numbers that are far from zero."""
    if p.x.shape[-1] < 4:
        return None
    s = p.n("Mul", x, 1 / p.rms)
    far = p.n("Add", s, p.pick(20, 60))
    mean = p.mean(far)
    variance = p.n("Sub", p.mean(p.n("Mul", far, far)), p.n("Mul", mean, mean))
    one = p.n("Div", p.n("Sub", far, mean), p.n("Sqrt", p.n("Add", variance, 1e-3)))
    return differ(p, x, one, normed(p, s, 1e-3))


@hard("float16", "bfloat16")
def norm_by_squares_near(p, x):
    """The same of numbers that are a few deviations from zero."""
    if p.x.shape[-1] < 4:
        return None
    s = p.n("Mul", x, 1 / p.rms)
    far = p.n("Add", s, p.pick(5, 15))
    mean = p.mean(far)
    variance = p.n("Sub", p.mean(p.n("Mul", far, far)), p.n("Mul", mean, mean))
    one = p.n("Div", p.n("Sub", far, mean), p.n("Sqrt", p.n("Add", variance, 1e-5)))
    return differ(p, x, one, normed(p, s, 1e-5))


@hard("float16", "bfloat16")
def deviation_by_squares(p, x):
    """x times a deviation that is computed so, over one that is not."""
    if p.x.shape[-1] < 4:
        return None
    far = p.n("Add", p.n("Mul", x, 1 / p.rms), p.pick(15, 50))
    mean = p.mean(far)
    one = p.n("Sqrt", p.n("Add", p.n("Sub", p.mean(p.n("Mul", far, far)), p.n("Mul", mean, mean)), 1e-4))
    s = p.n("Mul", x, 1 / p.rms)
    d = p.n("Sub", s, p.mean(s))
    other = p.n("Sqrt", p.n("Add", p.mean(p.n("Mul", d, d)), 1e-4))
    return p.n("Mul", x, p.n("Div", one, other))
