# --nan: NaN and Inf are errors, with how many there are and the logical index of the first.
python3 - <<'END'
import struct
def record(code, layout, dims, payload):
    r = struct.pack(f"<QBB6x{len(dims)}Q", len(dims), code, layout, *dims) + payload
    return r + bytes(-len(r) % 8)
nan, inf = float("nan"), float("inf")
records = [
    record(4, 0, [2, 3], struct.pack("<6f", 0, 1, -inf, nan, inf, nan)),
    # kHWC8: [3, 1, 2] is stored as [1, 2, 8]; a NaN in its padding is none of its elements.
    record(4, 130, [3, 1, 2], struct.pack("<16f", *[0, 1, 2, nan, 0, 0, 0, 0, 3, inf, 4, 0, 0, 0, 0, 0])),
    # COO, not sorted: NaN at [1, 1] and [0, 2].
    record(5, 2, [2, 3], struct.pack("<2Q6QQ3d", 3, 2, 1, 1, 0, 0, 0, 2, 3, nan, 1, nan)),
    record(130, 0, [3], bytes([0x7F, 0x7E, 0xFF])),          # float8_e4m3fn
    record(132, 0, [2], bytes([0xFE, 0xFF])),                # float8_e8m0fnu
    record(128, 192, [2], bytes([0x00, 0x00, 0x7C, 0x3C])),  # float16, shuffled: Inf, 1
    record(4, 0, [], struct.pack("<f", nan)),
    record(4, 0, [0, 3], b""),
    record(2, 0, [1], struct.pack("<I", 0x7FC00000)),        # int32
    record(133, 0, [3], bytes([0xF7, 0x0F])),                # float4_e2m1fn has neither
]
offsets, at = [], 8 + 8 * len(records)
for r in records:
    offsets.append(at)
    at += len(r)
open("nan.btf", "wb").write(struct.pack(f"<Q{len(records)}Q", len(records), *offsets) + b"".join(records))
END
btftool validate nan.btf; echo "exit $?"
btftool validate --nan nan.btf; echo "exit $?"
btftool validate --nan --json nan.btf | grep -o '"tensor":[0-9]*\|"count":[^}]*'
btftool validate --nan -q "$TESTDATA/good/mixed.btf"; echo "exit $?"
btftool validate --nan "$TESTDATA/good/mixed_noisy.btf"; echo "exit $?"
btftool convert --compress nan.btf nan.btf.zst
btftool validate --nan nan.btf.zst; echo "exit $?"
btftool convert --tensor 0 nan.btf nan.npy
btftool validate --nan nan.npy; echo "exit $?"
