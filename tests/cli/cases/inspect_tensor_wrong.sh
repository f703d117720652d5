# What chooses no records.
for selection in 300 -301 0-300 5-2 a 1.5 1- , ' 0' 99999999999999999999; do
  btftool inspect --tensor "$selection" "$TESTDATA/good/many.btf"
  echo "[$selection] exit $?"
done
btftool inspect --tensor 0 "$TESTDATA/good/empty.btf"
echo "exit $?"
