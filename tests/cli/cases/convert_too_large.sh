# A hundred bytes of COO that would become an exabyte, or more than 64 bits can count.
coo() {  # DIM0 DIM1: a float32 tensor of 2^DIM0 by 2^DIM1 with one element
  power() { for i in {0..7}; do printf "\\x$(printf %02x $(( $1 / 8 == i ? 1 << $1 % 8 : 0 )))"; done; }
  printf '\1\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\4\2\0\0\0\0\0\0'
  power "$1"
  power "$2"
  printf '\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\300\77\0\0\0\0'
}
coo 30 28 >exabyte.btf
coo 32 31 >beyond.btf
btftool inspect --at 5,6 exabyte.btf
btftool convert --layout linear exabyte.btf out.btf 2>message; echo "exit $?"
sed 's/has [0-9]* left/has FEW left/' message
btftool convert --layout linear beyond.btf out.btf; echo "exit $?"
btftool convert exabyte.btf out.btf && cmp out.btf exabyte.btf && echo "as COO it is no trouble"
ls -A
