# An output of the network that has no partner: said first, and the exit code agrees.
golden=$TESTDATA/layers/golden.npz
healthy=$TESTDATA/layers/healthy.npz
graph=$TESTDATA/layers/model.onnx
told() { btftool layers --no-hints "$@" >report.txt; code=$?; head -n 4 report.txt; grep -E '^  (missing|trust)' report.txt; echo "exit $code"; }
btftool -q convert "$healthy" out.npz --rename output=out
told out.npz "$golden"
told --graph "$graph" out.npz "$golden"
btftool layers --json out.npz "$golden" >report.json; grep -o '"kind":"[a-z-]*"\|"missing_outputs":[^]]*]' report.json
btftool layers --from-json report.json | head -n 1
btftool layers --junit report.xml out.npz "$golden" >/dev/null; grep -c '<failure' report.xml
# A map pairs them.
printf 'out\toutput\n' >map.txt
told --map map.txt out.npz "$golden" | head -n 1
# With a graph either side may be the one that lacks it.
btftool -q convert "$golden" short_golden.npz --exclude output
told --graph "$graph" "$healthy" short_golden.npz
# By the last place in files that keep an order, whatever they are called.
btftool -q convert "$healthy" last_a.npz --rename output=zz
btftool -q convert "$golden" last_g.npz --rename output=aa
told last_a.npz last_g.npz | head -n 1
# What was dumped on purpose, without the output: no fault. Nor is a tensor within that only one side has.
btftool -q convert "$healthy" part.npz --tensor '*block0*,*block1*'
told part.npz "$golden" | sed -n '1p;$p'
btftool -q convert "$healthy" within.npz --rename /block1/Add_output_0=other
told within.npz "$golden" | sed -n '1p;$p'
# With --require-all the headline says what the exit code does.
told --require-all within.npz "$golden"
told --require-all part.npz "$golden" | sed -n '1,2p;$p'
# Another fault keeps its headline, and the output is told.
btftool -q convert "$TESTDATA/layers/dead_channel.npz" broken.npz --rename output=out
told broken.npz "$golden" | sed -n '1p;$p'
