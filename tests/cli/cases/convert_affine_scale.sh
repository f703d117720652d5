# --scale auto where the codes are not symmetric: both ends of the data fit, or it is refused.
in=$TESTDATA/good/mixed.btf
btftool convert --tensor 1 --dtype uint8 --scale auto "$in" out.btf; echo "exit $?"; ls
btftool convert --tensor 0 --dtype uint8 --scale auto "$in" u8.btf; echo "exit $?"
btftool inspect --stats --tensor 0 u8.btf
btftool convert --tensor 1 --dtype uint8 --scale auto --zero-point 128 "$in" z8.btf; echo "exit $?"
btftool inspect --stats --tensor 0 z8.btf
btftool convert --tensor 1 --dtype int8 --scale auto --zero-point 100 --scale-axis 1 "$in" s8.btf; echo "exit $?"
btftool convert -q --dequantize --zero-point 100 s8.btf back.btf; echo "exit $?"
btftool convert -q --tensor 1 "$in" weights.btf
btftool diff --atol 0.018 back.btf weights.btf
# More scales than the memory holds.
head -c 2000000 /dev/zero | btftool convert --input-spec int8:1000000x2 - long.btf
btftool convert --max-memory 16M --dtype int8 --scale auto --scale-axis 0 long.btf out.btf; echo "exit $?"
btftool convert -q --dtype int8 --scale auto --scale-axis 0 long.btf out.btf; echo "exit $?"
btftool convert --max-memory 16M --dequantize out.btf back.btf; echo "exit $?"
