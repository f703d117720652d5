# An empty word (an unset variable in quotes) is wrong, and never the same as no word.
file=$TESTDATA/good/mixed.btf
btftool inspect ''; echo "exit $?"
btftool convert "$file" ''; echo "exit $?"
btftool convert '' out.btf; echo "exit $?"
btftool diff "$file" ''; echo "exit $?"
btftool validate "$file" ''; echo "exit $?"
btftool inspect --tensor '' "$file"; echo "exit $?"
btftool convert --tensor '' "$file" out.btf; echo "exit $?"
btftool convert --permute '' "$file" out.btf; echo "exit $?"
for option in --layout --dtype; do
  message=$(btftool convert "$option" '' "$file" out.btf 2>&1); echo "exit $?"
  echo "${message%%;*}"
done
for option in --scale --zero-point; do
  btftool convert "$option" '' --dtype int8 "$file" out.btf 2>/dev/null; echo "$option: exit $?"
done
btftool diff --rtol '' "$file" "$file" 2>/dev/null; echo "--rtol: exit $?"
ls -A
