# What is gone comes first and is never folded, rounding is one line, totals come last; also with -v, of parts and in JSON.
needs python3 --version
python3 - <<'P'
import struct, zipfile
def npy(values):
    text = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    text = text.ljust(117) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + struct.pack("<%df" % len(values), *values)
with zipfile.ZipFile("many.npz", "w") as many:
    for i in range(60):
        values = [0.1 + i, 2.5, -1e-9, 1.0]
        if i == 57: values[1] = 1e6
        if i in (3, 58): values[2] = float("nan")
        many.writestr(f"w{i:02d}.npy", npy(values))
P
btftool convert --dtype fp16 many.npz out.npz
echo "== -v" >&2
btftool convert -v --dtype fp16 many.npz out.npz 2>all.txt; head -n 2 all.txt >&2; wc -l <all.txt; tail -n 3 all.txt >&2
echo "== int8: clamped, and NaN lost" >&2
btftool convert --dtype int8 --scale 1 many.npz out.npz
echo "== e8m0 has no signs" >&2
btftool convert --tensor w00,w01 --dtype e8m0 many.npz out.btf 2>&1 | tail -n 1
btftool convert -q --json --dtype fp16 many.npz out.npz | grep -o '"losses":.*'
echo "== parts" >&2
mkdir in && for i in 0 1 2; do btftool convert --tensor w0$i many.npz in/$i.npy; done
btftool convert --tensor w57 many.npz in/3.npy
btftool convert --dtype fp16 in whole/
for k in 1 2; do btftool convert --dtype fp16 --shard $k/2 --part $k.part in parts/; done
btftool merge 1.part 2.part
btftool merge --json 1.part 2.part 2>/dev/null | grep -o '"losses":.*'
