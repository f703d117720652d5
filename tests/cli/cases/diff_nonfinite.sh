# NaN and Inf that the other side has not: how many, where the first is, in every report.
needs python3 -c 'import numpy'
python3 - <<'END'
import numpy as np
golden = np.arange(24, dtype="f4").reshape(2, 3, 4)
actual = golden.copy()
actual[0, 1, 2] = actual[1, 0, 0] = np.nan     # in actual only, twice
golden[0, 2, 3] = np.nan                       # in golden only
golden[1, 1, 1], actual[1, 1, 1] = np.inf, -np.inf
actual[1, 1, 2] = np.inf
golden[1, 1, 3] = -np.inf
golden[1, 2, 0], actual[1, 2, 0] = np.inf, np.nan   # each side has its own
golden[0, 0, 0] = actual[0, 0, 0] = np.nan          # agreed on
np.save("golden.npy", golden); np.save("actual.npy", actual)
END
btftool diff --no-hints --show 0 actual.npy golden.npy; echo "exit $?"
btftool diff --no-hints --show 0 golden.npy actual.npy | head -n 1
btftool diff --no-hints --max-mismatch 10 actual.npy golden.npy
btftool diff --json actual.npy golden.npy >report.json
grep -o '"nan":{[^}]*},"inf":{[^}]*}' report.json
btftool diff --from-json report.json | head -n 1
sed 's/"first_actual":\[[0-9,]*\]/"first_actual":[2,0,0]/' report.json >bad.json
btftool diff --from-json bad.json; echo "exit $?"
sed 's/,"first_[a-z]*":\(null\|\[[0-9,]*\]\)//g' report.json >old.json
btftool diff --from-json old.json | head -n 1
btftool diff -q --junit report.xml --html page.html actual.npy golden.npy
grep -o 'message="[^"]*"' report.xml
grep -o 'no tolerance would accept it[^<]*' report.xml
grep -o '"\(nan\|inf\)":{[^}]*}' page.html
grep -o 'No tolerance would accept it[^"]*' page.html
exit 0
