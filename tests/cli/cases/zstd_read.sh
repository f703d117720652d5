# zstd is known by its first bytes, whoever wrote it and however it comes.
for file in seekable.btf.zst seekable_pieces.btf.zst seekable_bare.btf.zst seekable_gaps.btf.zst one_frame.btf.zst frames.btf.zst no_name; do
  btftool convert "$TESTDATA/zstd/$file" plain.btf && cmp plain.btf "$TESTDATA/good/mixed.btf"
  btftool diff -q --tensor 0,2 "$TESTDATA/zstd/$file" "$TESTDATA/good/mixed.btf" || echo "$file differs"
  # Standard input that can seek, and one that cannot.
  btftool convert - plain.btf <"$TESTDATA/zstd/$file" && cmp plain.btf "$TESTDATA/good/mixed.btf"
  cat "$TESTDATA/zstd/$file" | btftool convert - plain.btf && cmp plain.btf "$TESTDATA/good/mixed.btf"
  btftool validate "$TESTDATA/zstd/$file"
done
btftool inspect --json --tensor 2 "$TESTDATA/zstd/seekable.btf.zst"
btftool inspect --values "$TESTDATA/zstd/one_frame.btf.zst" --tensor 2
zstd -dcq "$TESTDATA/zstd/frames.btf.zst" | btftool inspect -
