# Dims that differ by ones, by their order or by flattening: compared when asked, hinted when not.
needs python3 -c 'import numpy'
python3 - <<'END'
import numpy as np
x = np.arange(2 * 3 * 4 * 5, dtype="f4").reshape(2, 3, 4, 5)
for name, array in {"x": x, "nhwc": x.transpose(0, 2, 3, 1).copy(), "flat": x.reshape(2, 60), "other": x.reshape(2, 60) + np.float32(0.25),
                    "ones": x.reshape(1, 2, 3, 4, 1, 5), "short": x.reshape(-1)[:60], "zeros": np.zeros((4, 3), "f4"), "sorez": np.zeros((3, 4), "f4")}.items():
    np.save(name + ".npy", array)
END
for name in nhwc flat ones other short; do btftool diff $name.npy x.npy; echo "exit $?"; done
echo "== within the tolerance"
btftool diff --atol 0.5 other.npy x.npy
btftool diff --no-hints flat.npy x.npy
btftool diff zeros.npy sorez.npy
echo "== among noise, and what is printed makes the dims equal"
python3 - <<'END'
import numpy as np
r = np.random.default_rng(18)
g = r.standard_normal((1, 3, 24, 20)).astype("f4")
a = (g.transpose(0, 2, 3, 1) + 0.01 * r.standard_normal((1, 24, 20, 3))).astype("f4")
hwc8 = np.zeros((24, 20, 8), "f4")
hwc8[..., :3] = a[0]
small = r.standard_normal((1, 3, 2, 4)).astype("f4")
for name, array in {"gold": g, "last": a, "last3": a[0], "lastflat": a.ravel(), "lastscaled": 2 * a + 0.5, "three": a.transpose(0, 3, 1, 2)[0].copy(), "hwc8": hwc8.ravel(),
                    "else": r.standard_normal((1, 24, 20, 3)).astype("f4"), "small": small, "smallelse": r.standard_normal((1, 2, 4, 3)).astype("f4")}.items():
    np.save(name + ".npy", array)
END
for name in last last3 lastflat lastscaled three hwc8 else; do btftool diff $name.npy gold.npy | sed 's/noise of 0.0[01][0-9]*/noise of 0.01/; s/correlation 0.9999[0-9]*/correlation 0.9999/; s/, -*0.0[0-9]* as they/, 0.0 as they/'; done
btftool diff smallelse.npy small.npy
btftool diff --squeeze --permute=2,0,1 last3.npy gold.npy | head -1
echo "== asked for"
btftool diff --permute 0,3,1,2 nhwc.npy x.npy; echo "exit $?"
btftool diff --reshape actual flat.npy x.npy; echo "exit $?"
btftool diff --squeeze ones.npy x.npy; echo "exit $?"
btftool diff --squeeze x.npy ones.npy; echo "exit $?"
btftool diff --reshape actual --show 1 --no-hints other.npy x.npy; echo "exit $?"
btftool -q convert --reshape 2,60 --layout coo x.npy coo.btf
btftool -q convert --layout chw4 nhwc.npy chw4.btf
btftool diff --reshape actual coo.btf x.npy
# The dense side's own order has no axis for a dim of 1.
btftool -q convert --reshape 2,60,1 --layout coo x.npy coo1.btf
btftool diff --squeeze flat.npy coo1.btf
btftool diff --reshape actual x.npy coo1.btf
btftool diff flat.npy coo1.btf
btftool diff --permute 0,3,1,2 chw4.btf x.npy
btftool diff --permute 0,3,1,2 --squeeze --reshape actual nhwc.npy flat.npy
echo "== of many, the others are as they are"
mkdir a g; cp nhwc.npy a/x.npy; cp flat.npy a/flat.npy; cp x.npy flat.npy g/
btftool diff --permute 0,3,1,2 a g
btftool diff a g
btftool diff --json a g | grep -o '"hints":\[{[^]]*'
btftool diff -q --junit report.xml --html page.html a g; grep -o 'message="[^"]*"' report.xml; grep -c 'equal after permute' page.html
echo "== wrong"
btftool diff --permute 0,1 nhwc.npy x.npy; echo "exit $?"
btftool diff --permute 0,1,1,2 nhwc.npy x.npy; echo "exit $?"
btftool diff --permute a nhwc.npy x.npy; echo "exit $?"
btftool diff --reshape golden nhwc.npy x.npy; echo "exit $?"
btftool diff --squeeze --from-json report.json; echo "exit $?"
exit 0
