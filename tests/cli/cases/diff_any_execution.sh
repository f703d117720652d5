# The report is the same to the last byte whatever the threads and the memory: figures, lists, samples and causes.
seq 1000000 >digits.raw
spec() { btftool -q convert --input-spec "$1" "${@:2}"; }
head -c 6480000 digits.raw >floats.raw
spec float32:1x50x180x180 floats.raw f32.btf
spec float32:1x50x180x180 --dtype bf16 --layout hwc8 floats.raw bf16.hwc8.btf
head -c 6480000 digits.raw | tr 0-9 3-90-2 >other.raw
spec float32:1x50x180x180 --layout hwc other.raw other.hwc.btf
head -c 5120000 digits.raw >doubles.raw
spec int64:1x40x100x160 doubles.raw i64.btf
spec float64:1x40x100x160 --layout hwc doubles.raw f64.hwc.btf
head -c 2400000 digits.raw >nibbles.raw
spec int4:1x3x1000x1600 nibbles.raw i4.btf
spec uint4:1x3x1000x1600 --dtype int8 --layout chw32 nibbles.raw u8.chw32.btf
head -c 60000 digits.raw >few.raw
spec int4:240x500 --layout coo few.raw i4.coo.btf
spec int4:500x240 --permute 1,0 --layout coo few.raw turned.coo.btf
spec float4_e2m1fn:240x500 --dtype fp32 few.raw f4.btf

same() {
  for execution in "1 256M" "2 16M" "64 16M" "5 1G"; do
    btftool -j "${execution% *}" --max-memory "${execution#* }" diff --json --all --show 40 --heatmap \
      --quantile 0.3=0,0.9=0 "$@" >"report $execution"
    cmp "report 1 256M" "report $execution"
  done
  grep -o '"result":"[a-z]*"' "report 1 256M" | head -n 1
}
same bf16.hwc8.btf f32.btf
same f32.btf bf16.hwc8.btf --close
same other.hwc.btf f32.btf
same other.hwc.btf bf16.hwc8.btf --rtol 0.5
same f64.hwc.btf i64.btf --top-k 9
same i4.btf u8.chw32.btf --ulp 1 --top-k 3
same i4.coo.btf turned.coo.btf --top-k 3
same i4.coo.btf f4.btf --atol 0.5 --top-k 3
same f4.btf turned.coo.btf
