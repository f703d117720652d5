# BTF files that name their tensors: written, read, selected, renamed, dropped, compared, and named wrongly.
names=$TESTDATA/names
btftool inspect "$names/names.btf"
btftool inspect --json --tensor '@1017,/layer1/*' "$names/names.btf" | grep -o '"name":"[^"]*"'
btftool inspect --tensor 1017 "$names/names.btf"; echo "exit $?"
btftool inspect "$names/marks.btf"
btftool inspect "$names/bad-checksum.btf"; echo "exit $?"
btftool inspect --tensor conv1.weight "$names/bad-checksum.btf"; echo "exit $?"
btftool inspect --tensor same "$names/bad-duplicate.btf"; echo "exit $?"
btftool inspect --tensor 4 "$names/bad-dim-larger.btf"; echo "exit $?"
btftool validate "$names"/bad-{version,utf8,duplicate,cut-off,dim-larger,attributes-cycle}.btf; echo "exit $?"
echo "== written"
btftool convert --names drop "$names/names.btf" dropped.btf && cmp dropped.btf "$names/plain.btf"
printf 'a\n\nb\nc\nd\n' >list
btftool convert --names list "$names/names.btf" out.btf && btftool inspect out.btf
btftool convert --names list --tensor 0-2 out.btf no.btf; echo "exit $?"
btftool convert --names drop --rename a=b out.btf no.btf; echo "exit $?"
btftool convert --names nothing out.btf no.btf; echo "exit $?"
btftool convert --names list --tensor 0 out.btf no.npy; echo "exit $?"
btftool convert --rename a=e --tensor 'a,b' out.btf two.btf && btftool inspect two.btf
btftool convert --rename x=y out.btf no.btf; echo "exit $?"
btftool convert --format npy "$names/marks.btf" arrays/ && ls arrays
echo "== compared"
btftool diff two.btf out.btf; echo "exit $?"
btftool diff --tensor a,b two.btf out.btf; echo "exit $?"
btftool diff --pair-by number two.btf out.btf | tail -n 2
btftool diff --pair-by name two.btf dropped.btf; echo "exit $?"
btftool diff --json two.btf out.btf | grep -o '"name":"[^"]*","named":true' | sort -u
echo "== scales"
btftool -q convert --dtype int8 --scale auto --tensor a,b out.btf q.btf && btftool inspect q.btf
btftool convert --tensor '!a_scale' q.btf lost.btf && btftool convert --dequantize --dtype float32 lost.btf no.btf; echo "exit $?"
btftool convert --tensor a_scale,b,a,b_scale q.btf moved.btf && btftool -q convert --dequantize --dtype float32 moved.btf back.btf && btftool diff --rtol 1e-2 back.btf out.btf
