# Behind -- everything is an operand; operands before it stay operands.
cp -- "$TESTDATA/good/scalars.btf" --json
cp -- "$TESTDATA/good/scalars.btf" -q
btftool inspect --tensor 0 -- --json -q; echo "exit $?"
btftool inspect --tensor 0 ./-q -- -q --; echo "exit $?"
btftool validate -q -- --json; echo "exit $?"
btftool convert -q -- -q; echo "exit $?"
btftool convert --tensor 0 -- -q --plain; echo "exit $?"
btftool diff --tensor 0 ./--json -- --plain; echo "exit $?"
ls -A
