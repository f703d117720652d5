# kDLA_HWC4 with the rows of Orin and of Xavier.
for dla in orin xavier; do
  btftool -q convert --layout kDLA_HWC4 --dla "$dla" --dtype fp16 --tensor 2 "$TESTDATA/good/layouts_f16.btf" out.btf
  btftool inspect --json --strides out.btf
done
btftool convert --dla xavier "$TESTDATA/good/mixed.btf" out.btf; echo "exit $?"
btftool convert --dla thor --layout kDLA_HWC4 "$TESTDATA/good/mixed.btf" out.btf; echo "exit $?"
