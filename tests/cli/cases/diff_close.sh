# rtol and atol of the coarser dtype, and which these are; what is given goes before them.
golden=$TESTDATA/good/mixed.btf
for dtype in fp64 fp32 fp16 bf16 fp8; do
  btftool -q convert --tensor 0,2 --dtype "$dtype" "$golden" actual.btf
  btftool diff --close --pair 0:0,1:2 actual.btf "$golden"; echo "[$dtype] exit $?"
done
btftool -q convert --tensor 0 --dtype fp16 "$golden" actual.btf
btftool diff --close --rtol 1e-4 --tensor 0 --show 0 --no-hints actual.btf "$golden"; echo "exit $?"
btftool diff --close --atol 1 --tensor 0 actual.btf "$golden" | tail -n 1
btftool diff --close --ulp 0 --tensor 0 actual.btf "$golden" | tail -n 1
# Reports in files say the numbers where all tensors have the same.
for tensors in 0 0,2; do
  btftool diff -q --close --tensor "$tensors" --junit report.xml --html page.html "$golden" "$golden"
  grep -o '<testsuites name="[^"]*"' report.xml
  grep '<dt>accepted' page.html
done
