# int8 codes against golden's numbers, by the scales that their file links.
golden=$TESTDATA/layers/golden.npz
show() { btftool layers --json "$@" >report.json; echo "exit $?"; grep -o '"verdict":{"kind":"[a-z-]*","layer":[^,]*' report.json; grep -o '"paired":[0-9]*' report.json; }
btftool convert -q --dtype int8 --scale auto --zero-point auto "$TESTDATA/layers/healthy.npz" codes.btf
show --dequantize codes.btf "$golden"
# Without them a zero point is an error.
show codes.btf "$golden"
# A wrong scale stays a fault, and the next command knows what the codes stand for.
btftool convert -q "$TESTDATA/layers/healthy.npz" one.npz --tensor 3
btftool convert -q --dtype int8 --scale 0.05 one.npz one.btf
btftool convert -q --tensor 0 one.btf one.npy
btftool convert -q --tensor 3 "$golden" golden.npy
show --actual-scale 0.05 one.npy golden.npy
show --actual-scale 0.08 one.npy golden.npy
btftool layers --actual-scale 0.08 one.npy golden.npy | grep -A 2 next
btftool layers --from-json report.json | grep -A 2 next
# Nothing to scale, and options that do not go together.
show --actual-scale 0.05 "$TESTDATA/layers/healthy.npz" "$golden"
btftool layers --dequantize --from-json report.json; echo "exit $?"
