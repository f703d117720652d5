# Each way in which a .npy can be wrong has an error of its own, and validate tells it as a finding.
for file in "$TESTDATA"/npy-bad/*.npy; do
  btftool inspect "$file"
  code=$?
  [ $code = 2 ] || echo "${file##*/}: exit $code"
  btftool validate "$file" 2>/dev/null
done
