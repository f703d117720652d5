# Of integers in trtexec's JSON the dtype is said: what float32 does not hold is not rounded to another number.
cat >a.json <<'END'
[
  { "name" : "ids"
  , "dimensions" : "-1x3"
  , "values" : [ Final shape is 2x3 reported by the output allocator.
16777217, 0, 2, 9223372036854775807, -9223372036854775808, 3 ]
  }
, { "name" : "scores"
  , "dimensions" : "2"
  , "values" : [ 0.5, 1.23457e+08 ]
  }
]
END
sed s/16777217/16777216/ a.json >b.json
btftool diff a.json b.json; echo "exit $?"
btftool diff --tensor ids --actual-spec int64 --golden-spec int64 a.json b.json | head -n 1
btftool -q diff --actual-spec 'id*=int64' --golden-spec 'ids=int64' a.json b.json; echo "exit $?"
btftool diff --actual-spec '*=fp32' --actual-spec 'ids=int64' --golden-spec 'ids=int64' a.json a.json | tail -n 1
btftool inspect --values --input-spec 'ids=int64' a.json
btftool inspect --values --tensor 0 --input-spec int64 - <a.json | tail -n 2
btftool validate --input-spec 'ids=int64' a.json
btftool validate a.json; echo "exit $?"
btftool convert --input-spec 'ids=int64' a.json a.npz && btftool diff --golden-spec 'ids=int64' a.npz a.json | tail -n 1
btftool layers --actual-spec 'ids=int64' a.json a.npz | head -n 1
btftool layers --golden-spec 'ids=int64' a.npz a.json | head -n 1
mkdir dump && cp a.json dump
btftool diff --actual-spec 'ids=int64' --golden-spec 'ids=int64' dump dump | tail -n 1
btftool diff --actual-spec 'none=int64' a.json a.npz; echo "exit $?"
btftool inspect --input-spec 'none=int64' a.json; echo "exit $?"
btftool inspect --input-spec 'ids=int64:2x3' a.json; echo "exit $?"
btftool inspect --input-spec int64 --input-spec int32 a.json; echo "exit $?"
echo "== any dtype, which a value fits or not"
while read -r dtype values; do
  printf '[ { "name" : "x", "dimensions" : "%d", "values" : [ %s ] } ]' "$(grep -o , <<<"$values," | wc -l)" "$values" >x.json
  btftool inspect --values --input-spec $dtype x.json | tail -n +3
done <<'VALUES'
fp16 65504, -inf, 0.333252, 5.96046e-08, nan
fp16 1.00048828125, 1.00048828125000000000001
fp16 65520
fp16 2049
bf16 0.333984, 3.38953e+38
fp8 448, -0.015625
fp8 449
e8m0 0.5, 1.17549e-38, 1.70141e+38
e8m0 0
fp4 0.5, -6, 1.5
int4 -8, 7, 1
uint4 16
bool 0, 1
bool 2
uint8 256
uint64 18446744073709551615
int32 1.5
fp64 9007199254740993
fp32 16777216, 1e-50, 0.1
fp32 1e39
fp32 100000000000000000000000000000000000000000
fp32 0.0000000000000000000000000000000000000000000000000000000000000000000000001
VALUES
exit 0
