# A report judged again, with the exit codes of diff.
noisy=$TESTDATA/good/mixed_noisy.btf
golden=$TESTDATA/good/mixed.btf
btftool diff --no-hints --json --tensor 0,2,3 "$noisy" "$golden" >report.json
again() { btftool diff --from-json report.json "$@"; echo "exit $?"; }
again
again --atol 1e-3
again --atol 1e-5
again --atol 0=1e-3,2=1
again --cosine 0.999 --max-abs 1e-6
again -q --ulp 20000
again --summary --atol 1e-3
# The document again; the same limits give the same document.
btftool diff --from-json report.json --json | cmp - report.json
btftool diff --from-json report.json --json --atol 1e-3; echo "exit $?"
btftool diff --json --from-json - --rtol 1e-9 <report.json | btftool diff --from-json - --rtol 1; echo "exit $?"
# Differences that no tolerance changes.
btftool convert --tensor 0,0 "$golden" two.btf
btftool convert --tensor 0 "$golden" one.btf
btftool diff --json two.btf one.btf | btftool diff --from-json - --atol 1e9; echo "exit $?"
btftool convert --tensor 0 --dtype float64 "$golden" wide.btf
btftool diff --json --strict wide.btf one.btf | btftool diff --from-json - --atol 1e9; echo "exit $?"
# Directories.
mkdir -p a/sub g/sub
cp "$noisy" a/sub/x.btf
cp "$golden" g/sub/x.btf
cp "$golden" a/only.btf
btftool diff --no-hints --json a g >report.json
btftool diff --from-json report.json --json | cmp - report.json
again --atol 1
# NaN equals nothing: without NaN on both sides that changes nothing, otherwise they are counted.
btftool diff --no-hints --json --tensor 0 "$noisy" "$golden" >report.json
again --no-equal-nan --show 0
btftool diff --no-hints --json --tensor 1 "$noisy" "$noisy" >report.json
again --no-equal-nan
# A cause that another version may have found is carried through; it is text, whatever is in it.
btftool diff --json --tensor 1 --show 0 "$noisy" "$golden" | sed 's/"hints":[^]]*]/"hints":[{"cause":"moon\\u001b phase","evidence":"<full> \\u001b[1m"}]/' >report.json
btftool diff --from-json report.json --json | cmp - report.json
again --html page.html
grep -o '<full>\|&lt;full&gt;\|u003cfull\|moon[^<"]*' page.html
# How many elements other limits refuse the report does not hold.
btftool diff --no-hints --rtol 0.5 --json "$noisy" "$golden" >loose.json
btftool diff --from-json loose.json --summary; echo "exit $?"
btftool diff --from-json loose.json --rtol 0.5 --summary; echo "exit $?"
