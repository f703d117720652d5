# Figures of no pair of finite numbers are null in JSON, with the reason, and are not shown as 1 or inf elsewhere.
golden=$TESTDATA/good/mixed.btf
cp "$golden" nan.btf
for at in {88..855..4}; do printf '\0\0\300\177'; done | dd of=nan.btf bs=1 seek=88 conv=notrunc status=none
btftool convert --tensor 0 nan.btf a.btf && btftool convert --tensor 0 "$golden" g.btf
btftool diff --json --cosine 0.9 a.btf g.btf >report.json; echo "exit $?"
grep -o '"figures":{[^}]*}' report.json
grep -o '"criteria":[^]]*]' report.json
btftool diff --show 0 --html page.html a.btf g.btf
grep -c '^{.*"figures":{"pairs":0,"reason":[^}]*}' page.html
# Judged again it says the same.
btftool diff --from-json report.json --cosine 0.9 --show 0; echo "exit $?"
btftool diff --from-json report.json --json | grep -o '"figures":{[^}]*}'
btftool diff --shard 1/1 --part part a.btf g.btf && btftool merge --json part | grep -o '"figures":{[^}]*}'
# Both sides NaN: the same, and no figures either.
btftool diff --json a.btf a.btf | grep -o '"figures":{[^}]*}'
