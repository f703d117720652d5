# Scales for types of few codes: by tensor and channel, weights too, and what layers add.
fit=$TESTDATA/fit
btftool fit --dtype int8,fp8 --graph "$fit/model.onnx" "$fit/golden.npz"; echo "exit $?"
btftool fit --dtype fp16,e5m2 --all "$fit/golden.npz"; echo "exit $?"
# Several dumps are one: the second adds nothing but elements.
btftool convert -q --tensor 0-4 "$fit/golden.npz" part.npz
btftool fit --dtype int8 --json "$fit/golden.npz" part.npz |
  sed 's/{"name"/\n&/g' | grep -o '"name":"[a-z_]*","weight":[a-z]*,"elements":[0-9]*'
# The scale that is said is one that convert takes, and it says the same of it.
btftool -q fit --dtype int8 "$fit/golden.npz" --emit scales scales.json; echo "exit $?"
cat scales.json
btftool convert --tensor input --dtype int8 --scale 0.0229959097 --min-snr 43.2dB "$fit/golden.npz" input.btf; echo "exit $?"
# What is no float, zeros only, or numbers that no code stands for.
{ printf '\0\0\0\0%.0s' 1 2 3 4; } > zeros.raw
{ printf '\0\0\300\177\0\0\200\77\0\0\0\300\0\0\200\177'; } > odd.raw
printf '\1\0\1\0' > mask.raw
mkdir kinds && mv ./*.raw kinds
btftool fit --dtype int8 --input-spec '[zo]*=fp32:linear:4' --input-spec 'm*=bool:linear:4' kinds; echo "exit $?"
