# Never more than a screen, however much differs; --all says it all.
many=$TESTDATA/good/many.btf
btftool -q convert --dtype int8 "$many" clamped.btf
btftool diff clamped.btf "$many" >report; echo "exit $?"
cat report
test "$(wc -l <report)" -le 40 || echo "too long"
btftool diff --all --show 1 --no-hints clamped.btf "$many" >report; echo "exit $?"
grep -c '^tensor .*: same' report
grep -c '^tensor .*: different' report
grep -c 'would pass with' report
tail -n 1 report
# Runs of tensors that are the same take a line, whether something differs or not.
btftool diff "$many" "$many"
btftool convert --tensor 0-99,0,101-199,0,0,0,203-299 "$many" other.btf
btftool diff --show 0 --no-hints other.btf "$many"
