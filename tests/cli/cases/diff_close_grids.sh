# --close by the coarser grid: integers exact, half a step of a scale or of printed digits, saturated codes counted apart.
needs python3 -c 'import numpy'
python3 - <<'END_PYTHON'
import numpy as np
rng = np.random.default_rng(35)
# A float32 that is one off an integer, from where float32's own tolerance is as much.
whole = np.array([5, 770001, 1000000, 16777217, -8388609, 0], "i8")
np.save("whole.npy", whole)
np.save("off.npy", np.array([5, 770002, 1000000, 16777216, -8388608, 0], "f4"))
x = rng.normal(0, 1, (4, 3, 50)).astype("f4")
scale = np.float32(0.03)
q = np.clip(np.rint(x / scale), -128, 127).astype("i1")
np.save("x.npy", x); np.save("q.npy", q); np.save("u.npy", (q.astype("i2") + 128).astype("u1"))
wide = np.where(np.abs(x) > 2.5, 3 * x, x)
np.save("wide.npy", wide); np.save("clipped.npy", np.clip(np.rint(wide / scale), -128, 127).astype("i1"))
np.save("shifted.npy", np.clip(np.rint(x / scale) + 1, -128, 127).astype("i1"))
np.save("fake.npy", ((q.astype("i2") + 1) * scale).astype("f4")); np.save("steps.npy", x / scale)
one_off = q.copy(); one_off[2, 1, 7] += 1
np.save("one_off.npy", one_off)
# Ties: half a step to either side.
np.save("ties.npy", np.array([0.5, 1.5, 2.5, -0.5, -2.5, 0.75], "f4"))
np.save("even.npy", np.array([0, 2, 2, 0, -2, 1], "i1"))
np.save("up.npy", np.array([1, 2, 3, 0, -3, 1], "i1"))
np.save("next.npy", np.array([2, 2, 3, 0, -3, 1], "i1"))
scales = np.array([0.03, 0.25, 0.004], "f4")
channels = np.clip(np.rint(x / scales[:, None]), -127, 127)
np.save("channels.npy", channels.astype("i1"))
np.save("kept.npy", np.clip(x, -127 * scales[:, None], 127 * scales[:, None]))
y = np.concatenate([x.reshape(-1), [1e-05, 0.00012345, 123456.7, 1e-38, 3e38, 0]]).astype("f4")
np.save("y.npy", y)
with open("y.json", "w") as file:
    file.write('[\n  { "name" : "y"\n  , "dimensions" : "%d"\n  , "values" : [ %s ]\n  }\n]\n'
               % (len(y), ", ".join("%.6g" % v for v in y)))
z = y.copy(); z[602] *= np.float32(1.00002)
np.save("z.npy", z)
END_PYTHON
try() { btftool diff --close "$@"; echo "exit $?"; }
echo "== integers"
try --show 9 --no-hints off.npy whole.npy
try whole.npy off.npy | tail -n 2
try --ulp 0 --atol 1 off.npy whole.npy
echo "== one scale"
try --actual-scale 0.03 q.npy x.npy
try --golden-scale 0.03 x.npy q.npy
try --actual-scale 0.03,128 u.npy x.npy
try --actual-scale 0.03 --show 0 one_off.npy x.npy
try --actual-scale 0.03 --golden-scale 0.03 --show 0 one_off.npy q.npy
for codes in even up next; do try --actual-scale 1 $codes.npy ties.npy | tail -n 2; done
try --actual-scale 0.03 --atol 1e-3 --show 0 --no-hints q.npy x.npy | tail -n 2
echo "== saturated"
try --actual-scale 0.03 --show 0 clipped.npy wide.npy
try --golden-scale 0.03 --show 0 wide.npy clipped.npy | head -n 2
try --actual-scale 0.03 --max-mismatch 5% clipped.npy wide.npy
btftool diff --close --json --actual-scale 0.03 --show 0 clipped.npy wide.npy | grep -o '"saturated":{[^}]*}\|"scale":[0-9.]*\|"half_step":[a-z]*'
echo "== causes in steps of the scale, with --close and without"
for close in "--close" ""; do
  for codes in shifted q one_off; do btftool diff $close --actual-scale 0.03 $codes.npy x.npy | grep "tensor 0\|why"; done
  btftool diff $close --actual-scale 0.03 clipped.npy wide.npy | grep "tensor 0\|why"
done
btftool diff --actual-scale 0.03 --golden-scale 0.03 shifted.npy q.npy | grep why
btftool diff --golden-scale 0.03 x.npy shifted.npy | grep why
# Nobody says the scale of numbers that were made of codes; whole numbers against floats.
btftool diff fake.npy x.npy | grep why
btftool diff shifted.npy steps.npy | grep why
echo "== scales of a dim, small floats"
try --actual-scale 1:0.03/0.25/0.004 channels.npy kept.npy
try --actual-scale 1:0.03/0.25/0.004 --show 0 channels.npy x.npy
try --actual-scale 1:0.03/0.25/0.005 --show 0 --no-hints channels.npy kept.npy | tail -n 2
btftool -q convert --dtype fp8 --scale auto x.npy fp8.btf
try --dequantize fp8.btf x.npy
btftool diff --close --json --dequantize fp8.btf x.npy >report.json
btftool diff --from-json report.json --close; echo "exit $?"
btftool diff --from-json report.json --atol 1e-9; echo "exit $?"
echo "== text"
try y.json y.npy
try y.npy y.json
try --no-hints y.json z.npy
