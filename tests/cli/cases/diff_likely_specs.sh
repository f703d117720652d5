# Bytes that are no file of tensors: what they may be by their size, where the other side tells the dims.
python3 - <<'END'
open("out.bin", "wb").write(b"\xff" * (1 * 3 * 8 * 8 * 2))
open("lanes.bin", "wb").write(b"\xff" * (8 * 8 * 8 * 2))
open("none.bin", "wb").write(b"\xff" * 77)
END
btftool convert --tensor 0 "$TESTDATA/good/mixed.btf" golden.npy
btftool diff out.bin golden.npy; echo "exit $?"
btftool diff golden.npy out.bin; echo "exit $?"
btftool diff lanes.bin "$TESTDATA/good/mixed.btf"; echo "exit $?"
btftool diff none.bin golden.npy; echo "exit $?"
btftool diff out.bin gone.npy; echo "exit $?"
btftool diff --actual-spec fp16:linear:1x3x8x8 out.bin golden.npy >/dev/null; echo "exit $?"
exit 0
