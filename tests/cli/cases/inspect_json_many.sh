# Of many findings the first are shown and all are counted, as validate has it.
needs python3 -c ''
python3 - <<'EOF'
import struct
count = 1000
records = b"".join(struct.pack("<QBB6xQ", 0, 99 if i != 900 else 0, 99 if i == 900 else 0, 7) for i in range(count))
table = struct.pack("<Q", count) + struct.pack(f"<{count}Q", *(8 + 8 * count + 24 * i for i in range(count)))
open("many.btf", "wb").write(table + records)
EOF
btftool inspect --json many.btf 2>errors >out.json; echo "exit $?"
python3 -c '
import json
file = json.load(open("out.json"))["files"][0]
print(len(file["tensors"]), len(file["findings"]), file["codes"], file["not_shown"])
print(file["findings"][-1])'
