# What is called x.bin is BTF if nothing else is said, and that is said.
btftool convert --tensor 0 "$TESTDATA/good/mixed.btf" in.npy
run() { btftool "$@"; echo "exit $?"; }
run convert in.npy out.bin
run inspect out.bin
run convert -q in.npy out.dat
run convert --format btf in.npy said.bin
run convert --format raw in.npy raw.bin
run convert --output-spec fp16:linear:1x3x8x8 in.npy spec.bin
run convert in.npy out.btf
run convert in.npy none
run convert in.npy .hidden
run convert --compress in.npy out.bin.zst
run convert in.npy - | cat >/dev/null
mkdir raws && cp raw.bin raws/a.bin && cp raw.bin raws/b.bin
run convert --input-spec fp32:linear:1x3x8x8 raws made/
run convert --json in.npy out.tensor >/dev/null
