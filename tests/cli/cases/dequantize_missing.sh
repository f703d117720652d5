# Codes whose scales are not found are not compared with numbers, and what could not be measured is said.
btftool convert -q --tensor 0,1 "$TESTDATA/layers/golden.npz" numbers.npz
btftool convert -q --tensor 0 --dtype int8 --scale 0.05 numbers.npz codes.npz
btftool convert -q --tensor 1 numbers.npz rest.npz
btftool convert -q codes.npz rest.npz alone.npz
btftool -q diff --dequantize alone.npz numbers.npz; echo "exit $?"
btftool -q convert --dequantize alone.npz back.npz; echo "exit $?"
btftool layers --dequantize alone.npz numbers.npz; echo "exit $?"
btftool layers --dequantize --json alone.npz numbers.npz 2>/dev/null >report.json; echo "exit $?"
grep -o '"unjudged":[^]]*]' report.json
btftool layers --dequantize --pairs alone.npz numbers.npz 2>/dev/null; echo "exit $?"
btftool layers --from-json report.json >/dev/null; echo "exit $?"
btftool layers --dequantize --junit report.xml alone.npz numbers.npz >/dev/null 2>&1; echo "exit $?"
grep -o 'errors="[0-9]*"' report.xml | head -n 1
# Codes against codes say nothing either: asked for and not found is trouble, as in convert.
btftool diff --dequantize codes.npz codes.npz; echo "exit $?"
# In a directory the others are compared all the same.
mkdir actual golden
btftool convert -q codes.npz actual/a.npy
btftool convert -q rest.npz actual/b.npy
btftool convert -q --tensor 0 numbers.npz golden/a.npy
btftool convert -q --tensor 1 numbers.npz golden/b.npy
btftool diff --dequantize actual golden; echo "exit $?"
# Without --dequantize layers fits a scale, and says so.
btftool layers codes.npz numbers.npz | grep -A 1 scales
