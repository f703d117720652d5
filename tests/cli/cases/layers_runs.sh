# A third run: what error is usual, and whether watching changed the result.
golden=$TESTDATA/layers/golden.npz
healthy=$TESTDATA/layers/healthy.npz
show() { btftool layers --json "$@" >report.json; echo "exit $?"; grep -o '"verdict":{"kind":"[a-z-]*","layer":[^,]*' report.json; grep -o '"watched":{[^}]*}' report.json; }
show --baseline "$healthy" "$healthy" "$golden"
show --baseline "$healthy" "$TESTDATA/layers/scale.npz" "$golden"
show --baseline "$TESTDATA/layers/scale.npz" "$TESTDATA/layers/scale.npz" "$golden"
btftool -q convert "$healthy" output.npz --tensor output
show --expect-output output.npz "$healthy" "$golden"
show --expect-output output.npz "$TESTDATA/layers/dead_channel.npz" "$golden"
btftool layers --expect-output output.npz "$TESTDATA/layers/dead_channel.npz" "$golden" | grep -A 1 watched
# Each layer was given golden's inputs: none is hidden behind another.
show --isolated "$TESTDATA/layers/dead_channel.npz" "$golden"
grep -o '"roots":\[{"layer":[^,]*' report.json
