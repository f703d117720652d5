# Of many tensors a line each, in the order that is given or as people count, within the columns there are.
needs python3 -c 'import numpy'
python3 - <<'END'
import numpy as np
rng = np.random.default_rng(1)
layers = {f"encoder.layers.{i}.attention.self.query_key_value.weight": rng.standard_normal((4, 8)).astype("f4") for i in (10, 2)}
layers |= {"10_conv": np.arange(12, dtype="f4"), "2_conv": np.ones((2, 3, 4), "f4"), "stem": np.ones(5, "f4"), "shape": np.ones((2, 3), "f4")}
np.savez("golden.npz", **layers)
other = dict(layers)
other["2_conv"] = layers["2_conv"] * np.float32(1.25)
other["10_conv"] = layers["10_conv"].copy(); other["10_conv"][3] = 30
other["stem"] = np.array([1, 1, np.nan, np.inf, 1], "f4")
other["shape"] = np.ones((3, 4), "f4")
other["only"] = np.ones(2, "f4")
np.savez("actual.npz", **other)
END
btftool diff actual.npz golden.npz >report; echo "exit $?"
cat report
longest() { python3 -c 'import sys; print("longest line", max(map(len, sys.stdin.read().splitlines())))'; }
longest <report
echo "== columns"
COLUMNS=120 btftool diff --no-hints actual.npz golden.npz | tee report | head -n 8
longest <report
COLUMNS=60 btftool diff --no-hints actual.npz golden.npz | tee report | head -n 8
longest <report
COLUMNS=10 btftool diff --no-hints actual.npz golden.npz | longest
echo "== sorted"
for by in order error cosine; do btftool diff --no-hints --sort $by actual.npz golden.npz | sed -n '2,8s/^\([^ ]* *[^ ]*\).*/\1/p;/^first different/p'; done
echo "== a directory is in natural order, safetensors too"
btftool -q convert --format npy golden.npz golden/; btftool -q convert --format npy --exclude only actual.npz actual/
btftool diff --no-hints actual golden | head -n 7
btftool -q convert --exclude only actual.npz a.safetensors; btftool -q convert golden.npz g.safetensors
btftool diff --no-hints a.safetensors g.safetensors | head -n 7
echo "== an index gives its order"
btftool inspect --manifest golden.npz >manifest.json 2>/dev/null
python3 - <<'END'
import json
m = json.load(open("manifest.json")); m["tensors"].reverse(); json.dump(m, open("manifest.json", "w"))
END
btftool diff --no-hints actual manifest.json | head -n 7
echo "== all of it, and the same of a saved report"
btftool diff --all --no-hints --show 0 actual.npz golden.npz | grep -c 'rmse'
btftool diff --json actual.npz golden.npz >report.json
python3 -c 'import json; print(json.load(open("report.json"))["first_different"])'
btftool diff --from-json report.json | tail -n 2
btftool diff --json golden.npz golden.npz | grep -o '"first_different":[^,]*'
btftool diff golden.npz golden.npz; echo "exit $?"
btftool diff --sort size actual.npz golden.npz; echo "exit $?"
btftool diff --sort error --json actual.npz golden.npz; echo "exit $?"
exit 0
