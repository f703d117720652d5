# Closed standard descriptors: what is printed must not end up in the output file.
# Two float32 tensors of 200000 elements that float16 cannot hold, so that there is something to print early.
{
  printf '\2\0\0\0\0\0\0\0\30\0\0\0\0\0\0\0\60\65\14\0\0\0\0\0'
  for i in 1 2; do
    printf '\1\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\100\15\3\0\0\0\0\0'
    head -c 800000 /dev/zero | tr '\0' '='
  done
} >in.btf
btftool convert --dtype fp16 in.btf golden.btf
btftool convert --dtype fp16 in.btf out.btf <&- 2>&-; echo "exit $?"
cmp out.btf golden.btf
btftool convert --dtype fp16 in.btf out.btf >&- 2>&-; echo "exit $?"
cmp out.btf golden.btf
btftool convert --dtype fp16 in.btf out.btf <&- >&- 2>&-; echo "exit $?"
cmp out.btf golden.btf
btftool inspect golden.btf >&-; echo "exit $?"
btftool inspect nothing.btf 2>&-; echo "exit $?"
btftool inspect - <&- 2>/dev/null; echo "exit $?"
