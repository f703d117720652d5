# Files are paired by place, by name without its ending, and what is left by the names of tensors.
mkdir -p d/sub
cp "$TESTDATA/good/mixed.btf" d/
for name in fc10 fc2; do cp "$TESTDATA/npy/int16.f.big.v1.npy" d/sub/$name.npy; done
btftool convert --format npy --exclude 'mixed#3' d arrays/
rm arrays/*.btf 2>/dev/null
btftool convert d/sub/fc2.npy arrays/sub/fc2.btf && rm arrays/sub/fc2.npy
btftool diff d arrays; echo "exit $?"
btftool diff arrays d | tail -n 1
btftool diff --tensor 'mixed#1,sub/fc2' d arrays; echo "exit $?"
btftool diff --tensor nothing d arrays; echo "exit $?"
btftool diff --json d arrays >report.json; echo "exit $?"
grep -o '{"name":"[^"]*","actual":[^,]*,"golden":[^,]*,"result":"[a-z]*"' report.json
btftool diff --from-json report.json | tail -n 1
btftool diff --json --json-schema 1 d arrays >old.json
grep -o '{"path":"[^"]*","result":"[a-z]*"' old.json
btftool diff --from-json old.json | tail -n 1
btftool diff --json-schema 1 d arrays; echo "exit $?"
echo "== which belong together"
mkdir one two
cp d/mixed.btf one/a.btf; cp d/mixed.btf one/a; cp d/mixed.btf two/a.raw
btftool diff one two; echo "exit $?"
echo "== nothing to compare"
rm -r one two; mkdir one two
for side in one two; do cp "$TESTDATA/good/empty.btf" $side/e.btf; done
btftool diff one two; echo "exit $?"
btftool diff --json one two | grep -o '"result":"trouble"' | head -n 1
for side in one two; do cp "$TESTDATA/good/mixed.btf" $side/m.btf; done
btftool diff one two; echo "exit $?"
echo "== specs hold for every file, beside tolerances of single tensors"
mkdir x y
printf '\x00\x3c\x00\x40' >x/a.bin; printf '\x01\x3c\x00\x40' >y/a.bin
btftool diff --actual-spec fp16:2 --golden-spec fp16:2 --rtol 0=1e-2 x y; echo "exit $?"
