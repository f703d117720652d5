# Of many tensors each has its line, however many there are, and the first that differs is told in full; --all says it all.
many=$TESTDATA/good/many.btf
btftool -q convert --dtype int8 "$many" clamped.btf
btftool diff clamped.btf "$many" >report; echo "exit $?"
head -n 17 report
tail -n +302 report
btftool diff --all --show 1 --no-hints clamped.btf "$many" >report; echo "exit $?"
grep -c '^  tensor ' report
grep -c '^x tensor ' report
grep -c 'would pass with' report
tail -n 3 report
btftool diff "$many" "$many" | sed -n '1,3p;$p'
btftool convert --tensor 0-99,0,101-199,0,0,0,203-299 "$many" other.btf
btftool diff --show 0 --no-hints other.btf "$many" >report
grep '^x' report
tail -n +302 report
