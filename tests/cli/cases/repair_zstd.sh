# Compressed files: every frame whose checksum holds is used, whatever became of the seek table.
mixed=$TESTDATA/good/mixed.btf
btftool convert --compress "$mixed" mixed.btf.zst
size=$(stat -c %s mixed.btf.zst)
echo '# a frame'
python3 - <<'END'
import struct
data = bytearray(open("mixed.btf.zst", "rb").read())
frames = struct.unpack("<I", data[-9:-5])[0]
table = len(data) - 9 - 12 * frames
at = sum(struct.unpack("<I", data[table + 12 * i:table + 12 * i + 4])[0] for i in range(frames - 1))
data[at + 12] ^= 0x10        # in the last frame
open("frame.btf.zst", "wb").write(data)
data[-1] ^= 1
open("both.btf.zst", "wb").write(data)
data[at:table - 8] = b""     # and the frame is gone altogether
open("gone.btf.zst", "wb").write(data)
END
for name in frame both gone; do
  btftool repair $name.btf.zst $name.btf | sed 's/(.*)/(...)/; s/byte [0-9]*/byte N/g'; echo "exit ${PIPESTATUS[0]}"
  btftool diff -q --tensor 0-2 $name.btf "$mixed"; echo "diff $?"
done
echo '# the table'
head -c $((size - 20)) mixed.btf.zst >no_table.btf.zst
btftool repair no_table.btf.zst no_table.btf; echo "exit $?"
cmp no_table.btf "$mixed"
echo '# one frame that was cut'
python3 - <<'END'
import random, struct
random.seed(1)
records = [struct.pack("<QBB6xQ", 1, 6, 0, n) + random.randbytes(n) for n in (1000, 400000)]
open("large.btf", "wb").write(struct.pack("<3Q", 2, 24, 24 + len(records[0])) + b"".join(records))
END
zstd -qc large.btf | head -c 300000 >plain.btf.zst
btftool repair plain.btf.zst plain.btf; echo "exit $?"
btftool repair --unchecked plain.btf.zst plain.btf; echo "exit $?"
btftool diff -q --tensor 0 plain.btf large.btf; echo "diff $?"
echo '# a bomb: terabytes of zeros behind a file are not looked at'
{ cat "$mixed"; head -c 64M /dev/zero; } | zstd -qc --no-check >bomb.btf.zst
btftool repair bomb.btf.zst bomb.btf; echo "exit $?"
btftool repair --unchecked bomb.btf.zst bomb.btf; echo "exit $?"
echo '# test files'
for file in "$TESTDATA"/zstd/*.zst; do
  name=$(basename "$file" .btf.zst)
  btftool -q repair "$file" out.btf 2>/dev/null; echo "$name: $?"
done
