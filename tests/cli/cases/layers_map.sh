# A map is obeyed: what it names is a pair, and what it cannot pair is said.
golden=$TESTDATA/layers/golden.npz
btftool -q convert "$TESTDATA/layers/healthy.npz" actual.npz
pairs() { btftool layers --map map.txt --pairs "$@"; echo "exit $?"; }
# Names that have a partner of the same name.
printf '/block0/fc1/MatMul_output_0\tinput\ninput\t/block0/fc1/MatMul_output_0\n' >map.txt
pairs actual.npz "$golden" 2>&1 | head -n 3
btftool layers --map map.txt --json actual.npz "$golden" | grep -o '"actual":"input","golden":"[^"]*","tier":"[a-z]*"'
# Sizes that differ are a shape mismatch.
btftool -q convert --slice :,:4 --rename /block0/Add_output_0=small --tensor /block0/Add_output_0 actual.npz small.npz
printf 'small\t/block1/Add_output_0\n' >map.txt
btftool layers --map map.txt --json small.npz "$golden" | grep -o '"actual":"small".*"shape":[^]]*]\|"fault":"shape"'
# Names of no tensor, on either side or on both; patterns that match none, or make none.
printf 'input\tinput\nnope\toutput\noutput\tnope\nnope2\tnope2\n\n/^x/y/\n/^(output)$/the_$1/\n' >map.txt
pairs actual.npz "$golden" 2>&1 >/dev/null
btftool -q layers --map map.txt --json actual.npz "$golden" | grep -o '"warnings":[^]]*]'
btftool layers --map map.txt --json actual.npz "$golden" 2>/dev/null >report.json
btftool layers --from-json report.json --json | grep -o '"warnings":[^]]*]'
# Two names that a pattern makes one; a line goes before a pattern.
printf '/^.block([01]).Add_output_0$/\\/block0\\/Add_output_0/\n' >map.txt
pairs actual.npz "$golden" 2>&1 | grep 'Add_output_0\|map'
printf '/^.block([01]).Add_output_0$/\\/block0\\/Add_output_0/\n/block1/Add_output_0\t/block1/Add_output_0\n' >map.txt
pairs actual.npz "$golden" 2>&1 | grep 'Add_output_0\|map'
# A name twice.
printf 'a\tb\n# and again\na\tc\n' >map.txt; pairs actual.npz "$golden"
printf 'a\tb\nc\tb\n' >map.txt; pairs actual.npz "$golden"
# Nothing of it fits, and nothing is in it.
printf 'a\tb\nc\td\n' >map.txt; pairs actual.npz "$golden"
printf '# nothing\n' >map.txt; pairs actual.npz "$golden" 2>&1 >/dev/null
# What --pairs prints is a map, also where something is missing; the other run goes by it too.
btftool -q convert actual.npz some.npz --rename /block0/Add_output_0=renamed --exclude /block3/Add_output_0
printf 'renamed\t/block0/Add_output_0\n' >map.txt
btftool layers --map map.txt --pairs some.npz "$golden" >whole.txt; grep '^#' whole.txt
btftool layers --map whole.txt --pairs some.npz "$golden" | cmp - whole.txt && echo the same map
btftool layers --map map.txt --baseline some.npz --json some.npz "$golden" | grep -o '"actual":"renamed".*"baseline":[0-9]' | cut -c1-60
# Files of one tensor each.
btftool -q convert --tensor input actual.npz one.npy
btftool -q convert --tensor output "$golden" other.npy
printf 'one\tother\n' >map.txt; pairs one.npy other.npy
printf 'one\tothr\n' >map.txt; pairs one.npy other.npy
