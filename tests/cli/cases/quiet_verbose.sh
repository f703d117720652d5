# -q leaves errors only, of diff and validate the exit code; JSON is data and stays. -v tells more.
file=$TESTDATA/good/mixed.btf
btftool -q convert --dtype fp16 --layout hwc8 --where-possible "$file" out.btf; echo "exit $?"
btftool -q convert --layout hwc8 "$file" out.btf; echo "exit $?"
btftool convert -v --tensor 2 "$file" out.btf; echo "exit $?"
btftool -q inspect --tensor 2 "$file"; echo "exit $?"
btftool -q validate "$TESTDATA/bad/layout-rank.btf"; echo "exit $?"
btftool -q validate --json "$TESTDATA/good/empty.btf"; echo "exit $?"
btftool diff -q "$file" "$file"; echo "exit $?"
btftool diff --quiet "$TESTDATA/good/mixed_noisy.btf" "$file"; echo "exit $?"
btftool diff -q nothing.btf "$file"; echo "exit $?"
