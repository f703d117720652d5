for size in 16M 1GiB 16777216; do btftool --max-memory $size inspect "$TESTDATA/good/mixed.btf" >/dev/null || echo "$size: $?"; done
for size in 15M 64kb -1 x 1e9 "" 99999999999999999999; do btftool inspect --max-memory "$size" "$TESTDATA/good/mixed.btf"; done
btftool --max-memory 16M --max-memory 1G inspect "$TESTDATA/good/mixed.btf"
