# Raw dumps: what they hold by globs, the last that matches, and dims from the other side where a spec leaves them out.
needs python3 -c 'import numpy'
python3 - <<'END'
import numpy as np, os
rng = np.random.default_rng(3)
golden = {"conv1": rng.standard_normal((1, 3, 4, 5)), "conv2": rng.standard_normal((1, 9, 2, 2)), "fc1": rng.standard_normal((1, 7)), "flag": rng.standard_normal(())}
golden = {name: value.astype("f2") for name, value in golden.items()}
np.savez("golden.npz", **{name: value.astype("f4") for name, value in golden.items()})
def hwc8(x):
    n, c, h, w = x.shape
    wide = np.zeros((n, h, w, -(-c // 8) * 8), "f2")
    wide[..., :c] = x.transpose(0, 2, 3, 1)
    return wide
os.makedirs("dump"); os.makedirs("golden")
for name, value in golden.items():
    (hwc8(value) if value.ndim == 4 else value).tofile(f"dump/{name}.bin")
    np.save(f"golden/{name}.npy", value.astype("f4"))
END
btftool diff --actual-spec '*=fp16:hwc8' --actual-spec 'f*=fp16:linear' dump golden; echo "exit $?"
btftool diff --actual-spec 'f*=fp16' --actual-spec 'conv?.bin=fp16:khwc8' dump golden | tail -n 1
btftool diff --golden-spec 'f*=fp16' --golden-spec 'conv*=fp16:hwc8' golden dump | tail -n 1
echo "== of one file"
btftool diff --actual-spec fp16:hwc8 dump/conv1.bin golden/conv1.npy
btftool diff --actual-spec fp16 dump/flag.bin golden/flag.npy
btftool diff --actual-spec fp16:hwc8 dump/conv2.bin golden.npz --tensor conv2
btftool diff --actual-spec fp16:hwc8 --pair 0:1 dump/conv2.bin golden.npz
btftool diff --actual-spec fp16:hwc8 dump/conv2.bin golden.npz | tail -n 2
cat dump/conv1.bin | btftool diff --actual-spec fp16:hwc8 --pair 0:0 - golden.npz
echo "== a directory of dumps against one file of arrays"
mkdir set; cp golden.npz set/
btftool diff --actual-spec 'conv*=fp16:hwc8' --actual-spec 'f*=fp16' dump set; echo "exit $?"
echo "== wrong"
btftool diff --actual-spec '*=fp16:hwc8' dump golden 2>&1 | tail -n 4
btftool diff --actual-spec fp16:hwc8 --golden-spec fp16:hwc8 dump/conv1.bin dump/conv1.bin; echo "exit $?"
cp dump/conv1.bin other.bin
btftool diff --actual-spec fp16:hwc8 other.bin golden.npz; echo "exit $?"
btftool diff --actual-spec 'nothing*=fp16' dump golden; echo "exit $?"
for spec in 'x[=fp16' '=fp16' '*=fp99' '*=fp16:coo' 'fp16:1x3:strides=1'; do btftool diff --actual-spec "$spec" dump golden 2>&1 | head -n 1; done
btftool diff --actual-spec fp16 --actual-spec bf16 dump golden; echo "exit $?"
btftool diff --actual-spec 'conv1=fp32:linear' --actual-spec 'conv2=fp16:hwc8' --actual-spec 'f*=fp16' dump golden 2>&1 | head -n 1
exit 0
