# fp16:hwc8 says dtype and layout at once; what contradicts it is wrong, what repeats it is not.
file=$TESTDATA/good/mixed.btf
btftool convert --tensor 0 --dtype fp16 --layout hwc8 "$file" golden.btf
for words in "--layout fp16:hwc8" "--dtype fp16:hwc8" "--dtype half --layout FP16:kHWC8" "--dtype fp16:hwc8 --layout NHWC8"; do
  btftool -q convert --tensor 0 $words "$file" out.btf && cmp out.btf golden.btf && echo "the same: $words"
done
for words in "--dtype fp32 --layout fp16:hwc8" "--dtype fp16:hwc8 --layout hwc" "--dtype fp16:hwc8 --layout int8:hwc8"; do
  btftool convert --tensor 0 $words "$file" none.btf
  echo "[$words] exit $?"
done
for layout in :hwc8 fp16: hwc8:fp16; do
  message=$(btftool convert --layout "$layout" "$file" none.btf 2>&1); echo "[--layout $layout] exit $?"
  echo "${message%%;*}"
done
ls -A
