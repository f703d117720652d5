# Each way in which an ONNX file can be wrong has a sentence of its own, exit code 2, and validate tells it as a finding; all within
# 256 MiB of address space.
ulimit -v 262144
for file in "$TESTDATA"/onnx-bad/*.pb "$TESTDATA"/onnx-bad/*.onnx; do
  echo "${file##*/}"
  btftool -q convert --layout kLINEAR --names drop "$file" out.btf 2>&1
  code=$?
  [ $code = 2 ] || echo "${file##*/}: exit $code"
  for command in inspect "inspect --stats --json" "diff $file" "convert --format npz"; do
    case $command in convert*) out=out.npz ;; *) out= ;; esac
    timeout 10 btftool -q $command "$file" $out >/dev/null 2>&1
    code=$?
    [ $code -le 2 ] || echo "$command ${file##*/}: exit $code"
  done
  btftool validate "$file" 2>&1 | sed 's/.*\[\(.*\)\]$/    [\1]/;t;d'
done
