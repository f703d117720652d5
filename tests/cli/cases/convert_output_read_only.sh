# A file or a directory that must not be written to. The superuser may do everything and has to give that up first.
plain=()
(( EUID != 0 )) || plain=(setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-dac_override,-dac_read_search)
needs "${plain[@]}" true
echo old >file
chmod 444 file
mkdir directory
chmod 555 directory
"${plain[@]}" btftool convert "$TESTDATA/good/mixed.btf" file; echo "exit $?"
"${plain[@]}" btftool convert "$TESTDATA/good/mixed.btf" directory/out.btf; echo "exit $?"
cat file
ls -A . directory
chmod 755 directory
