# The parts of two shards, and what merge says of parts that are no such thing.
mkdir out golden
cp "$TESTDATA/good/mixed_noisy.btf" out/mixed.btf
cp "$TESTDATA/good/mixed.btf" "$TESTDATA/good/scalars.btf" golden
cp "$TESTDATA/good/scalars.btf" out
btftool merge --help
for k in 1 2; do btftool diff --rtol 2e-3 --no-hints --shard $k/2 --part $k.jsonl out golden; echo "exit $?"; done
btftool merge --expect 2 --summary 2.jsonl 1.jsonl; echo "exit $?"
btftool merge -q 2.jsonl 1.jsonl; echo "exit $?"
btftool merge 2.jsonl; echo "exit $?"
btftool merge --expect 3 1.jsonl 2.jsonl; echo "exit $?"
btftool merge golden/mixed.btf; echo "exit $?"
btftool merge 3.jsonl; echo "exit $?"
mv 2.jsonl 2.jsonl.partial
btftool merge 1.jsonl 2.jsonl; echo "exit $?"
btftool diff --rtol 2e-3 --no-hints --resume --shard 2/2 --part 2.jsonl out golden; echo "exit $?"
btftool diff --rtol 3e-3 --no-hints --shard 2/2 --part 2.jsonl out golden; echo "exit $?"
btftool merge 1.jsonl 2.jsonl; echo "exit $?"
btftool merge --summary --json 1.jsonl; echo "exit $?"
btftool merge; echo "exit $?"
btftool diff --shard 0/2 --part 1.jsonl out golden; echo "exit $?"
btftool diff --shard 1/2 out golden; echo "exit $?"
btftool diff --part x --html y out golden; echo "exit $?"
btftool diff --part out out golden; echo "exit $?"
