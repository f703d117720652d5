# Regular expressions of maps that would take hours, or all of the stack; names of what they would take it for.
mkdir a b
name=$(printf 'a%.0s' {1..60})
cp "$TESTDATA/good/small_codes.btf" "a/$name.btf"
cp "$TESTDATA/good/small_codes.btf" b/x.btf
deep() { printf '%*s' "$1" '' | tr ' ' "$2"; }
try() { timeout 20 btftool diff --map map a b 2>&1 | tail -n 4 | cut -c 1-120; echo "exit ${PIPESTATUS[0]}"; }
printf '/^(a+)+b$/x/\n/^((a*)*)*c$/x/\n/^a+#.*$/x#0/\n' >map
try
printf '/%sa%s/x#0/\n' "$(deep 2000 '(')" "$(deep 2000 ')')" >map
try
printf '/%s/x/\n' "$(deep 4097 a)" >map
try
# One with a reference to a group of its own is searched for as before.
printf '/^(a)\\1+#0$/x#0/\n' >map
try
# Counts beyond what is counted in.
printf '/a{8888888888888888888888,3}/x/\n' >map
try
printf '/a{3,99999}/x/\n' >map
try
