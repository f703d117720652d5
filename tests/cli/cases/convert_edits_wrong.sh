# Edits that do not go with the dims, [1, 3, 8, 8], and what is none. Nothing is written.
file=$TESTDATA/good/mixed.btf
while read -r options; do
  # shellcheck disable=SC2086
  btftool convert --tensor 0 $options "$file" out.btf
  echo "[$options] exit $?"
done <<'END'
--slice 0,3
--slice 0,0,0,0,0
--slice a
--slice ::0
--slice 0,,1
--squeeze 1
--squeeze 4
--squeeze 0,-4
--squeeze=
--squeeze=a
--unsqueeze 5
--unsqueeze -6
--unsqueeze a
--unsqueeze 0,1
--unsqueeze
--reshape 5,-1
--reshape -1,-1
--reshape -2,96
--reshape 9223372036854775807,9223372036854775807
--reshape 1x192
--reshape 99999999999999999999
--squeeze --squeeze 0
--layout kHWC8 --slice 0,0
END
btftool convert --reshape '' "$file" out.btf
btftool convert --tensor 0 --block-scale mxfp8 "$file" blocks.btf
btftool convert --dequantize --reshape 3,64 blocks.btf out.btf
btftool convert --tensor 0 --output-spec fp32:1x3x8x8 --slice :,0 "$file" out.raw
ls -A
