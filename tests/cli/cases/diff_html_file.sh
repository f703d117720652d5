# The page is whole or as it was; it never takes the place of what is compared.
golden=$TESTDATA/good/mixed.btf
cp "$golden" actual.btf
btftool diff --html actual.btf actual.btf "$golden"; echo "exit $?"
cmp actual.btf "$golden"
btftool diff --html nowhere/page.html actual.btf "$golden"; echo "exit $?"
btftool diff --html - actual.btf "$golden"; echo "exit $?"
echo old >page.html
btftool diff -q --html page.html actual.btf nothing.btf; echo "exit $?"
btftool diff --html page.html actual.btf "$golden"; echo "exit $?"
grep -o '<title>.*</title>' page.html
