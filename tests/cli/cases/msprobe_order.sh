# A dump of msprobe itself (PyTorch, one row of a weight is 1.7 times what it should be): its dump.json gives order,
# weights and names, whatever directory of it is named, and an order that is given counts before it.
dump=$TESTDATA/msprobe/tensors
btftool layers $dump/row/step0/rank0 $dump/golden/step0/rank0; echo "exit $?"
echo "== the directory above, the folder of files, and both kinds"
btftool layers $dump/row $dump/golden | head -1
btftool layers $dump/row/step0/rank0/dump_tensor_data $dump/golden/step0/rank0/dump_tensor_data | head -1
btftool layers $dump/row/step0/rank0/dump_tensor_data $dump/golden | head -1
btftool layers $dump/row/step0/rank0/dump.json $dump/golden/step0/rank0/dump.json | head -1
(cd $dump/row/step0/rank0/dump_tensor_data && btftool layers . ../../../../golden | head -1)
echo "== the order is in the report"
btftool layers --json $dump/row $dump/golden >report.json
python3 - <<'END'
import json
report = json.load(open("report.json"))
print({k: report["order"][k] for k in ("source", "path", "doubtful")})
for pair in report["pairs"][:12]:
    print(pair["actual"], pair["role"] or "-", pair["state"])
END
btftool layers --from-json report.json | head -1
echo "== a list counts before it"
printf 'Module.head.Linear.forward.0.output.0\nModule.stem.Linear.forward.0.input.0\n' >list
btftool layers --order list $dump/row $dump/golden | grep -A2 trust
echo "== two ranks: names have their folders"
mkdir -p two/actual two/golden
for side in actual golden; do
  for rank in 0 1; do cp -r $dump/golden/step0/rank0 two/$side/rank$rank; done
done
cp -r $dump/row/step0/rank0/. two/actual/rank1
btftool layers two/actual two/golden | head -1
echo "== and other commands"
btftool diff $dump/row $dump/golden | grep '^different'
btftool inspect $dump/row | head -3
btftool validate $dump/row | grep -vc well-formed
