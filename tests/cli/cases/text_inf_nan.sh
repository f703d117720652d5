# What programs print of Inf and NaN is read; a # inside a word is an error and no comment.
printf '0.5\n1.#INF00\n-1.#IND00\n' >msvc.txt
btftool inspect --input-spec text:fp32 --values msvc.txt
btftool validate --nan --input-spec text:fp32 msvc.txt; echo "exit $?"
printf '0.5 1 -1' >plain.txt
btftool diff -q --actual-spec text:fp32 --golden-spec text:fp32 msvc.txt plain.txt; echo "exit $?"
printf 'Infinity -Infinity +inf NAN(0x7ff) -nan(ind) nan(snan) 1.#qnan NaNQ # all\n' >words.txt
btftool inspect --input-spec text:fp16 --values words.txt
for text in '1 2#3' '1 -1.#J' '1,#INF' '2 #N/A' '1.#INFX'; do
  printf '%s\n' "$text" >bad.txt
  btftool inspect --values --input-spec text:fp32 bad.txt; echo "exit $?"
done
printf '[ { "name" : "x", "dimensions" : "3", "values" : [ 1.#INF, -1.#IND, nan(ind) ] } ]' >out.json
btftool inspect --values out.json
printf '[ { "name" : "x", "dimensions" : "1", "values" : [ 2#3 ] } ]' >out.json
btftool inspect --values out.json; echo "exit $?"
exit 0
