# Two 4-bit codes in a byte are no array of 4-bit codes, whoever reads the elements.
npy=$TESTDATA/npy/void_int4.npy
data=$(($(stat -c %s "$npy") - 45))
{ head -c $((data + 20)) "$npy"; printf '\x21\x43'; tail -c 23 "$npy"; } >packed.npy
same=$TESTDATA/npy/void_int4.btf
run() { btftool "$@"; echo "exit $?"; }
run inspect --input-spec int4 packed.npy
run inspect --input-spec int4 --values packed.npy
run inspect --input-spec int4 --stats packed.npy
run inspect --input-spec int4 --at 1,1,1 packed.npy
run inspect --input-spec int4 --at 0,0,0 packed.npy
run convert --input-spec int4 packed.npy out.btf
run convert --input-spec int4 --layout coo packed.npy out.btf
run convert --input-spec uint4 --dtype fp16 packed.npy out.btf
run convert --input-spec fp4 --permute 2,1,0 packed.npy out.btf
run convert --input-spec int4 --scale 0.5 --dtype fp32 packed.npy out.btf
run diff --actual-spec int4 packed.npy "$same"
run diff --golden-spec int4 "$same" packed.npy
run validate --input-spec int4 packed.npy
ls
# How they are read.
tail -c +$((data + 1)) packed.npy | btftool inspect --input-spec int4:90 --slice 38:46 -
# A code with its sign in the high nibble is one.
{ head -c $((data + 20)) "$npy"; printf '\xf9\x09'; tail -c 23 "$npy"; } >signed.npy
run inspect --input-spec int4 --slice 1,1,0:2 signed.npy
run inspect --input-spec uint4 --slice 1,1,0:2 signed.npy
