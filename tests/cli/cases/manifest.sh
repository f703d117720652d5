# A manifest says which files are a set, and what those hold that do not say it themselves.
python3 - <<'END'
import struct
open("all.bin", "wb").write(struct.pack("<4f", 1, 2, 3, 4) + struct.pack("<4h", -1, 0, 1, 2) + b"\x00\x3c\x00\x40")
END
cp "$TESTDATA/npz/arrays.numpy.npz" arrays.npz && cp "$TESTDATA/good/mixed.btf" .
cat >manifest.json <<'END'
{"comment": "of one run", "schema": "btftool/manifest/1", "tensors": [
 {"name": "z last", "file": "all.bin", "spec": "fp32:linear:2x2", "offset": 0, "order": 2},
 {"name": "a first", "file": "all.bin", "spec": "int16:4", "offset": 16, "order": 0, "role": "input"},
 {"file": "mixed.btf", "tensor": 2, "name": "shape", "order": 1},
 {"file": "all.bin", "spec": "fp16:2", "offset": 24}
]}
END
btftool inspect --values manifest.json
echo "== its order, names and orders go along"
btftool convert manifest.json out.btf
btftool inspect out.btf
python3 - <<'END'
import json, struct
data = open("out.btf", "rb").read()
table = data[-struct.unpack("<Q", data[-24:-16])[0]:]
count, names, attributes = struct.unpack_from("<3Q", table, 16)
print(json.dumps(json.loads(table[48 + 4 * count + names:][:attributes]), sort_keys=True))
END
btftool diff manifest.json out.btf; echo "exit $?"
btftool inspect --tensor 'a*,1' manifest.json | tail -n 1
echo "== a manifest of a set opens as that set"
btftool inspect --manifest manifest.json >copy.json; cat copy.json
btftool inspect --manifest copy.json | cmp - copy.json && btftool diff copy.json manifest.json | tail -n 1
btftool inspect --manifest --input-spec fp16:linear:14 all.bin
btftool inspect --manifest --tensor 1 mixed.btf arrays.npz
btftool inspect --manifest - <mixed.btf; echo "exit $?"
btftool inspect --manifest --stats mixed.btf; echo "exit $?"
echo "== in a directory it is none of the files, and says what those hold that it names"
mkdir -p run/sub && cp all.bin run/sub/ && cp mixed.btf run/
printf '{"schema":"btftool/manifest/1","tensors":[{"file":"sub/all.bin","spec":"u8:28","name":"bytes"}]}' >run/my.manifest.json
btftool inspect run | grep -v '#'
btftool validate manifest.json run
echo "== what is wrong is said"
while IFS= read -r text; do
  printf '%s' "$text" >m.json
  btftool inspect m.json; echo "exit $?"
done <<'TEXTS'
{"schema":"btftool/manifest/1"}
{"schema":"btftool/manifest/2","tensors":[],"comment":"btftool/manifest/1"}
{"schema":"btftool/manifest/1","tensors":[]}
{"schema":"btftool/manifest/1","tensors":[{"name":"x"}]}
{"schema":"btftool/manifest/1","tensors":[{"file":"all.bin","spce":"fp32"}]}
{"schema":"btftool/manifest/1","tensors":[{"file":"all.bin","spec":"fp33:2"}]}
{"schema":"btftool/manifest/1","tensors":[{"file":"all.bin","offset":4}]}
{"schema":"btftool/manifest/1","tensors":[{"file":"all.bin","offset":4,"spec":"fp32"}]}
{"schema":"btftool/manifest/1","tensors":[{"file":"all.bin","offset":-4,"spec":"fp32:1"}]}
{"schema":"btftool/manifest/1","tensors":[{"file":"all.bin","offset":25,"spec":"fp32:1"}]}
{"schema":"btftool/manifest/1","tensors":[{"file":"all.bin","offset":18446744073709551615,"spec":"fp32:1"}]}
{"schema":"btftool/manifest/1","tensors":[{"file":"all.bin","spec":"fp32:1"}]}
{"schema":"btftool/manifest/1","tensors":[{"file":"gone.bin","spec":"fp32:1"}]}
{"schema":"btftool/manifest/1","tensors":[{"file":".","spec":"fp32:1"}]}
{"schema":"btftool/manifest/1","tensors":[{"file":"mixed.btf","tensor":4}]}
{"schema":"btftool/manifest/1","tensors":[{"file":"arrays.npz","tensor":"gone"}]}
{"schema":"btftool/manifest/1","tensors":[{"file":"mixed.btf","name":"which?"}]}
{"schema":"btftool/manifest/1","tensors":[{"file":"mixed.btf","tensor":1},{"file":"mixed.btf","tensor":1}]}
{"schema":"btftool/manifest/1","tensors":[{"file":"mixed.btf","tensor":1,"offset":8,"spec":"u8:1"}]}
{"schema":"btftool/manifest/1","tensors":[{"file":"mixed.btf","tensor":1}
TEXTS
exit 0
