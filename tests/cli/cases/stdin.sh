# Standard input, as a file and as a pipe.
file=$TESTDATA/good/scalars.btf
btftool inspect - <"$file"
cat "$file" | btftool inspect --values - --tensor -1
cat "$file" | btftool validate -; echo "exit $?"
btftool validate - <"$TESTDATA/bad/layout-rank.btf"; echo "exit $?"
cat "$file" | btftool diff --tensor 0 - "$file"; echo "exit $?"
btftool diff --tensor 0,1 "$file" - <"$file"; echo "exit $?"
cat "$file" | btftool convert - - | cat | cmp - "$file" && echo "pipe to pipe"
btftool convert - out.btf <"$file" && cmp out.btf "$file" && echo "file to file"
btftool convert "$file" - >out.btf && cmp out.btf "$file" && echo "to a redirected file"
printf head >out.btf
btftool convert "$file" - >>out.btf && tail -c +5 out.btf | cmp - "$file" && echo "behind what is there"
btftool convert - - </dev/null 2>/dev/null; echo "exit $?"
