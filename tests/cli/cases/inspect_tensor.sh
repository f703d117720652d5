# Records are chosen by number, range and from the end, in the order that is written.
for selection in 0 299 -1 0,2-5,-1 -3--1 -1,0,0 5--295 298-299; do
  btftool inspect --tensor "$selection" "$TESTDATA/good/many.btf" >listing
  echo "[$selection] exit $?:" $(sed 1,2d listing | cut -c 1-3)
done
btftool inspect --tensor=-1 "$TESTDATA/good/many.btf"
