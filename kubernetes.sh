#!/usr/bin/env bash
# Kubernetes: no cluster here. The manifests are checked against its schema, and their commands run for every index, one
# of them twice because it was killed.
. "$(dirname -- "$0")/common.sh"
has yaml || skip PyYAML
type -P kubernetes-validate >/dev/null || skip kubernetes-validate
engine kubernetes "$1"

for manifest in "$examples"/kubernetes*.yaml; do
  exits 0 kubernetes-validate --strict "$manifest"
done
# Volumes are mounted at the root of a container.
command() {
  python3 - "$examples/$1" "$scratch" <<'PYTHON'
import re
import sys

import yaml

with open(sys.argv[1]) as file:
    spec = yaml.safe_load(file)["spec"]
(container,) = spec["template"]["spec"]["containers"]
assert container["command"][:2] == ["sh", "-c"]
shards = {variable["name"]: variable["value"] for variable in container["env"]}["SHARDS"]
assert spec.get("completions", int(shards)) == int(shards)
print(re.sub(r" /(actual|golden|part)\b", rf" {sys.argv[2]}/\1", container["command"][2]))
PYTHON
}
diff=$(command kubernetes.yaml)
merge=$(command kubernetes_merge.yaml)
mkdir "$scratch/part"
ln -s ../part .

export SHARDS=$shards
for ((index = 0; index < shards; ++index)); do
  for try in 1 2 3; do
    JOB_COMPLETION_INDEX=$index DYING=self sh -c "$diff" 2>"$scratch/diff.txt" && break
    ((try < 3)) || fail "index $index: $(<"$scratch/diff.txt")"
  done
done
[[ -e $DYING_MARK ]] || fail "nothing was killed"
exits "$expected" sh -c "$merge"
same_as_single
