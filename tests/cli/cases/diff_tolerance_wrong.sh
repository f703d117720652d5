# What is no tolerance.
file=$TESTDATA/good/mixed.btf
btftool diff --rtol -1 "$file" "$file"; echo "exit $?"
btftool diff "$file" "$file" --atol=x; echo "exit $?"
for value in nan inf -inf -0.1 1e999 0x1 1,5 ' 1' ''; do
  btftool diff --rtol "$value" "$file" "$file" 2>/dev/null; echo "[--rtol $value] exit $?"
  btftool diff "$file" "$file" --atol "$value" 2>/dev/null; echo "[--atol $value] exit $?"
done
