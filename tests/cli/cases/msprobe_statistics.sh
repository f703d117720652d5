# Dumps of statistics alone (msprobe, task "statistics"): compared by what they have, and the report says so.
stats=$TESTDATA/msprobe/statistics
btftool layers $stats/row $stats/golden; echo "exit $?"
btftool layers $stats/golden $stats/golden; echo "exit $?"
echo "== against a dump with elements, which has statistics too"
btftool layers $TESTDATA/msprobe/tensors/row $stats/golden | head -3
echo "== diff lists what differs"
btftool diff $stats/row/step0/rank0/dump.json $stats/golden/step0/rank0/dump.json; echo "exit $?"
btftool diff $stats/golden $stats/golden; echo "exit $?"
btftool -q diff $stats/row $stats/golden; echo "exit $?"
echo "== checksums alone"
sums=$TESTDATA/msprobe/checksums
btftool layers $sums/row $sums/golden | head -2; echo "exit ${PIPESTATUS[0]}"
btftool layers $sums/golden $sums/golden | head -2; echo "exit ${PIPESTATUS[0]}"
btftool diff $sums/row $sums/golden | head -2; echo "exit ${PIPESTATUS[0]}"
echo "== what needs elements is refused"
btftool layers --baseline $stats/golden $stats/row $stats/golden; echo "exit $?"
btftool diff --rtol 0.1 $stats/row $stats/golden; echo "exit $?"
btftool diff $stats/row $TESTDATA/layers/golden.npz; echo "exit $?"
btftool layers $stats/row $TESTDATA/layers/golden.npz; echo "exit $?"
btftool inspect $stats/row; echo "exit $?"
echo "== the report as JSON, and read back"
btftool layers --json $stats/row $stats/golden >report.json
python3 -c 'import json; r = json.load(open("report.json")); print(r["statistics_only"], r["verdict"]["kind"], r["verdict"]["layer"])'
btftool layers --from-json report.json | grep -c 'no elements were compared'
