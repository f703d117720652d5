# Each way in which an archive can be wrong has an error of its own, and validate tells it as a finding; within 256 MiB of
# address space.
ulimit -v 262144
for file in "$TESTDATA"/npz-bad/*.npz; do
  btftool -q convert "$file" out.btf
  code=$?
  [ $code = 2 ] || echo "${file##*/}: exit $code"
  [ ! -e out.btf ] || rm out.btf
  btftool validate "$file" 2>/dev/null
done
