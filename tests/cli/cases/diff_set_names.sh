# Tolerances by the names of tensors; of several that match the last counts, and numbers go before names.
needs python3 -c 'import numpy'
python3 - <<'END'
import numpy as np
golden = {"conv1": np.full(4, 1.0, "f4"), "conv2": np.full(4, 1.0, "f4"), "fc": np.full(4, 1.0, "f4"), "conv:0": np.ones(2, "f4")}
np.savez("golden.npz", **golden)
np.savez("actual.npz", **{name: value * np.float32(1.005) for name, value in golden.items()})
END
same() { btftool diff --no-hints --json "$@" actual.npz golden.npz >report.json; echo "exit $?"; python3 - <<'END'
import json
print(*(f"{t['name']} {t['result']} {t['tolerance']['rtol']:g}/{t['tolerance']['atol']:g}/{t['tolerance']['ulp']}" for t in json.load(open("report.json"))["tensors"]), sep=", ")
END
}
same --rtol 'conv*=1e-2'
same --rtol '1e-2,conv[12]=1e-3'
same --rtol '*=1e-2' --rtol 'conv*=1e-3,conv2=2e-2'
same --rtol 'conv*=1e-3,0=1e-2'
same --rtol '*=1e-2,@conv:0=0' --atol 'fc=1'
same --ulp 'fc:100000' --rtol 1e-2
echo "== on the screen, and in a saved report"
btftool diff --no-hints --show 0 --rtol '1e-3,conv*=1e-2' actual.npz golden.npz | tail -n 4
btftool diff --json actual.npz golden.npz >report.json
btftool diff --from-json report.json --rtol '1e-3,conv*=1e-2' | tail -n 3
echo "== wrong"
for words in 'nothing*=1' 'conv[=1' '=1' 'conv*=-1' 'conv*=x' 'conv*'; do
  btftool diff --rtol "$words" actual.npz golden.npz >out; echo "exit $? $(wc -l <out)"
done
btftool diff --from-json report.json --rtol 'nothing*=1'; echo "exit $?"
mkdir a g; cp actual.npz a/x.npz; cp golden.npz g/x.npz
btftool diff --rtol 'nothing*=1' a g; echo "exit $?"
exit 0
