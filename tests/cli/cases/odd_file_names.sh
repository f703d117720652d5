# Control characters of a file name do not reach the terminal, and a message stays one line.
name=$'two\nlines\033[31m.btf'
btftool inspect "$name"; echo "exit $?"
cp "$TESTDATA/good/empty.btf" "$name"
btftool inspect "$name"; echo "exit $?"
btftool inspect --json "$name"; echo "exit $?"
btftool validate "$name"; echo "exit $?"
message=$(btftool convert --layout $'a\nb' "$name" out.btf 2>&1); echo "exit $?"
echo "${message%%;*}"
