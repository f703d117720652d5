# What trtexec --exportOutput writes: names as they are, bare nan and inf, a sentence among the values.
cat >out.json <<'END'
[
  { "name" : "prob"
  , "dimensions" : "1x3x2"
  , "values" : [ 0.5, nan, -inf, 1e-07, 3, 1.23457e+08 ]
  }
, { "name" : "a "quoted"\path, [x]"
  , "dimensions" : ""
  , "values" : [ -nan ]
  }
, { "name" : "boxes"
  , "dimensions" : "8x4"
  , "values" : [ Final shape is 2x4 reported by the output allocator.
1, 2, 3, 4, 5, 6, 7, 8 ]
  }
, { "name" : "none"
  , "dimensions" : "(0, 4)"
  , "values" : [ ]
  }
]
END
btftool inspect --values out.json
btftool inspect out.json - <out.json | tail -n 4
btftool inspect --tensor boxes --values --input-spec int64 out.json
btftool convert --tensor '!none' out.json out.npz && btftool diff --tensor 'prob,boxes,a*' out.json out.npz; echo "exit $?"
btftool convert --tensor boxes --dtype fp16 --layout khwc8 --unsqueeze 0 out.json boxes.btf && btftool inspect --values boxes.btf
btftool validate out.json
btftool convert out.npz out.json; echo "exit $?"
btftool convert --format trtexec out.npz o; echo "exit $?"
btftool inspect --input-spec fp16 out.json; echo "exit $?"
echo "== what is wrong with a tensor, or with the text, is said"
while IFS= read -r text; do
  printf '%b' "$text" >bad.json
  btftool inspect --values bad.json; echo "exit $?"
  btftool validate bad.json | tail -n 1
done <<'TEXTS'
[ { "name" : "x", "dimensions" : "3", "values" : [ 1, 2 ] } ]
[ { "name" : "x", "dimensions" : "3", "values" : [ 1, , 3 ] } ]
[ { "name" : "x", "dimensions" : "1", "values" : [ \x01 ] } ]
[ { "name" : "x", "dimensions" : "1", "values" : [ 1e999 ] } ]
[ { "name" : "x", "dimensions" : "1", "values" : [ 1,5 ] } ]
[ { "name" : "x", "dimensions" : "-1x3", "values" : [ 1 ] } ]
[ { "name" : "x", "dimensions" : "4294967296x4294967296x4", "values" : [ 1 ] } ]
[ { "name" : "x", "dimensions" : "2", "values" : [ 1, 2
[ { "name" : "x", "dimensions" : "2", "values" : [ 1, 2 ] }
[ { "name" : "x", "dimensions" : "2", "values" : [ 1, 2 ] } ] garbage
[ { "name" : "x", "values" : [ 1, 2 ] } ]
[ { "name" : "conv1", "timeMs" : 3.5, "values" : 1 } ]
TEXTS
exit 0
