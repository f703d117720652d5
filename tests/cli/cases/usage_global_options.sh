# Wrong values of the options that every command takes.
for words in "-j 0" "-j x" "-j 1025" "--jobs=-1" -j "--color sometimes" --color "--progress maybe" "-q -v"; do
  btftool validate "$TESTDATA/good/empty.btf" $words
  echo "[$words] exit $?"
done
