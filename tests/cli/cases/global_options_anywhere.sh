# Global options before and after the command; options and operands in any order.
file=$TESTDATA/good/mixed.btf
btftool -j 2 --color never inspect --tensor 2 "$file" >one
btftool inspect "$file" -j2 --color=never --tensor=2 >two
btftool inspect --tensor 2 --jobs 2 "$file" --color never >three
cat one
cmp one two && cmp one three && echo "the same"
btftool --json inspect "$file" 2>&1 | tail -n 1
btftool --tensor=2 inspect "$file" 2>&1; echo "exit $?"
