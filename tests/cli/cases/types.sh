# Tables, and what explains one row; numbers by hand.
btftool types
for what in int64 uint4 float16 float8_e4m3fn E8M0 fp4; do
  btftool types $what
done
btftool types kHWC8 1x3x2x2
btftool types kCHW4 1x5x1x3
btftool types 'Half(160000,1:8,1600,8)'
btftool types 'Half(160000,1:8,1600,8)' 1x64x100x200
btftool types 'Channel major FP16 format where C % 8 == 0 and H Stride % 32 == 0.' 1x3x2x2
btftool types 'Thirty-two wide channel vectorized row major Int8 format'
btftool types 'Thirty wide channel vectorized row major Int8 format' || echo "exit $?"
btftool types blub || echo "exit $?"
btftool types kHWC8 3 || echo "exit $?"
btftool types kHWC8 1xx || echo "exit $?"
btftool types a b c || echo "exit $?"
btftool types --json fp16 || echo "exit $?"
needs python3 -c ""
btftool types --json | python3 -c 'import json,sys; t=json.load(sys.stdin); print(t["schema"], len(t["dtypes"]), len(t["layouts"])); print([d for d in t["dtypes"] if d["name"] in ("uint64", "bfloat16")])'
