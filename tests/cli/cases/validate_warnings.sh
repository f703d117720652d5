# What readers can live with is a warning, and the file is well-formed.
btftool validate "$TESTDATA"/odd/{bool_byte,coo_duplicate_index,gap_between_records,lane_padding_not_zero}.btf \
  "$TESTDATA"/odd/{misaligned_offsets,offsets_not_ascending,padding_not_zero,reserved_not_zero}.btf \
  "$TESTDATA"/odd/{spare_nibble_not_zero,trailing_bytes,unpadded_last}.btf
