# Two files of which no name is equal: what names have in common makes pairs, and which of it is said.
source=$TESTDATA/good/mixed.btf
# named FILE NAME...: the first tensors of the source, called so.
named() { printf '%s\n' "${@:2}" >list; btftool -q convert --names list --tensor "0-$(($# - 2))" "$source" "$1"; }
named golden.npz xs ys zs
paired() { btftool diff --show 0 "$@" golden.npz; echo "exit $?"; }
echo "== Polygraphy's iterations, DDP's module., a prefix on the other side"
named poly.npz 0/xs 0/ys 0/zs; paired poly.npz
named ddp.safetensors module.xs module.ys module.zs; paired ddp.safetensors | tail -n 4
btftool diff golden.npz ddp.safetensors | tail -n 4
echo "== quantised models, TensorFlow's outputs, trtexec's dumps, a part of the names"
named quantised.npz xs_quantized ys_quantized; paired quantised.npz
named tf.btf xs:0 ys:0 zs:0; paired tf.btf | tail -n 4
named dumps.npz 0001_xs 0002_ys 0003_zs; paired dumps.npz | tail -n 4
named deep.npz net.layer1.conv.w net.layer1.conv.b; named other.npz module.layer1.conv.w module.layer1.conv.b
btftool diff deep.npz other.npz | tail -n 4
echo "== what NumPy calls arr_0; the only tensors; none"
named arr.npz arr_0 arr_1 arr_2; paired arr.npz
named arr.npz arr_0 arr_1; paired arr.npz
named one.npz alpha; named another.npz omega; btftool diff one.npz another.npz
btftool diff --pair-by exact one.npz another.npz; echo "exit $?"
named strangers.npz alpha beta; paired strangers.npz
echo "== two could be meant; names that are nearly so; a size that is another"
btftool -q convert --tensor 0,0,1 "$source" three.btf && printf '0001_xs\n0002_xs\n0003_ys\n' >list
btftool -q convert --names list three.btf twice.npz && paired twice.npz
named typo.npz xs ys zss; paired typo.npz
btftool -q convert --tensor 0/xs --slice 0,:,:4 poly.npz smaller.npz && paired smaller.npz
echo "== what one equal name leaves; and where tiers are not wanted"
named some.npz xs 0002_ys; paired some.npz
paired --pair-by exact poly.npz | tail -n 5
paired --pair-by number poly.npz | tail -n 2
paired --pair-by other poly.npz
echo "== selections and tolerances take the name of either side"
paired --tensor xs,0/zs poly.npz
paired --tensor '!xs,!0/zs' poly.npz
paired --tensor 1 poly.npz
paired --tensor '*,!y*' poly.npz | tail -n 1
paired --tensor nothing poly.npz
# What is selected makes clear what is meant.
named runs.npz 0/xs 0/ys 1/xs; paired runs.npz | tail -n 4; paired --tensor '0/*' runs.npz; paired --tensor 0002_xs twice.npz | tail -n 3
paired --rtol 'xs=1e-3,0/ys=1e-2' poly.npz | tail -n 2
echo "== reports"
btftool diff --json poly.npz golden.npz >report.json
grep -o '"name":"[^"]*","paired_by":"[a-z]*"' report.json
btftool diff --from-json report.json | tail -n 3
sed 's/"paired_by":"prefix"/"paired_by":"guess"/' report.json >wrong.json; btftool diff --from-json wrong.json; echo "exit $?"
btftool diff --json typo.npz golden.npz | grep -o '"note":"[^"]*"'
btftool diff --summary poly.npz golden.npz
btftool -q diff --junit junit.xml --html page.html poly.npz golden.npz; grep -o 'testcase [^>]*xs[^>]*' junit.xml; grep -o '<dt>paired<dd>[^<]*' page.html
sed 's/<[^>]*>//g' page.html | grep -o '0/xs against xs' | head -n 1
