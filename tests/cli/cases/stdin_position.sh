# Standard input that is a file begins where it stands, whatever stood before; offsets count from there.
files=$TESTDATA/good
{ printf 'forty-eight bytes that are nobodys business here'; cat "$files/mixed.btf"; } >two.btf
{ printf 'forty-eight bytes that are nobodys business here'; cat "$TESTDATA/zstd/seekable.btf.zst"; } >seekable
{ printf 'forty-eight bytes that are nobodys business here'; cat "$TESTDATA/zstd/one_frame.btf.zst"; } >one_frame
{ printf 'forty-eight bytes that are nobodys business here'; cat "$TESTDATA/npy/int32.c.little.v1.npy"; } >array
{ printf 'forty-eight bytes that are nobodys business here'; cat "$TESTDATA/bad/layout-rank.btf"; } >bad
from() {  # FILE COMMAND...
  { dd bs=48 count=1 of=/dev/null status=none; "${@:2}"; } <"$1"
}
for file in two.btf seekable one_frame; do
  echo "$file:"
  from $file btftool inspect --tensor 2 --at 1 -
  from $file btftool validate -
  from $file btftool diff -q - "$files/mixed.btf" && echo same
  from $file btftool diff -q "$files/mixed.btf" - && echo same
  from $file btftool convert - out.btf && cmp out.btf "$files/mixed.btf"
done
from array btftool inspect --at 0,0,1 -
from array btftool convert - out.btf && cmp out.btf "$TESTDATA/npy/int32.btf"
from bad btftool validate -
# The messages that speak of the end; a position behind it.
head -c 3000 two.btf >cut
from cut btftool convert --tensor 3 - out.btf
{ dd bs=4000 skip=1 count=0 status=none; btftool inspect -; } <two.btf
{ read -r -N 9999 all; btftool inspect -; } <two.btf
