# Directories and archives: files by their names, then tensors by equal names, by tiers, by numbers.
source=$TESTDATA/good/mixed.btf
named() { printf '%s\n' "${@:2}" >list; btftool -q convert --names list --tensor "0-$(($# - 2))" "$source" "$1"; }
named golden.npz xs ys zs
mkdir dumps reference
number=0
for name in xs ys zs; do
  btftool -q convert --tensor $name golden.npz "dumps/$(printf %04d $number)_$name.npy"
  btftool -q convert --tensor $name golden.npz "reference/$name.btf"
  number=$((number + 1))
done
echo "== a file and a directory, two directories"
btftool diff dumps golden.npz; echo "exit $?"
btftool diff golden.npz dumps | tail -n 4
btftool diff dumps reference | tail -n 5
btftool diff --summary dumps golden.npz
btftool diff --json dumps golden.npz >report.json; grep -o '"name":"[^"]*","paired_by":"[a-z]*"' report.json
btftool diff --from-json report.json | tail -n 4
btftool diff --tensor xs,0001_ys dumps golden.npz | tail -n 1
btftool diff --tensor '!xs' dumps golden.npz | tail -n 1
btftool diff --tensor 0,2 dumps golden.npz | head -n 3
echo "== files of one name, whose tensors have others"
mkdir one two; named one/run.npz 0/xs 0/ys; named two/run.npz xs ys
btftool diff one two
btftool diff --tensor xs one two | tail -n 2
btftool diff --pair-by exact one two | tail -n 2
echo "== by number"
named strangers.npz alpha beta gamma
btftool diff --pair-by number strangers.npz reference; echo "exit $?"
btftool diff --pair-by number reference strangers.npz | tail -n 1
named two.npz alpha beta
btftool diff --pair-by number two.npz reference | tail -n 4
btftool diff --pair-by number --tensor 1 strangers.npz reference | tail -n 1
printf 'xs' >reference/zzz.npy; btftool diff --pair-by number strangers.npz reference; echo "exit $?"; rm reference/zzz.npy
echo "== none, and a file that has one tensor"
btftool diff strangers.npz reference; echo "exit $?"
btftool diff strangers.npz one; echo "exit $?"
named x.npz 0001_xs; btftool diff x.npz reference | tail -n 5
named unknown.npz alpha; btftool diff unknown.npz reference; echo "exit $?"
mkdir far; btftool -q convert --tensor xs golden.npz far/omega.npy; btftool diff far reference; echo "exit $?"
echo "== scales that files link are no tensors of their own"
btftool -q convert --dtype int8 --scale auto --tensor xs,ys golden.npz codes.btf
btftool -q convert --rename xs=m.xs --rename xs_scale=m.xs_scale --rename ys=m.ys --rename ys_scale=m.ys_scale codes.btf m.btf
btftool diff --dequantize --ulp 0 --tensor xs,ys m.btf golden.npz; echo "exit $?"
btftool diff --dequantize --ulp 0 m.btf golden.npz | tail -n 4
