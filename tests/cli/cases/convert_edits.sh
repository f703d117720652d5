# Dims are permuted, sliced, squeezed, unsqueezed and reshaped in the order of the options; the bytes are those of Python's own
# slices. Element [a, b, c, d] of the input is the number abcd.
needs python3 -c 'import struct'
cat >oracle.py <<'END'
import struct, sys
cells = [[[[a * 1000 + b * 100 + c * 10 + d for d in range(6)] for c in range(1)] for b in range(5)] for a in range(2)]

def flat(x): return [n for y in x for n in flat(y)] if isinstance(x, list) else [x]
def turned(x): return [list(row) for row in zip(*x)]

results = {
    "in": cells,
    "slice": [plane[1:4] for plane in cells],
    "index": [[row[::-2] for row in plane[2]] for plane in cells],
    "squeezed": cells,
    "sliced_then_turned": turned([row[0][:2] for row in cells[1]]),
    "turned_then_sliced": turned([row[0] for row in cells[1]])[:2],
    "reshaped_then_turned": turned([flat(cells)[at:at + 12] for at in range(0, 60, 12)]),
    "turned_then_reshaped": turned([row[0] for row in cells[0]]),
}
sys.stdout.buffer.write(struct.pack(f"<{len(flat(results[sys.argv[1]]))}i", *flat(results[sys.argv[1]])))
END
same() {  # same NAME FILE.raw
  python3 oracle.py "$1" | cmp - "$2" && echo "$1: as it must be"
}
shape() {
  btftool inspect "$1" | tail -n 1
}
python3 oracle.py in >in.raw
btftool convert --input-spec int32:2x5x1x6 in.raw in.btf
btftool convert --input-spec int32:2x5x1x6 --layout chw4 in.raw blocked.btf
btftool convert --input-spec int32:2x5x1x6 --layout coo in.raw sparse.btf
for file in in blocked sparse; do
  echo "== $file"
  run() {  # run NAME OPTION...
    btftool convert --layout linear "${@:2}" $file.btf out.btf && btftool -q convert out.btf out.raw && shape out.btf && same "$1" out.raw
  }
  run slice --slice :,1:4
  run index --slice :,2,:,::-2
  run squeezed --squeeze
  run squeezed --squeeze 2
  run squeezed --squeeze=-2 --unsqueeze -1 --unsqueeze 0
  run sliced_then_turned --slice 1,:,0,:2 --permute 1,0
  run turned_then_sliced --slice 1,:,0 --permute 1,0 --slice :2
  run reshaped_then_turned --reshape 5,-1 --permute 1,0
  run turned_then_reshaped --slice 0 --squeeze --permute 1,0 --reshape 3,-1,2
done
echo "== other options"
btftool convert --slice 1:1 in.btf out.btf
shape out.btf
btftool convert --layout chw4 --slice 0 --unsqueeze 0 in.btf out.btf
shape out.btf
btftool convert --squeeze --dtype int16 --json in.btf out.npy | grep -o '"source_shape":[^a-z]*"shape":[^a-z]*'
head -c 128 out.npy | grep -ao "'shape': ([^)]*)"
btftool convert --slice 1 --squeeze --dtype int8 --scale auto --scale-axis 1 in.btf out.btf
btftool inspect out.btf | tail -n 2
btftool convert --shuffle --permute 1,0,2,3 --reshape -1 in.btf out.btf
shape out.btf
