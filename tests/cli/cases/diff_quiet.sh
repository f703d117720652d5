# -q prints nothing, whatever else is asked for; files are written all the same.
noisy=$TESTDATA/good/mixed_noisy.btf
golden=$TESTDATA/good/mixed.btf
for words in "" --summary --all --heatmap "--show 9" "--rtol 1e-3" "--cosine 0.9" --close; do
  btftool diff -q $words "$noisy" "$golden"; echo "[$words] exit $?"
done
btftool diff -q --junit report.xml "$noisy" "$golden"; echo "exit $?"
grep -c '<failure' report.xml
btftool diff -q "$TESTDATA/bad/file-too-short.btf" "$golden"; echo "exit $?"
