# A directory 300 deep, a loop of links in it, and one with many files.
deep=top
for _ in {1..300}; do deep=$deep/d; done
mkdir -p "$deep"
btftool convert --tensor 0 "$TESTDATA/good/mixed.btf" "$deep/x.npy"
btftool inspect top | sed 's|\(d/\)\{300\}|DEEP/|'
btftool diff -q top top; echo "exit $?"
btftool -q convert top out/; echo "exit $?"
cmp "$deep/x.npy" "out/${deep#top/}/x.npy"
ln -s .. "$deep/up"
btftool inspect -q top 2>&1 | sed 's|\(d/\)\{299,300\}|DEEP/|'
# Deeper than a path may be long.
mkdir far && (cd far && for _ in {1..45}; do mkdir "$(printf 'e%.0s' {1..100})" && cd e*; done; cp "$OLDPWD/$deep/x.npy" . 2>/dev/null)
btftool inspect far 2>&1 | sed 's/.*e: //'; echo "exit ${PIPESTATUS[0]}"
