# A new file has the mode that the umask leaves, an old one keeps its own.
umask 027
btftool convert "$TESTDATA/good/scalars.btf" new.btf
touch old.btf
chmod 606 old.btf
btftool convert --fsync "$TESTDATA/good/scalars.btf" old.btf
stat -c '%a %n' new.btf old.btf
