# Of many findings some of each kind are shown and the others counted; --all shows them. The counts
# are exact either way, and what is printed of a file does not grow with it.
python3 - <<'END'
import struct
n = 1000
# Every third record offset is past the end, the others are records with odd reserved bytes.
records = [struct.pack("<QBB6sQ4s4x", 1, 0, 0, b"oddity", 4, bytes(4)) for i in range(n)]
start = 8 + 8 * n
table = [start + 40 * i if i % 3 else 1 << 40 for i in range(n)]
with open("many.btf", "wb") as f:
    f.write(struct.pack(f"<Q{n}Q", n, *table) + b"".join(r.ljust(40, b"\0") for r in records))
# One of another kind behind hundreds of the first.
records[-2] = struct.pack("<Q", 256) + records[-2][8:]
with open("one.btf", "wb") as f:
    f.write(struct.pack(f"<Q{n}Q", n, *table) + b"".join(r.ljust(40, b"\0") for r in records))
END
btftool validate many.btf >out; echo "exit $?"
sed -E 's/tensor [0-9]+: byte [0-9]+/tensor N: byte N/' out | uniq -c
btftool validate --all many.btf | sed -E 's/.* (error|warning): tensor.*\[/\1 [/' | sort | uniq -c
btftool validate --strict -q many.btf; echo "exit $?"
btftool validate one.btf | grep -v 'byte [0-9]*: .*\(past-end\|not-zero\)]$'
echo '# json'
for option in --json "--json --all"; do
  btftool validate $option one.btf >out.json
  grep -o '"severity"' out.json | wc -l
  grep -o '"errors":.*' out.json
done
