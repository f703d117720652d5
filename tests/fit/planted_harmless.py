"""Planted nodes that look as if they failed in a narrow type, and do not."""

import numpy as np

from planting import differ, harmless


@harmless
def scaled(p, x):
    k = p.pick(600, 20000) / p.most
    return p.n("Mul", p.n("Mul", x, k), 1 / k)


@harmless
def small_offset(p, x):
    c = p.pick(0.5, 3) * p.rms
    return p.n("Sub", p.n("Add", x, c), c)


@harmless
def wide_clip(p, x):
    return p.n("Min", p.n("Max", x, -p.pick(1e6, 1e30)), p.pick(1e6, 1e30))


@harmless
def masked_softmax(p, x):
    """A mask that is Inf in the narrow type, which Softmax takes for what it is."""
    if p.x.shape[-1] < 4:
        return None
    mask = np.zeros(p.x.shape[-1])
    mask[::2] = -1e9
    y = p.n("Softmax", p.n("Add", p.n("Mul", x, 1 / p.most), mask), axis=p.x.ndim - 1)
    return p.n("Add", x, p.n("Mul", y, 1e-4 * p.rms))


@harmless
def saturated(p, x):
    far = p.n("Mul", p.n("Abs", x), p.pick(1e6, 1e8) / p.rms)
    return p.n("Add", x, p.n("Mul", p.n("Sub", p.n("Tanh", far), 1.0), 1e-3 * p.rms))


@harmless
def dead_branch(p, x):
    p.n("Exp", p.n("Mul", p.n("Abs", x), 60 / p.most))
    return p.n("Identity", x)


@harmless
def attenuated(p, x):
    c = p.pick(150, 400) * p.rms
    noise = p.n("Sub", p.n("Sub", p.n("Add", x, c), c), x)
    return p.n("Add", x, p.n("Mul", noise, 1e-3))


@harmless
def small_square(p, x):
    k = p.pick(5, 100) / p.most
    s = p.n("Mul", x, k)
    return p.n("Mul", p.n("Mul", p.n("Sign", x), p.n("Sqrt", p.n("Mul", s, s))), 1 / k)


@harmless
def epsilon_beside_much(p, x):
    far = p.n("Add", p.n("Abs", x), p.rms)
    with_eps = p.n("Add", far, 1e-12)
    return p.n("Mul", x, p.n("Div", with_eps, far))


@harmless
def logarithm_of_exponential(p, x):
    k = 5 / p.most
    return p.n("Mul", p.n("Log", p.n("Exp", p.n("Mul", x, k))), 1 / k)


@harmless
def other_of_where(p, x):
    never = p.n("Greater", p.n("Abs", x), 2 * p.most)
    return p.n("Where", never, p.pick(1e6, 1e9), x)


@harmless
def large_weight(p, x):
    """A mean of numbers that are few hundred."""
    k = 400 / p.most
    v = p.n("Mul", p.n("Abs", x), k)
    m = p.n("Add", p.mean(v), 1.0)
    return p.n("Mul", p.n("Div", x, m), m)


@harmless
def drowned(p, x):
    little = p.n("Mul", x, p.pick(1e-7, 1e-6) / p.most)
    return p.n("Add", x, p.n("Mul", little, little))


@harmless
def cubic_in_a_tanh(p, x):
    s = p.n("Mul", x, 60 / p.most)
    cubic = p.n("Add", s, p.n("Mul", p.n("Pow", s, 3.0), 0.045))
    return differ(p, x, p.n("Mul", p.n("Tanh", cubic), 1e-4), p.n("Mul", p.n("Tanh", s), 1e-4))


@harmless
def sigmoid_by_hand(p, x):
    far = p.n("Exp", p.n("Mul", p.n("Abs", x), 20 / p.most))
    return p.n("Add", x, p.n("Mul", p.n("Reciprocal", p.n("Add", far, 1e4)), 1e-3 * p.rms))


@harmless
def joined_with_much(p, x):
    if p.opset < 10:
        return None
    far = p.n("Add", p.n("Abs", x), 1e6)
    both = p.n("Concat", x, far, axis=0)
    return p.n("Slice", both, p.whole([0]), p.whole([p.x.shape[0]]), p.whole([0]))


@harmless
def compared(p, x):
    far = p.n("Mul", x, p.pick(1e5, 1e6) / p.rms)
    return p.n("Where", p.n("Greater", far, 0.0), x, p.n("Identity", x))


@harmless
def divided_by_much(p, x):
    return p.n("Add", x, p.n("Div", x, p.pick(1e6, 1e9)))


@harmless
def exponential_of_the_low(p, x):
    low = p.n("Exp", p.n("Sub", p.n("Neg", p.n("Mul", p.n("Abs", x), 5 / p.most)), 16.0))
    return p.n("Add", x, p.n("Mul", low, p.rms))


@harmless
def ordinary_norm(p, x):
    if p.x.shape[-1] < 8:
        return None
    s = p.n("Div", x, p.rms)
    d = p.n("Sub", s, p.mean(s))
    root = p.n("Sqrt", p.n("Add", p.mean(p.n("Mul", d, d)), 1e-5))
    return p.n("Mul", p.n("Add", p.n("Mul", p.n("Div", d, root), root), p.mean(s)), p.rms)


@harmless
def infinite_limit(p, x):
    return p.n("Where", p.n("Less", x, 1e30), x, p.n("Add", x, 1e30))


@harmless
def exact_integers(p, x):
    return p.n("Add", x, p.n("Mul", p.n("Sub", p.n("Ceil", p.n("Add", p.n("Sign", x), 100.0)), 100.0), 1e-4 * p.rms))


@harmless
def half_of_the_range(p, x):
    k = p.pick(8000, 15000) / p.most
    return p.n("Div", p.n("Mul", x, k), k)


@harmless
def little_times_much(p, x):
    k = p.pick(1e-3, 4e-3)
    return p.n("Mul", p.n("Mul", x, k), 1 / k)



@harmless
def guarded_quotient(p, x):
    """0 / 0 that is not taken."""
    s = p.n("Mul", x, p.pick(0.5, 2) / p.rms)
    root = p.n("Sqrt", p.n("Add", p.n("Mul", s, s), 1e-12))
    sign = p.n("Where", p.n("Less", root, 0.02), 1.0, p.n("Div", p.n("Abs", s), root))
    return p.n("Mul", x, sign)


@harmless
def limited_reciprocal(p, x):
    """1 / 0 that a limit takes."""
    s = p.n("Mul", x, p.pick(0.5, 2) / p.rms)
    inverse = p.n("Min", p.n("Reciprocal", p.n("Add", p.n("Mul", s, s), 1e-8)), 50.0)
    return p.n("Add", x, p.n("Mul", inverse, 1e-5 * p.rms))


@harmless
def root_with_an_ordinary_epsilon(p, x):
    s = p.n("Mul", x, p.pick(0.5, 2) / p.rms)
    root = p.n("Sqrt", p.n("Add", p.n("Mul", s, s), 1e-3))
    return p.n("Mul", p.n("Div", x, root), root)


@harmless
def norm_of_the_near(p, x):
    """By the mean of squares less the square of the mean, of numbers about zero."""
    if p.x.shape[-1] < 8:
        return None
    s = p.n("Mul", x, 1 / p.rms)
    mean = p.mean(s)
    variance = p.n("Sub", p.mean(p.n("Mul", s, s)), p.n("Mul", mean, mean))
    root = p.n("Sqrt", p.n("Add", variance, 1e-2))
    return p.n("Mul", p.n("Add", p.n("Mul", p.n("Div", p.n("Sub", s, mean), root), root), mean), p.rms)
