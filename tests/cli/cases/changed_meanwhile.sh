# A dump that another process is writing is trouble, and no result.
truncate -s 240000000 dump.bin && cp --sparse=always dump.bin golden.bin
spec=fp32:60000000
(while :; do printf '\0' | dd of=dump.bin bs=1 seek=100 conv=notrunc status=none; done) &
writer=$!
try() {
  btftool -q "$@" 2>&1 >/dev/null | tail -n 1
  echo "$1: exit ${PIPESTATUS[0]}"
}
try inspect --stats --input-spec $spec dump.bin
try validate --nan --input-spec $spec dump.bin
try diff --actual-spec $spec --golden-spec $spec dump.bin golden.bin
try convert --input-spec $spec --dtype fp16 dump.bin out.btf
try layers --actual-spec $spec --golden-spec $spec dump.bin golden.bin
try fit --input-spec $spec dump.bin
kill $writer
ls out.btf 2>&1
# One that ends before it is whole.
head -c 1000 "$TESTDATA/good/mixed.btf" >half.btf
try validate half.btf
try inspect --stats half.btf
try convert half.btf out.btf
