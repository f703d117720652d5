# The picture of a comparison: which tensor is drawn, of which numbers, where it goes, and what cannot be drawn.
good=$TESTDATA/good/mixed.btf noisy=$TESTDATA/good/mixed_noisy.btf
btftool diff --show 0 --no-hints --image worst.png "$noisy" "$good" | tail -2
btftool -q diff --tensor 1 --image tensor.png "$noisy" "$good"; echo "exit $?"
btftool diff --pair 2:2 --image same.png "$noisy" "$good"
btftool -q convert --tensor 0 --permute 0,2,3,1 --layout kLINEAR "$noisy" nhwc.btf
btftool diff --tensor 0 --summary --permute 0,3,1,2 --image permuted.png nhwc.btf "$good"
btftool -q diff --tensor 0 --image direct.png "$noisy" "$good"
cmp permuted.png direct.png && echo "the same picture"
btftool -q convert --tensor 1 --dtype int8 --scale 0.01 "$good" codes.btf
btftool diff --show 0 --pair 0:1 --close --actual-scale 0.01 --image codes.png codes.btf "$good" | tail -1
mkdir a g && cp "$noisy" a/x.btf && cp "$good" a/y.btf && cp "$good" g/x.btf && cp "$good" g/y.btf
btftool diff --summary --image directories.png a g
echo "exit $?"
ls *.png
# Standard output has the PNG alone, or the report and half blocks.
btftool diff --tensor 0 --image - "$noisy" "$good" | cmp - direct.png && echo "the same picture"
btftool diff --tensor 0 --summary --image - --image-as blocks "$noisy" "$good" | tr '\033' '~' | cut -c 1-60 | sed -n '1,2p;$p'
btftool diff --image no.png --pair 0:1 "$good" "$good" | head -1
btftool diff --image no.png --image-at 7 --tensor 0 "$good" "$good"
for words in "--image-at 0,x --image no.png" "--image-at 0" "--image-as sixel" "--image no.png --part p --shard 1/2" "--image no.png --html no.png" "--image $good"; do
  btftool diff $words "$noisy" "$good"
  echo "[$words] exit $?"
done
btftool diff --image no.png --from-json report.json
btftool diff --json --image - "$noisy" "$good"
echo "exit $?"
[ -e no.png ] || echo "no picture"
