# What is no report, or one with something wrong in it, is trouble; the member is named.
btftool diff --no-hints --json --heatmap --tensor 0 --cosine 1 --quantile 0.5=0 --top-k 1 "$TESTDATA/good/mixed_noisy.btf" "$TESTDATA/good/mixed.btf" >report.json
wrong() { # sed expression
  sed "$1" report.json >wrong.json
  if cmp -s report.json wrong.json; then echo "no change: $1"; fi
  btftool diff --from-json wrong.json; echo "exit $?"
}
{
wrong 's/diff.2/diff\/3/'
wrong 's/"tensors"/"tensor"/'
wrong 's/"tensors":.*/"tensors":[]}/'
wrong 's/"result":"different","reason"/"result":"other","reason"/'
wrong 's/"result":"different","reason"/"result":"missing","reason"/'
wrong 's/\("golden_tensor":{[^}]*"shape":\)\[1,/\1[2,/'
wrong 's/"float32"/"float33"/'
wrong 's/"kLINEAR"/"kCIRCULAR"/'
wrong 's/"compared":192/"compared":"18446744073709551616"/'
wrong 's/"mismatched":3/"mismatched":193/'
wrong 's/"max_abs":[^,]*/"max_abs":"nan"/'
wrong 's/"max_ulp":[^,]*,//'
wrong 's/"nan":{"both":0,"actual":0/"nan":{"both":100,"actual":100/'
wrong 's/"index":\[0,/"index":[1,/'
wrong 's/"actual_code":"0x/"actual_code":"0xff/'
wrong 's/"cosine":[^,]*/"cosine":null/'
wrong 's/"decade":-4/"decade":-400/'
wrong 's/"step":1/"step":0/'
wrong 's/"rows":8/"rows":9/'
wrong 's/"mismatched":\[\[0/"mismatched":[[0,0/'
wrong 's/}$//'
wrong 's/.*/[]/'
} 2>&1
brackets() { head -c 50000 /dev/zero | tr '\0' "$1"; }
brackets '[' | btftool diff --from-json -; echo "exit $?"
{ brackets '['; brackets ']'; } | btftool diff --from-json -; echo "exit $?"
btftool diff --from-json nothing.json; echo "exit $?"
btftool diff --from-json .; echo "exit $?"
btftool diff --json --tensor 1 "$TESTDATA/good/mixed_noisy.btf" "$TESTDATA/good/mixed_noisy.btf" >report.json
wrong 's/"mismatched":0/"mismatched":432/'
wrong 's/"equal_nan":true/"equal_nan":false/g'
wrong 's/"figures":{"pairs":431/"figures":{"pairs":430/'
wrong 's/"figures":{"pairs":431/"figures":{"pairs":433/'
wrong 's/"inf":{"both":0,"opposite":0,"actual":0/"inf":{"both":0,"opposite":432,"actual":0/'
