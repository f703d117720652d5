"""Kinds of networks. `rng` draws what the structure depends on."""

import math

import torch

from precisions import Int8, int8_grid


def residual(net, rng):
    folded = bool(net.seed // 2 % 2)
    width = int(rng.choice([12, 16, 24]))
    x = net.start(2, 3, 16, 16)
    x = net.add("Relu", "stem/relu", [net.conv_norm("stem", x, width, folded)])
    blocks = 10 if folded else 7
    for k in range(blocks):
        scope = f"layer{k}"
        stride = 2 if k in (3, 6) else 1
        channels = width * (1 + (k >= 3) + (k >= 6))
        skip = x
        if stride > 1:
            skip = net.conv_norm(scope + "/down", x, channels, folded, kernel=1, stride=stride)
        y = net.conv_norm(scope + "/a", x, channels, folded, stride=stride)
        y = net.add("Relu", scope + "/relu1", [y])
        y = net.conv_norm(scope + "/b", y, channels, folded)
        y = net.add("Add", scope + "/add", [y, skip])
        x = net.add("Relu", scope + "/relu2", [y])
    net.head(x)


def depthwise(net, rng):
    folded = bool(net.seed // 2 % 2)
    width = int(rng.choice([8, 12, 16]))
    x = net.start(2, 3, 20, 20)
    x = net.add("Clip", "stem/relu6", [net.conv_norm("stem", x, width, folded, stride=2)])
    blocks = 8 if folded else 5
    for k in range(blocks):
        scope = f"features{k}"
        of = net.values[x].shape[1]
        channels = of if k % 3 else of + 4
        y = net.add("Clip", scope + "/relu6a", [net.conv_norm(scope + "/expand", x, 3 * of, folded, kernel=1)])
        y = net.add("Clip", scope + "/relu6b", [net.conv_norm(scope + "/dw", y, 3 * of, folded, depthwise=True)])
        y = net.conv_norm(scope + "/project", y, channels, folded, kernel=1)
        x = net.add("Add", scope + "/add", [y, x]) if channels == of else y
    net.head(x)


def attention(net, scope, x, heads, masked):
    batch, tokens, size = net.values[x].shape
    q = net.heads(scope + "/q", net.linear(scope + "/q", x, size), heads)
    k = net.heads(scope + "/k", net.linear(scope + "/k", x, size), heads)
    v = net.heads(scope + "/v", net.linear(scope + "/v", x, size), heads)
    k = net.add("Transpose", scope + "/kt", [k], permutation=(0, 1, 3, 2))
    s = net.add("MatMul", scope + "/qk", [q, k])
    s = net.add("Mul", scope + "/scale", [s], {"scale": torch.tensor(2.0 / math.sqrt(size / heads))})
    if masked:
        hidden = torch.full((tokens, tokens), -math.inf).triu(1)
        s = net.add("Add", scope + "/mask", [s], {"bias": hidden})
    p = net.add("Softmax", scope + "/softmax", [s])
    y = net.add("MatMul", scope + "/pv", [p, v])
    y = net.add("Transpose", scope + "/back", [y], permutation=(0, 2, 1, 3))
    y = net.add("Reshape", scope + "/merge", [y], shape=(batch, tokens, size))
    return net.linear(scope + "/out", y, size)


def encoder(net, rng):
    size = int(rng.choice([48, 64, 96]))
    x = net.start(2, 24, size)
    for k in range(2):
        scope = f"encoder{k}"
        y = net.norm(scope + "/ln1", x)
        y = attention(net, scope + "/attn", y, 4, masked=bool(net.seed // 2 % 2))
        x = net.add("Add", scope + "/add1", [x, y])
        y = net.norm(scope + "/ln2", x)
        y = net.linear(scope + "/fc1", y, 2 * size)
        y = net.add("Gelu", scope + "/gelu", [y])
        y = net.linear(scope + "/fc2", y, size)
        x = net.add("Add", scope + "/add2", [x, y])
    x = net.norm("final", x)
    x = net.linear("head", x, 32, gain=2.0)
    net.add("Softmax", "softmax", [x])


def decoder(net, rng):
    """As language models are: RMS norm, rotary embedding, gates, and channels that stand out."""
    size = int(rng.choice([64, 96]))
    heads = 4
    x = net.start(1, 32, size)
    angle = torch.outer(torch.arange(32.), 10000 ** (-torch.arange(0, size // heads, 2) / (size // heads)))
    rotary = {"cos": angle.cos(), "sin": angle.sin()}
    loud = torch.ones(size)
    loud[torch.from_numpy(rng.choice(size, 2, replace=False))] = 12.0
    x = net.add("Mul", "embed", [x], {"scale": loud})
    hidden = torch.full((32, 32), -1e9).triu(1) if net.seed // 2 % 2 else torch.full((32, 32), -math.inf).triu(1)
    for k in range(2):
        scope = f"model/layers.{k}"
        y = net.norm(scope + "/norm1", x, "SimplifiedLayerNormalization")
        q = net.heads(scope + "/q", net.linear(scope + "/q", y, size, bias=False), heads)
        q = net.add("RotaryEmbedding", scope + "/q_rot", [q], rotary)
        key = net.heads(scope + "/k", net.linear(scope + "/k", y, size, bias=False), heads)
        key = net.add("RotaryEmbedding", scope + "/k_rot", [key], rotary)
        v = net.heads(scope + "/v", net.linear(scope + "/v", y, size, bias=False), heads)
        key = net.add("Transpose", scope + "/kt", [key], permutation=(0, 1, 3, 2))
        s = net.add("MatMul", scope + "/qk", [q, key])
        s = net.add("Mul", scope + "/scale", [s], {"scale": torch.tensor(2.0 / math.sqrt(size / heads))})
        s = net.add("Add", scope + "/mask", [s], {"bias": hidden})
        p = net.add("Softmax", scope + "/softmax", [s])
        y = net.add("MatMul", scope + "/pv", [p, v])
        y = net.add("Transpose", scope + "/back", [y], permutation=(0, 2, 1, 3))
        y = net.add("Reshape", scope + "/merge", [y], shape=(1, 32, size))
        x = net.add("Add", scope + "/add1", [x, net.linear(scope + "/o", y, size, bias=False)])
        y = net.norm(scope + "/norm2", x, "SimplifiedLayerNormalization")
        gate = net.linear(scope + "/gate", y, 2 * size, bias=False)
        up = net.linear(scope + "/up", y, 2 * size, bias=False)
        sigmoid = net.add("Sigmoid", scope + "/sigmoid", [gate])
        y = net.add("Mul", scope + "/silu", [gate, sigmoid])
        y = net.add("Mul", scope + "/gated", [y, up])
        x = net.add("Add", scope + "/add2", [x, net.linear(scope + "/down", y, size, bias=False)])
    x = net.norm("model/norm", x, "SimplifiedLayerNormalization")
    net.linear("lm_head", x, 128, bias=False)


def quantised(net, rng):
    """Trained with quantisation: both runs round tensors and weights to int8, which is part of the network."""
    width = int(rng.choice([12, 16]))

    def fake(scope, x):
        scale, low, high = int8_grid(net.values[x])
        return net.add("DequantizeLinear", scope, [x], {"scale": scale, "zero": 0, "low": low, "high": high})

    def conv(scope, x, channels, **options):
        x = net.conv_norm(scope, fake(scope + "/q", x), channels, True, **options)
        op = net.ops[-1]
        op.weights["weight"] = Int8().weight(net, op, op.weights["weight"])
        net.values[x] = op.compute([net.values[op.inputs[0]]], op.weights)
        return x

    x = net.start(2, 3, 16, 16)
    x = net.add("Relu", "stem/relu", [conv("stem", x, width)])
    for k in range(5):
        scope = f"block{k}"
        y = net.add("Relu", scope + "/relu1", [conv(scope + "/a", x, width)])
        y = conv(scope + "/b", y, width)
        y = net.add("Add", scope + "/add", [y, x])
        x = net.add("Relu", scope + "/relu2", [y])
    net.head(fake("last", x))


def cancelling(net, rng):
    """A difference of numbers that are nearly the same: what they were rounded by is all the larger there."""
    x = net.add("Relu", "stem/relu", [net.conv_norm("stem", net.start(2, 3, 16, 16), 16, True)])
    for k in range(6):
        scope = f"block{k}"
        y = net.add("Relu", scope + "/relu", [net.conv_norm(scope, x, 16, True)])
        if k == 3:
            small = net.add("Mul", scope + "/small", [y], {"scale": torch.tensor(0.01)})
            y = net.add("Sub", scope + "/sub", [net.add("Add", scope + "/both", [x, small]), x])
            y = net.batch_norm(scope + "/bn", y)
        x = net.add("Add", scope + "/add", [x, y])
    net.head(x)


def outliers(net, rng):
    """A few channels twenty times as large as the others behind a norm, as in large language models."""
    size = 64
    x = net.start(2, 24, size)
    for k in range(5):
        scope = f"block{k}"
        y = net.norm(scope + "/ln", x)
        loud = torch.from_numpy(rng.choice(size, 2, replace=False))
        net.ops[-1].weights["gamma"][loud] *= 20
        net.values[y] = net.ops[-1].compute([net.values[x]], net.ops[-1].weights)
        y = net.linear(scope + "/fc1", y, 2 * size)
        # As trained: what comes in loud is weighed little.
        product = net.ops[-2]
        product.weights["weight"][:, loud] /= 20
        for op in net.ops[-2:]:
            net.values[op.output] = op.compute([net.values[op.inputs[0]]], op.weights)
        y = net.add("Gelu", scope + "/gelu", [y])
        x = net.add("Add", scope + "/add", [x, net.linear(scope + "/fc2", y, size)])
    net.linear("head", x, 32)


KINDS = {"residual": residual, "depthwise": depthwise, "encoder": encoder, "decoder": decoder, "quantised": quantised,
         "cancelling": cancelling, "outliers": outliers}
ORDINARY = [*KINDS][:5]
