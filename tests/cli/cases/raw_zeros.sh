# Raw bytes that begin with eight zeros are no BTF without tensors: that has 8 bytes, or names behind
# them, or is called .btf. Nor are those whose first eight bytes are a small count by chance.
python3 - <<'END'
import struct
zeros = bytes(8)
open("relu.bin", "wb").write(zeros + struct.pack("<4f", 0, 1.5, 0, 2.25))
open("zeros", "wb").write(bytes(4096))
open("zeros.dat", "wb").write(bytes(9))
open("image.out", "wb").write(bytes(4 * 3 * 32 * 32))
open("called.btf", "wb").write(bytes(24))
open("empty.dat", "wb").write(zeros)
open("sparse.i8", "wb").write(bytes([3, 0, 0, 0, 0, 0, 0, 0, 5]) + bytes(503))
open("ones.i64", "wb").write(struct.pack("<16q", *range(1, 17)))
open("short", "wb").write(b"\1\2\3")
END
all() {
  for command in inspect validate "diff --no-hints" layers; do
    case $command in
      inspect | validate) btftool $command "$1" ;;
      *) btftool $command "$1" "$TESTDATA/good/mixed.btf" ;;
    esac
    echo "$command $1: exit $?"
  done
  rm -f made.btf
  btftool convert "$1" made.btf; echo "convert $1: exit $?"
  [ ! -e made.btf ] || echo "there is made.btf"
}
all relu.bin
for file in zeros zeros.dat image.out sparse.i8 ones.i64 short; do
  btftool inspect $file; echo "inspect $file: exit $?"
done
btftool inspect called.btf empty.dat; echo "exit $?"
btftool inspect - <relu.bin; echo "exit $?"
btftool inspect /dev/zero; echo "exit $?"
head -c 5000000 /dev/zero | btftool convert - made.npy; echo "exit $?"
zstd -q relu.bin called.btf && btftool inspect relu.bin.zst; echo "exit $?"
btftool inspect called.btf.zst; echo "exit $?"
btftool inspect --values --input-spec fp32:6 relu.bin; echo "exit $?"
# Any length, and what a spec says counts.
python3 - "$(command -v btftool)" <<'END'
import random, subprocess, sys
rng = random.Random(35)
for length in range(9, 80):
    data = bytes(8) + rng.choice((bytes(length - 8), rng.randbytes(length - 8)))
    open("any.bin", "wb").write(data)
    run = lambda *words: subprocess.run([sys.argv[1], *words], capture_output=True, text=True)
    refused = run("inspect", "any.bin")
    assert refused.returncode == 2 and not refused.stdout and f": {length} bytes" in refused.stderr, refused
    assert run("inspect", "--input-spec", f"u8:{length}", "any.bin").returncode == 0
END
echo "any length: exit $?"
