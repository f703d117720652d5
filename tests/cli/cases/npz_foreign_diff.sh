# Arrays of a dtype that only NumPy has are compared by the bytes of their content, not of the file around it.
npz=$TESTDATA/npz
for other in complex complex.other complex.stored complex.other.stored; do
  btftool diff "$npz/complex.npz" "$npz/$other.npz"
  echo "exit $?"
done
btftool diff --codes --tensor x "$npz/complex.npz" "$npz/complex.other.stored.npz"
echo "exit $?"
# A byte of a compressed member that was flipped is trouble also against itself.
python3 - "$npz/complex.npz" <<'PYTHON'
import sys
content = bytearray(open(sys.argv[1], "rb").read())
at = content.rindex(b"PK\1\2", 0, content.rindex(b"PK\1\2")) - 40
content[at] ^= 1
open("flipped.npz", "wb").write(content)
PYTHON
btftool diff flipped.npz flipped.npz
echo "exit $?"
