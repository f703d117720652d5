# The lists of --top-k are kept in memory: more than --max-memory allows is refused before the work, and says how many are allowed.
seq 100000 | head -c 400000 >digits.raw
btftool -q convert --input-spec float32:2x50000 digits.raw wide.btf
btftool -q convert --input-spec int64:50000 digits.raw long.btf
for n in 10 50000 100000000; do btftool --max-memory 16M diff --top-k $n wide.btf wide.btf; echo "exit $?"; done
btftool -q convert --input-spec float32:100000 digits.raw wide.btf
for n in 65536 65537 100000000; do btftool --max-memory 16M diff --top-k $n wide.btf wide.btf; echo "exit $?"; done
btftool --max-memory 16M diff --top-k 32769 long.btf long.btf; echo "exit $?"
btftool --max-memory 32M diff --top-k 100000000 wide.btf wide.btf; echo "exit $?"
