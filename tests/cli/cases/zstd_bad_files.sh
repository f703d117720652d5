# Every way in which a frame or a seek table can be wrong, each with words of its own.
for file in "$TESTDATA"/zstd/bad-*; do
  btftool convert "$file" out.btf
  echo "${file##*/}: exit code $?"
  btftool validate "$file" | tail -n +1
  cat "$file" | btftool convert - out.btf 2>&1 | sed 's/^btftool: /through a pipe: /'
done
ls
