# What becomes of an overflow can be chosen, where the type leaves a choice.
convert() { btftool convert --tensor 4 "$@" "$TESTDATA/good/dtypes.btf" out.btf; echo "[$*] exit $?"; }
convert --overflow ieee --dtype fp8
convert --overflow ieee --dtype e5m2
convert --overflow wrap --dtype int8
convert --overflow saturate --dtype int8 --round up
convert --overflow ieee --dtype int8
convert --overflow ieee --dtype fp4
convert --overflow wrap --dtype fp16
convert --round up --dtype fp16 2>/dev/null
