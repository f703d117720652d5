# A report that is judged again has no operands and no tensors.
file=$TESTDATA/good/mixed.btf
btftool diff --from-json report.json "$file"; echo "exit $?"
for words in "--tensor 0" "--pair 0:0" --strict "--include *" "--exclude *" --heatmap; do
  btftool diff --from-json report.json $words; echo "[$words] exit $?"
done
