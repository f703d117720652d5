# The layer list of an engine as a spec: in a manifest, and of outputs that trtexec printed.
cat >engine.json <<'END'
{"Layers": [{"Name": "a", "LayerType": "conv",
  "Inputs": [{"Name": "x", "Dimensions": [1,3,1,2], "Format/Datatype": "Row major linear FP32"}],
  "Outputs": [{"Name": "net/ids", "Dimensions": [2], "Format/Datatype": "Row major linear INT64"},
              {"Name": "half", "Dimensions": [1,4], "Format/Datatype": "Row major linear FP16 format"},
              {"Name": "wide", "Dimensions": [1,3,1,2], "Format/Datatype": "Channel major FP16 format where channel % 8 == 0"},
              {"Name": "open", "Dimensions": [-1,3], "Format/Datatype": "Row major linear FP32"},
              {"Name": "two", "Dimensions": [-1,-1], "Format/Datatype": "Row major linear Int8"}]}],
 "Bindings": ["x", "net/ids", "half", "wide", "open", "two"]}
END
# 1 2 3 of the first place, 4 5 6 of the second, in vectors of 8 halves.
half() { printf '\\x%02x\\x%02x' $(( $1 & 255 )) $(( $1 >> 8 )); }
vector() { for code in "$@" 0 0 0 0 0; do printf "$(half $code)"; done; }
mkdir set
{ vector 0x3c00 0x4000 0x4200; vector 0x4400 0x4500 0x4600; } >set/t7.bin
head -c 24 /dev/zero >set/rows
head -c 6 /dev/zero >set/codes
mv engine.json set
manifest() { printf '{"schema": "btftool/manifest/1", "tensors": [%s]}' "$1" >set/manifest.json; }
manifest '{"name": "wide", "file": "t7.bin", "spec": "@engine.json"},
  {"name": "open", "file": "rows", "spec": "@engine.json"},
  {"name": "two", "file": "codes", "spec": "@engine.json:2x3"}'
btftool inspect set/manifest.json | grep -v '^ #'
btftool convert --tensor wide --layout linear --dtype fp32 set/manifest.json wide.raw && od -An -t f4 wide.raw
btftool inspect --manifest set/manifest.json
cp set/t7.bin set/half.raw
echo "== mistakes"
for entry in '"name": "none", "file": "t7.bin", "spec": "@engine.json"' '"file": "t7.bin", "spec": "@engine.json"' \
             '"name": "wide", "file": "t7.bin", "spec": "@none.json"' '"name": "two", "file": "codes", "spec": "@engine.json"' \
             '"name": "wide", "file": "t7.bin", "spec": "@engine.json:1x4x1x2"' '"name": "wide", "file": "t7.bin", "spec": "@"' \
             '"name": "wide", "file": "t7.bin", "spec": "@t7.bin"' '"name": "wide", "file": "t7.bin", "spec": "@/dev/zero"' \
             '"name": "open", "file": "rows", "offset": 0, "spec": "@engine.json"' '"file": "half.raw", "spec": "@engine.json"'; do
  manifest "{$entry}"
  btftool inspect set/manifest.json || echo "exit $?"
done
echo "== what trtexec printed"
cat >out.json <<'END'
[ { "name" : "net/ids", "dimensions" : "2", "values" : [ 16777217, 3 ] }
, { "name" : "half", "dimensions" : "1x4", "values" : [ 1.00098, 2, 3, 0.333252 ] }
, { "name" : "unknown", "dimensions" : "1", "values" : [ 0.1 ] } ]
END
btftool inspect --values --input-spec @set/engine.json out.json
btftool inspect --values --input-spec @set/engine.json --input-spec "hal*=fp32" out.json | tail -n 4
btftool inspect --input-spec @set/engine.json - <out.json | head -n 1
sed 's/1.00098/1.0015/' out.json >near.json
btftool diff --tensor half --close --actual-spec @set/engine.json near.json out.json | tail -n 1
btftool diff --tensor half --close near.json out.json | tail -n 1
mkdir dumps && cp out.json dumps
btftool inspect --input-spec @set/engine.json dumps | tail -n 3
echo '[ { "name" : "other", "dimensions" : "1", "values" : [ 1 ] } ]' >other.json
btftool inspect --input-spec @set/engine.json other.json || echo "exit $?"
