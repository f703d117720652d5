# A sparse tensor with a dim of 2^64 - 1: values and slices of it, from both ends.
word() { printf "\\x$1$2"; printf '\xff%.0s' {1..7}; }
{
  printf '\1\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0'
  word f f                                  # dims
  printf '\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0'
  word f e                                  # the last index
  printf '\1\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0'
} >huge.btf
btftool validate huge.btf
btftool inspect --values huge.btf
for slice in : ::-1 -3: -1: :3 :-18446744073709551 ::9223372036854775807 -2::-9223372036854775807 5:2 2:5:-1 -1; do
  echo "$slice: $(btftool inspect "--slice=$slice" huge.btf | tail -n 1)"
done
