# A share that is not nothing does not look like a number it is not.
put() { printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }
cp "$TESTDATA/good/mixed.btf" golden.btf
for at in 2704 2712; do put golden.btf "$at" '\0\0\0\200\0\0\0\0'; done
cp golden.btf actual.btf
put actual.btf 3140 '\0\0\200\77'
btftool diff --tensor 3 --no-hints --heatmap --html page.html actual.btf golden.btf; echo "exit $?"
grep -o '&lt;0.001%' page.html | wc -l
grep -c '<0.001%' <(sed '/^<script>/,/<\/script>/d' page.html)
# A NaN that meets an Inf is one pair.
cp "$TESTDATA/good/mixed.btf" actual.btf
cp "$TESTDATA/good/mixed.btf" golden.btf
put actual.btf 88 '\0\0\300\177'
put golden.btf 88 '\0\0\200\177'
btftool diff --tensor 0 --cosine 0 --show 0 --no-hints actual.btf golden.btf; echo "exit $?"
btftool diff --tensor 0 --summary actual.btf golden.btf; echo "exit $?"
