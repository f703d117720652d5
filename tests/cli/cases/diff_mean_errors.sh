# Gates on means of the errors, at known values: actual - golden is 3, -1, 0, 2 and once NaN on both sides.
printf '4\n1\n5\n8\nnan\n' >actual.txt
printf '1\n2\n5\n6\nnan\n' >golden.txt
for side in actual golden; do btftool convert --input-spec text:fp32:5 $side.txt $side.btf; done
gate() {
  btftool diff --no-hints "$@" --show 0 actual.btf golden.btf; echo "exit $?"
}
gate --mae 1.5
gate --mae 1.499
gate --bias 1
gate --bias 0.999
btftool diff --json actual.btf golden.btf >report.json
grep -o '"mae":[^,]*,"bias":[^,]*' report.json
# The sign is in the report, the gate is on the magnitude.
btftool diff --json --bias 0.999 golden.btf actual.btf >turned.json; echo "exit $?"
grep -o '"bias":[^,]*' turned.json
grep -o '"text":"bias[^"]*' turned.json
# A report of a version that did not know the figure cannot be judged by it.
btftool diff --from-json report.json --mae 1.5; echo "exit $?"
sed 's/"mae":[^,]*,"bias":[^,]*,//' report.json >old.json
for gate in --mae --bias; do btftool diff --from-json old.json $gate 1e300; echo "exit $?"; done
btftool diff --from-json old.json --json | cmp - old.json
# The other reports.
btftool diff -q --mae 1 --html page.html --junit report.xml actual.btf golden.btf; echo "exit $?"
grep -o '"\(mae\|bias\)":[^,}]*' page.html
grep -o 'mae 1.5 is above 1' report.xml
for wrong in -1 nan x; do btftool diff --bias $wrong actual.btf golden.btf; echo "exit $?"; done
