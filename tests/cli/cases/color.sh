# Colour on request only: not into a file or a pipe, and NO_COLOR does not overrule --color always.
file=$TESTDATA/good/mixed.btf
btftool --color always diff --tensor 2 "$file" "$file" | cat -v
btftool --color always diff --tensor 2-3 "$file" "$file" | cat -v
btftool --color always diff --show 0 --tensor 0 "$TESTDATA/good/mixed_noisy.btf" "$file" | cat -v | grep -F '^['
btftool --color always validate "$TESTDATA/odd/trailing_bytes.btf" "$TESTDATA/bad/layout-rank.btf" | cat -v
NO_COLOR=1 btftool diff --tensor 2 "$file" "$file" --color always | cat -v
btftool --color never diff --tensor 2 "$file" "$file" | cat -v
btftool --color auto diff --tensor 2 "$file" "$file" | cat -v
