# --pair with names, and with numbers through sets.
source=$TESTDATA/good/mixed.btf
named() { printf '%s\n' "${@:2}" >list; btftool -q convert --names list --tensor "0-$(($# - 2))" "$source" "$1"; }
named golden.btf xs ys zs
named actual.npz 7 conv:0 weird*
try() { btftool diff --show 0 --pair "$@"; echo "[$*] exit $?"; }
try @7:xs actual.npz golden.btf
try 7:xs actual.npz golden.btf
try conv:0:ys,0:xs actual.npz golden.btf
try ys:conv:0 golden.btf actual.npz
try 1:ys,-1:-1 actual.npz golden.btf
try 'weird*:zs' actual.npz golden.btf
echo "== wrong"
try 'conv*:ys' actual.npz golden.btf
try nothing:ys actual.npz golden.btf
try @7:nothing actual.npz golden.btf
try conv:1:ys actual.npz golden.btf
named colons.btf a a:b; named more.btf b:c c
try a:b:c colons.btf more.btf
try conv actual.npz golden.btf
try xs: actual.npz golden.btf
for options in "--pair-by exact" "--map list"; do btftool diff --pair @7:xs $options actual.npz golden.btf; echo "exit $?"; done
echo "== directories"
mkdir dumps one two
for name in xs ys zs; do btftool -q convert --tensor $name golden.btf dumps/$name.npy; done
try @7:xs,conv:0:ys actual.npz dumps
try 0:0,2:2 actual.npz dumps
try zs:-1 dumps actual.npz
try @7:nothing actual.npz dumps
cp actual.npz one/x.npz; cp golden.btf two/x.btf
try 0:0 one two
try @7:xs one two
echo "== the dims of raw bytes"
btftool -q convert --tensor ys --output-spec fp32:16x3x3x3 golden.btf raw.bin
btftool diff --actual-spec fp32 --pair 0:ys raw.bin golden.btf; echo "exit $?"
