# All tensors are in the table; the first fifty that differ have a section, and the page says so.
sixty=0$(printf ',0%.0s' {1..59})
btftool -q convert --tensor "$sixty" "$TESTDATA/good/mixed.btf" golden.btf
btftool -q convert --tensor "$sixty" "$TESTDATA/good/mixed_noisy.btf" actual.btf
btftool diff -q --no-hints --html page.html actual.btf golden.btf; echo "exit $?"
grep -c '^<section' page.html
grep -c '^<tr><td class=path>Tensor' page.html
grep '^<p class=note>' page.html
sed -n 's/.*<h2>/<h2>/p' page.html | tail -1
# Of directories: what is missing and what is trouble.
mkdir -p a/sub g
cp "$TESTDATA/good/mixed.btf" a/same.btf
cp "$TESTDATA/good/mixed.btf" g/same.btf
cp "$TESTDATA/good/mixed.btf" a/sub/only.btf
cp "$TESTDATA/good/mixed.btf" a/bad.btf
head -c 20 "$TESTDATA/good/mixed.btf" >g/bad.btf
btftool diff -q --html page.html a g; echo "exit $?"
sed -n '/<h1>/p; /<dt>/p; /^<tr><td class=path/p' page.html
# Tensors that have names are told by them.
needs python3 -c 'import numpy'
python3 - <<'END'
import numpy as np
golden = {"conv/1": np.ones(4, "f4"), "fc<2>": np.zeros(3, "f4")}
np.savez("golden.npz", **golden)
np.savez("actual.npz", **{name: value + np.float32(1) for name, value in golden.items()})
END
btftool diff -q --no-hints --html page.html actual.npz golden.npz; echo "exit $?"
sed -n 's/<td class=type>.*//p; s/.*<h2>/<h2>/p' page.html
