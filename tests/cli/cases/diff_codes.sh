# Codes against the numbers that they stand for: scales of the command line, of links, behind the data; NumPy says what is equal.
needs python3 -c 'import numpy'
python3 - <<'END'
import numpy as np
rng = np.random.default_rng(7)
q = rng.integers(-128, 128, (3, 4, 5)).astype("i1")
np.save("q.npy", q)
np.save("x.npy", ((q.astype("f8") - 3) * 0.05).astype("f4"))
scales, zeros = np.array([0.02, 0.5, 0.125, 3.0]), np.array([1, 0, -7, 100])
np.save("channels.npy", (q.astype("f8") - zeros[:, None]) * scales[:, None])
near = q.astype("f8"); near[1, 2, 3] += 1.4; near[2, 0, 0] -= 2.6    # in steps of the scale
np.save("near.npy", (near - 3) * 0.05)
np.save("float.npy", rng.standard_normal((3, 4, 5)).astype("f4"))
END
btftool diff --actual-scale 0.05,3 --rtol 1e-6 q.npy x.npy; echo "exit $?"
btftool diff --golden-scale 0.05,3 --rtol 1e-6 x.npy q.npy; echo "exit $?"
btftool diff --actual-scale 1:0.02,1/0.5/0.125,-7/3,100 q.npy channels.npy; echo "exit $?"
btftool diff --actual-scale 0.05,3 --golden-scale 0.05,3 q.npy q.npy; echo "exit $?"
echo "== steps of the scale"
btftool diff --actual-scale 0.05,3 --ulp 3 q.npy near.npy; echo "exit $?"
btftool diff --actual-scale 0.05,3 --ulp 0 q.npy near.npy; echo "exit $?"
btftool diff --json --actual-scale 0.05,3 --ulp 2 q.npy near.npy | grep -o '"codes":"[a-z0-9]*"\|"mismatched":[0-9]*,\|"max_ulp":[0-9]*'
btftool diff --json --actual-scale 0.05,3 --ulp 2 q.npy near.npy >report.json; btftool diff --from-json report.json --ulp 3
btftool diff --actual-scale 1:0.02,1/0.5/0.125,-7/3,100 --ulp 1 q.npy channels.npy; echo "exit $?"
echo "== layouts, other dims"
btftool -q convert --layout chw4 q.npy q.btf
btftool diff --actual-scale 0.05,3 --rtol 1e-6 q.btf x.npy
btftool -q convert --permute 2,0,1 q.npy p.npy
btftool diff --actual-scale 0.05,3 --rtol 1e-6 --permute 1,2,0 p.npy x.npy
btftool diff --actual-scale 0.05,3 --rtol 1e-6 p.npy x.npy
btftool diff --actual-scale 1:0.02,1/0.5/0.125,-7/3,100 --permute 1,2,0 p.npy channels.npy; echo "exit $?"
echo "== scales in the file"
for how in "--scale auto" "--scale auto --scale-axis 1" "--scale auto --zero-point auto"; do
  btftool -q convert --dtype int8 $how float.npy codes.btf
  btftool -q convert --dequantize --zero-point auto codes.btf back.npy 2>/dev/null || btftool -q convert --dequantize codes.btf back.npy
  btftool diff --dequantize --atol 1e-7 codes.btf back.npy; echo "exit $?"
  btftool diff --dequantize --atol 0.02 codes.btf float.npy | tail -n 1
done
btftool -q convert --dtype int8 --scale auto --format btf float.npy --rename float=weights linked.btf
btftool inspect --json linked.btf | grep -o '"name":"[^"]*"'
btftool diff --dequantize --ulp 0 linked.btf float.npy
btftool diff --dequantize float.npy linked.btf | tail -n 1
btftool diff --dequantize q.npy q.npy; echo "exit $?"
btftool -q convert --block-scale mxfp8 float.npy blocks.btf
btftool -q convert --dequantize blocks.btf back.npy
btftool diff --dequantize blocks.btf back.npy; echo "exit $?"
btftool diff --dequantize --tensor 0 "$TESTDATA/good/mixed.btf" "$TESTDATA/good/mixed.btf"
echo "== wrong"
for scale in 0 -1 x 1,x 1,2,3 :1 1: 1/2 1:0.1 9:1 nan; do btftool diff --actual-scale $scale q.npy x.npy 2>&1 >/dev/null | head -n 1; done
btftool diff --actual-scale 0.5 float.npy float.npy; echo "exit $?"
btftool diff --actual-scale 0.5 --from-json report.json; echo "exit $?"
exit 0
