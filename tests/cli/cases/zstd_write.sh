# What is written is what zstd reads, and the same for any number of threads.
btftool convert --compress "$TESTDATA/good/mixed.btf" a.zst
btftool convert "$TESTDATA/good/mixed.btf" b.btf.zst
cmp a.zst b.btf.zst
zstd -tq a.zst && zstd -dcq a.zst | cmp - "$TESTDATA/good/mixed.btf"
zstd -lv a.zst 2>/dev/null | grep -E '^(# Zstandard|# Skipp|Decomp|Check)' | sed 's, (.*,,'
btftool inspect a.zst
btftool validate a.zst

# 16 MiB and a few bytes, with a tensor of no elements and a small one around it.
{
  u64() { printf '%b\0\0\0\0' "\x$1\x$2\x$3\x$4"; }
  u64 03 00 00 00 && u64 20 00 00 00 && u64 38 00 00 00 && u64 a8 00 00 01
  u64 01 00 00 00 && u64 06 00 00 00 && u64 00 00 00 00
  u64 01 00 00 00 && u64 06 00 00 00 && u64 54 00 00 01
  head -c 16777300 /dev/zero | tr '\0' '\1' && printf '\0\0\0\0'
  u64 01 00 00 00 && u64 06 00 00 00 && u64 03 00 00 00 && printf 'abc\0\0\0\0\0'
} >big.btf
btftool validate big.btf
for jobs in 1 2 7; do
  btftool convert -j $jobs --compress=1 big.btf big$jobs.zst
  cmp big1.zst big$jobs.zst
done
btftool convert -j 3 --compress=1 big.btf - | cmp big1.zst -
zstd -dcq big1.zst | cmp - big.btf
btftool convert big1.zst back.btf && cmp back.btf big.btf
btftool convert big1.zst big1.zst --compress=1 && cmp big1.zst big7.zst
btftool inspect --json --tensor 2 --values big1.zst

# A tensor of no records; a level that is none.
btftool convert "$TESTDATA/good/empty.btf" empty.zst && zstd -dcq empty.zst | cmp - "$TESTDATA/good/empty.btf"
btftool inspect empty.zst
btftool convert --compress=23 big.btf x.zst
btftool convert --compress=0 big.btf x.zst
btftool convert --compress 19 --tensor 2 big.btf x.btf && btftool inspect x.btf
