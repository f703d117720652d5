# How much of a stream a safetensors file can want is known by its header: no more is read, and what is missing is known.
needs zstd --version
file=$TESTDATA/safetensors/types.safetensors
frames() { zstd -qc "$1"; zstd -qc "$2"; }
head -c 1500 "$file" >front; tail -c +1501 "$file" >back
head -c 8 "$file" >eight; tail -c +9 "$file" >rest
btftool diff <(frames front back) "$file" | tail -n 1
btftool diff <(frames eight rest) "$file" | tail -n 1
frames front back >x.zst && btftool convert --names drop x.zst x.btf && cmp x.btf "$TESTDATA/safetensors/types.btf"
echo "== cut between two frames"
(zstd -qc eight; zstd -qc front) >cut.zst && tail -c +9 front | zstd -qc >part && (zstd -qc eight; cat part) >cut.zst
btftool inspect cut.zst; echo "exit $?"
echo "== more than the header wants"
head -c 3000000 /dev/zero | zstd -qc >zeros.zst
(frames front back; cat zeros.zst) >bomb.zst; btftool inspect bomb.zst; echo "exit $?"
(cat "$file"; yes) | btftool inspect -; echo "exit $?"
(printf '\x00\x10\0\0\0\0\0\0{"xxxxxxx'; head -c 100000000 /dev/zero) | btftool inspect -; echo "exit $?"
(head -c 200 "$file") | btftool inspect -; echo "exit $?"
