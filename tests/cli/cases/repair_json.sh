# One document: what became of the file and of each tensor that there is something to say about.
python3 - "$TESTDATA/odd/gap_between_records.btf" "$TESTDATA/good/mixed.btf" <<'END'
import sys
gap, mixed = (bytearray(open(path, "rb").read()) for path in sys.argv[1:])
open("gap.btf", "wb").write(gap)
mixed[16:24] = bytes(8)      # the offset of tensor 1
mixed[2632] = 0xFF           # the rank of tensor 2
open("damaged.btf", "wb").write(mixed)
END
for options in "" --strict; do
  btftool repair --json $options gap.btf out.btf; echo "exit $?"
done
btftool repair --json damaged.btf out.btf; echo "exit $?"
btftool repair damaged.btf out.btf; echo "exit $?"
btftool repair --strict gap.btf out.btf; echo "exit $?"
btftool repair --json "$TESTDATA/good/mixed.btf" out.btf; echo "exit $?"
