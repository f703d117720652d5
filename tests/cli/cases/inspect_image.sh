# A picture is a PNG, or blocks; what cannot be drawn is said, and no file is left.
file=$TESTDATA/good/mixed.btf
btftool inspect --image a.png --tensor 0 "$file" && head -c 8 a.png | od -An -c
btftool inspect --image a.png --tensor 3 --at 40:48,20:28 --image-zoom 2 "$file"
btftool inspect --image - --image-as blocks --tensor 2 "$file" | head -1 | tr '\033' '~' | cut -c 1-41
btftool -q inspect --image - --tensor 0 "$file" | cmp - <(btftool -q inspect --image /dev/stdout --tensor 0 "$file") && echo same
for words in "" "--tensor 0 --stats" "--tensor 0 --at 0,:,9" "--tensor 0 --at 0,9:,:" "--tensor 0 --at :,:,:,:" "--tensor 0 --image-range 3,x" "--tensor 0 --image-zoom 0"; do
  btftool inspect --image no.png $words "$file"
  echo "[$words] exit $?"
done
btftool inspect --image-zoom 2 "$file"
btftool diff --image no.png --tensor 0 --image-at 0,0,0,:,: "$file" "$file" >/dev/null
echo "exit $?"
ls
