# A file of rules: tolerances by names of tensors, specs by names of files.
needs python3 -c 'import numpy'
python3 - <<'END'
import numpy as np, os
os.makedirs("dump"); os.makedirs("golden")
for name in ("conv1", "conv2", "fc"):
    np.save(f"golden/{name}.npy", np.full(4, 1.0, "f4"))
    np.full(4, 1.125, "f2").tofile(f"dump/{name}.bin")
END
cat >rules.json <<'END'
{"schema": "btftool/rules/1", "comment": "for CI",
 "rules": [
  {"tensor": "*", "actual_spec": "fp16", "rtol": 0.2, "comment": "all of them"},
  {"tensor": "conv*", "rtol": 1e-2, "atol": 0.2},
  {"tensor": "conv2", "atol": 0, "ulp": 1}
 ]}
END
btftool diff --no-hints --show 0 --rules rules.json dump golden; echo "exit $?"
btftool diff --no-hints --show 0 --rules rules.json --rtol 'conv2=0.2' --ulp 'conv2=1000' dump golden; echo "exit $?"
btftool diff --json --rules rules.json dump golden | grep -o '"tolerance":{[^}]*}'
echo "== a saved report by rules"
btftool diff --json --actual-spec fp16 dump golden >report.json
sed 's/"actual_spec": "fp16", //' rules.json >tolerances.json
btftool diff --from-json report.json --rules tolerances.json | head -n 4
btftool diff --from-json report.json --rules rules.json; echo "exit $?"
echo "== wrong"
try() { printf '%s' "$1" >bad.json; btftool diff --rules bad.json dump golden; echo "exit $?"; }
rule() { try "{\"schema\": \"btftool/rules/1\", \"rules\": [{\"tensor\": \"*\", \"actual_spec\": \"fp16\"}, $1]}"; }
try '{"schema": "btftool/rules/2", "rules": []}'
try '{"rules": []}'
try '{"schema": "btftool/rules/1"}'
try '{"schema": "btftool/rules/1", "rules": [], "more": 1}'
try '{"schema": "btftool/rules/1", "rules": [{'
try '[]'
rule '{"tensor": "*", "rtoll": 1}'
rule '{"tensor": "*"}'
rule '{"rtol": 1}'
rule '{"tensor": "", "rtol": 1}'
rule '{"tensor": "x[", "rtol": 1}'
rule '{"tensor": "*", "rtol": -1}'
rule '{"tensor": "*", "rtol": "inf"}'
rule '{"tensor": "*", "rtol": "much"}'
rule '{"tensor": "*", "ulp": 1.5}'
rule '{"tensor": "*", "actual_spec": "fp99"}'
rule '{"tensor": "nothing", "rtol": 1}'
rule '{"tensor": "nothing", "actual_spec": "fp16"}'
rule '7'
rule '{"tensor": "*", "rtol": 1, "rtol": 2}'
btftool diff --rules gone.json dump golden; echo "exit $?"
exit 0
