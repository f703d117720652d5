# What NumPy makes of the description in docs/format.md, with several blocks.
needs python3 -c 'import numpy'
for spec in 2:0x80 4:4 8:5; do
  python3 - "${spec%:*}" "${spec#*:}" <<'PYTHON'
import struct
import sys
import numpy as np

width, dtype = int(sys.argv[1]), int(sys.argv[2], 0)
for count in (131071, 131072, 131073, 300000):
    codes = np.arange(count * width, dtype="u8") * 2654435761 >> 13 & 0xFF
    elements = codes.astype("u1").reshape(count, width)
    blocks = b"".join(elements[at:at + 131072].T.tobytes() for at in range(0, count, 131072))
    for name, layout, data in (("linear", 0, elements.tobytes()), ("shuffled", 192, blocks)):
        record = struct.pack("<QBB6xQ", 1, dtype, layout, count) + data
        with open(f"{name}.{count}.btf", "wb") as out:
            out.write(struct.pack("<QQ", 1, 16) + record + bytes(-len(record) % 8))
PYTHON
  for count in 131071 131072 131073 300000; do
    btftool convert --shuffle linear.$count.btf a.btf && cmp a.btf shuffled.$count.btf
    btftool convert --layout kLINEAR shuffled.$count.btf b.btf && cmp b.btf linear.$count.btf
    btftool -q diff linear.$count.btf shuffled.$count.btf
  done
done
