# Whatever a header says: an exit code, no signal, within 512 MiB of address space.
ulimit -v 524288
for file in "$TESTDATA"/bad/*.btf "$TESTDATA"/odd/*.btf; do
  for command in "inspect --stats --values 10 --strides" validate "diff $file" \
    "convert --layout kHWC8 --dtype int8" "convert --layout coo"; do
    case $command in convert*) out=out.btf ;; *) out= ;; esac
    timeout 10 btftool -q $command "$file" $out >/dev/null 2>&1
    code=$?
    [ $code -le 2 ] || echo "$command ${file##*/}: exit $code"
  done
done
echo "files: $(ls "$TESTDATA"/bad/*.btf | wc -l) bad"
