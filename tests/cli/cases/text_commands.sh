# Numbers in text by a spec: every command, pipes, compressed, dims of the other side, sets, and what is said of what is none.
needs zstd --version
printf '# one line\n0.5, -1.25, 3\n1e-3,nan,inf\n' >x.txt
btftool inspect --input-spec text:fp32:2x3 --values 6 x.txt
btftool inspect --input-spec text:fp32 x.txt
btftool inspect --json --input-spec text:fp16:1x6 x.txt | grep -E '"(format|dtype|shape)"'
btftool convert --input-spec text:fp32:2x3 x.txt x.npy && btftool inspect --values 6 x.npy
cat x.txt | btftool convert --input-spec text:fp32:2x3 --format npy - - | cmp - x.npy; echo "exit $?"
zstd -q x.txt && btftool diff x.txt.zst x.npy --actual-spec text:fp32; echo "exit $?"
zstd -qdc x.txt.zst | btftool diff - x.npy --actual-spec text:fp32; echo "exit $?"
btftool diff x.npy x.txt --golden-spec text:fp32:3x2; echo "exit $?"
btftool diff x.txt x.txt.zst --actual-spec text:fp32 --golden-spec text:fp32; echo "exit $?"
btftool diff x.txt x.txt.zst --actual-spec text:fp32 --golden-spec fp32 2>&1; echo "exit $?"
btftool validate --input-spec text:fp32 x.txt; echo "exit $?"

echo "== Tengine says the shape"
printf 'Shape is {1 2 1 2}, data type is fp32\nBatch 0:\n\tChannel 0:\n\t\t 0.5000 -1.0000 \n\n\tChannel 1:\n\t\t 2.0000  3.0000 \n\n\n' >t.txt
btftool inspect --input-spec text:fp32 --values 4 t.txt
btftool convert --input-spec text:fp32 t.txt t.npy && btftool diff t.txt t.npy --actual-spec text:fp32; echo "exit $?"
btftool inspect --input-spec text:fp32:1x4 t.txt; echo "exit $?"

echo "== sets"
mkdir actual golden
printf '1 2 3 4' >actual/conv1.txt; printf '5\n6\n' >actual/fc.txt
btftool -q convert --input-spec text:fp32:2x2 actual/conv1.txt golden/conv1.npy
btftool -q convert --input-spec text:fp32 actual/fc.txt golden/fc.npy
btftool inspect --input-spec 'conv*=text:fp16:1x4' --input-spec '*fc.txt=text:int8' actual
btftool diff actual golden --actual-spec '*=text:fp32' --pair-by number | tail -n 3; echo "exit ${PIPESTATUS[0]}"
btftool layers actual golden --actual-spec 'conv*=text:fp32:2x2' --actual-spec 'fc*=text:fp32' --json | grep -c '"verdict"'; echo "exit ${PIPESTATUS[0]}"
btftool validate --input-spec text:fp32 actual; echo "exit $?"
echo '{"schema": "btftool/manifest/1", "tensors": [{"file": "actual/fc.txt", "name": "logits", "spec": "text:fp32:1x2"}]}' >m.json
btftool inspect m.json
btftool inspect --manifest --input-spec text:int8 actual/fc.txt

echo "== what is none"
printf '1 2\n3,,4\n' >a.txt; printf '1 2\n3;4\n' >b.txt; printf '1 300\n' >c.txt; printf '1 2 3' >d.txt; : >e.txt
btftool convert --input-spec text:fp32 a.txt out.npy; echo "exit $?"
btftool convert --input-spec text:fp32 b.txt out.npy; echo "exit $?"
btftool convert --input-spec text:uint8 c.txt out.npy; echo "exit $?"
btftool convert --input-spec text:fp32:2x2 d.txt out.npy; echo "exit $?"
btftool convert --input-spec text:fp32 e.txt out.npy; echo "exit $?"
btftool validate --input-spec text:uint8 a.txt b.txt c.txt d.txt e.txt; echo "exit $?"
btftool inspect d.txt; printf '1.25 2.5 3.75 4.5\n' >f.txt; btftool inspect f.txt; echo "exit $?"
btftool inspect --input-spec text:fp32 x.npy; echo "exit $?"
btftool inspect --input-spec text:fp32:hwc8:1x3x2x2 d.txt; echo "exit $?"
btftool inspect --input-spec text:2x2 d.txt; echo "exit $?"
btftool inspect --input-spec text d.txt; echo "exit $?"
btftool convert --output-spec text:fp32:2x3 x.npy out.bin; echo "exit $?"
btftool inspect --input-spec 'no*=text:fp32' d.txt f.txt; echo "exit $?"
btftool inspect --input-spec text:fp32 --input-spec text:fp16 d.txt; echo "exit $?"
printf '1 -1.#IND 3\n' >n.txt; btftool convert --input-spec text:int32 n.txt out.npy; echo "exit $?"
