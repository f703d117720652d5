# Unknown names are answered with the known ones.
btftool convert --layout hwc9 "$TESTDATA/good/mixed.btf" out.btf; echo "exit $?"
btftool convert --dtype float7 "$TESTDATA/good/mixed.btf" out.btf; echo "exit $?"
ls -A
