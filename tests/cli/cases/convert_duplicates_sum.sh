# Sums of duplicates are exact, rounded once into the target's type, and never change in silence.
u64() { for n in "$@"; do for ((i = 0; i < 8; ++i)); do printf "\\x$(printf %x $((n >> 8 * i & 255)))"; done; done; }
# Two int8 of 100 at index 1 of 4, a 7 at index 3.
{ u64 1 16 1; printf '\0\2\0\0\0\0\0\0'; u64 4 3 1 1 1 3 3; printf '\144\144\7\0\0\0\0\0'; } > in.btf
btftool inspect in.btf
for layout in coo linear; do
  btftool convert --layout $layout --duplicates sum in.btf out.btf; echo "exit $?"
  btftool inspect --values out.btf
  btftool convert --layout $layout --duplicates sum --overflow wrap in.btf out.btf; echo "exit $?"
  btftool inspect --values out.btf | tail -1
  btftool convert --layout $layout --duplicates sum --dtype int32 --lossless in.btf out.btf; echo "exit $?"
  btftool inspect --values out.btf | tail -1
  for refuse in --lossless '--overflow error'; do
    rm out.btf
    btftool convert --layout $layout --duplicates sum $refuse in.btf out.btf; echo "exit $?"
    ls out.btf 2>/dev/null
    touch out.btf
  done
done
