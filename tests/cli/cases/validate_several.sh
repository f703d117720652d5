# The worst of several files decides; all are looked at. With --strict warnings count.
good=$TESTDATA/good/mixed.btf odd=$TESTDATA/odd/trailing_bytes.btf bad=$TESTDATA/bad/layout-rank.btf
btftool validate "$good" "$odd"; echo "exit $?"
btftool validate --strict "$good" "$odd"; echo "exit $?"
btftool validate --strict "$TESTDATA/odd/unpadded_last.btf"; echo "exit $?"
btftool validate "$bad" "$good"; echo "exit $?"
btftool validate "$bad" nothing.btf "$good"; echo "exit $?"
btftool validate -q nothing.btf "$bad"; echo "exit $?"
