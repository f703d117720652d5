# All tensors are in the table, the first hundred as plain HTML; those that differ have details. The report is compressed.
needs python3 -c 'import zlib'
report() { python3 "$TESTDATA/../tests/pages/report.py" page.html; }
many=0$(printf ',0%.0s' {1..119})
btftool -q convert --tensor "$many" "$TESTDATA/good/mixed.btf" golden.btf
btftool -q convert --tensor "$many" "$TESTDATA/good/mixed_noisy.btf" actual.btf
btftool diff -q --no-hints --html page.html actual.btf golden.btf; echo "exit $?"
grep -c ' data-packed>' page.html
report | grep -c '^{"name"'
report | grep -c '^\[*"Tensor'
grep -c '^<tr>' page.html
grep '^<p class=note>' page.html
# Of directories: what is missing and what is trouble.
mkdir -p a/sub g
cp "$TESTDATA/good/mixed.btf" a/same.btf
cp "$TESTDATA/good/mixed.btf" g/same.btf
cp "$TESTDATA/good/mixed.btf" a/sub/only.btf
cp "$TESTDATA/good/mixed.btf" a/bad.btf
head -c 20 "$TESTDATA/good/mixed.btf" >g/bad.btf
btftool diff -q --html page.html a g; echo "exit $?"
sed -n '/<h1>/p; /<dt>/p; /^<tr>/p' page.html
report | grep '^\['
# Tensors that have names are told by them.
needs python3 -c 'import numpy'
python3 - <<'END'
import numpy as np
golden = {"conv/1": np.ones(4, "f4"), "fc<2>": np.zeros(3, "f4")}
np.savez("golden.npz", **golden)
np.savez("actual.npz", **{name: value + np.float32(1) for name, value in golden.items()})
END
btftool diff -q --no-hints --html page.html actual.npz golden.npz; echo "exit $?"
sed -n 's/<td class="type".*//p' page.html
grep -o '"title":"[^"]*"' page.html
