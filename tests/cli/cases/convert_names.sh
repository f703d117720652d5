# Every spelling of a dtype or a layout gives the same bytes.
file=$TESTDATA/good/layouts_f32.btf
same() {  # OPTION TENSOR NAME...
  btftool -q convert --tensor "$2" "$1" "$3" "$file" golden.btf || echo "$3: exit $?"
  for name in "${@:4}"; do
    btftool -q convert --tensor "$2" "$1" "$name" "$file" out.btf && cmp out.btf golden.btf || echo "$name: exit $?"
  done
}
same --dtype 0 float16 fp16 f16 half FP16 Half
same --dtype 0 float32 fp32 f32 float
same --dtype 0 float64 f64 double
same --dtype 0 bfloat16 bf16
same --dtype 0 float8_e4m3fn fp8 F8_E4M3
same --dtype 0 float8_e5m2 F8_E5M2
same --dtype 0 float8_e8m0fnu e8m0 F8_E8M0
same --dtype 0 float4_e2m1fn fp4 F4
for bits in 8 16 32 64; do
  same --dtype 0 "int$bits" "i$bits" "INT$bits"
  same --dtype 0 "uint$bits" "u$bits" "ui$bits"
done
same --layout 2 kLINEAR linear dense chw LINEAR
same --layout 0 kCHW2 chw2 NC/2HW2
same --layout 0 kHWC8 hwc8 NHWC8 KHWC8
same --layout 0 kCHW4 chw4 NC/4HW4
same --layout 0 kCHW16 chw16 NC/16HW16
same --layout 0 kCHW32 chw32 NC/32HW32
same --layout 6 kDHWC8 dhwc8 NDHWC8
same --layout 6 kCDHW32 cdhw32 NC/32DHW32
same --layout 0 kHWC hwc NHWC
same --layout 0 kDLA_LINEAR dla_linear 'DLA Linear'
same --layout 0 kDLA_HWC4 dla_hwc4 'DLA HWC4'
same --layout 0 kHWC16 hwc16 NHWC16
same --layout 6 kDHWC dhwc NDHWC
same --layout 0 coo COO
