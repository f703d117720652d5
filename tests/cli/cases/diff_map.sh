# A map of names: what it names is a pair before all else, the rest goes by the tiers.
source=$TESTDATA/good/mixed.btf
named() { printf '%s\n' "${@:2}" >list; btftool -q convert --names list --tensor "0-$(($# - 2))" "$source" "$1"; }
named golden.npz xs ys zs
named actual.npz alpha beta 0003_zs
try() { btftool diff --show 0 --map map.txt "$@"; echo "exit $?"; }
printf '# by hand\nalpha\txs\nbeta\tys\n' >map.txt; try actual.npz golden.npz
printf 'alpha\tys\nbeta\txs\n' >map.txt; try actual.npz golden.npz | head -n 4
named moved.npz net.0.xs net.0.ys net.0.zs
printf '/^net\\.[0-9]+\\.(.*)$/$1/\n' >map.txt; try moved.npz golden.npz | tail -n 4
try --tensor xs moved.npz golden.npz
try --json moved.npz golden.npz | grep -o '"paired_by":"[a-z]*"' | sort | uniq -c
echo "== equal names that the map leaves"
named some.npz xs beta zs; printf 'beta\tys\n' >map.txt; try some.npz golden.npz | tail -n 4
echo "== what pairs nothing"
printf 'alpha\txs\nnothing\tys\n' >map.txt; try actual.npz golden.npz | tail -n 4
printf 'nothing\tys\n' >map.txt; try actual.npz golden.npz
printf '# none\n' >map.txt; try golden.npz golden.npz | tail -n 1
printf '/^net\\.(.*)$/\\1/\n' >map.txt; try moved.npz golden.npz
btftool layers --map map.txt moved.npz golden.npz; echo "exit $?"
printf 'a\tb\na\tc\n' >map.txt; try actual.npz golden.npz
rm map.txt; try actual.npz golden.npz
for by in number exact; do btftool diff --map map.txt --pair-by $by actual.npz golden.npz; echo "exit $?"; done
echo "== directories, and an archive against one"
mkdir dumps reference
for name in alpha beta; do btftool -q convert --tensor $name actual.npz dumps/$name.npy; done
for name in xs ys zs; do btftool -q convert --tensor $name golden.npz reference/$name.npy; done
printf 'alpha\txs\n' >map.txt; try dumps reference
try dumps golden.npz | tail -n 4
printf 'nothing\txs\n' >map.txt; try actual.npz reference
echo "== raw bytes whose dims the map finds"
btftool -q convert --tensor ys --output-spec fp32:16x3x3x3 golden.npz raw.bin
printf 'raw\tys\n' >map.txt; try --actual-spec fp32:16x3x3x3 raw.bin golden.npz | tail -n 4
