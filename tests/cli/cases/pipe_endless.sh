# A pipe that does not end: no more of it is kept than can be wanted, here 4 MiB at most.
ulimit -f 4096
run() { timeout 60 btftool "$@"; echo "exit $?"; }
run inspect --input-spec u8:16 - </dev/zero
run inspect - </dev/zero
run validate - </dev/zero
yes | run inspect -
yes | run validate -
file=$TESTDATA/good/mixed.btf
endless() { cat "$@" /dev/zero 2>/dev/null; }
endless "$file" | run inspect --tensor 2 --values -
endless "$file" | run validate -
endless "$file" | run convert - out.btf
cmp out.btf "$file"
endless "$file" | run diff - "$file"
endless "$TESTDATA/npy/int32.c.little.v1.npy" | run inspect -
{ printf '\1\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\20'; cat /dev/zero; } 2>/dev/null |
  run inspect - 2>&1 | sed 's/at most [0-9]* are available in .*/at most N are available/'
