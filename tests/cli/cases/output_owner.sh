# Replacing a file keeps its owner; where that is not permitted it loses set-user-ID and set-group-ID.
touch try
needs chown 1234:5678 try
needs setpriv --bounding-set=-chown --inh-caps=-chown true
rm try
file=$TESTDATA/good/scalars.btf
old() { touch "$1" && chown "$2" "$1" && chmod "$3" "$1"; }
old a 1234:5678 6755
old b 1234:0 640
old c 0:5678 2770
btftool convert "$file" a
btftool convert --fsync "$file" b
btftool -q diff --junit c "$file" "$file"
umask 077
btftool convert "$file" new
stat -c '%n %u:%g %a' a b c new
echo "without the right to give files away:"
old a 1234:5678 6755
old b 1234:5678 6775
old c 0:0 6750
old d 1234:5678 604
less() { setpriv "${@:2}" --bounding-set=-chown --inh-caps=-chown btftool convert "$file" "$1"; }
less a
less b --groups 5678
less c
less d
stat -c '%n %u:%g %a' a b c d
