# Each way in which a GGUF file can be wrong has a sentence of its own, exit code 2, and validate tells it as a finding; all
# within 256 MiB of address space.
ulimit -v 262144
for file in "$TESTDATA"/gguf-bad/*.gguf; do
  btftool inspect "$file" 2>&1
  code=$?
  [ $code = 2 ] || echo "${file##*/}: exit $code"
  for command in "inspect --stats --json" validate "diff $file" "convert --dtype fp32" "convert --dequantize"; do
    case $command in convert*) out=out.btf ;; *) out= ;; esac
    timeout 10 btftool -q $command "$file" $out >/dev/null 2>&1
    code=$?
    [ $code -le 2 ] || echo "$command ${file##*/}: exit $code"
  done
  btftool validate "$file" 2>&1 | sed 's/.*\[\(.*\)\]$/    [\1]/;t;d'
done
