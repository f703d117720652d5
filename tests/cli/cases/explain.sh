# What a word means, as validate prints it too, and of every kind; the nearest for a slip of the finger.
btftool explain data-past-end
btftool explain '[zip-crc]'
btftool explain channels-reversed
btftool explain dump-wrong
btftool explain nonfinite
btftool explain nnz
for words in zip-crx nonsense "--json region" "region scale"; do
  btftool explain $words
  echo "exit $?"
done
btftool explain | grep -E '^[^ ]|^  (region|clean|feeds|wide|poor|rtol)'
btftool explain --json | python3 -c 'import json,sys; t=json.load(sys.stdin); print(t["schema"], [w for w in t["words"] if w["word"] == "clean"])'
