# What a directory of a model has beside its tensors is passed over and counted; what should be tensors
# and is broken is trouble.
model() {
  mkdir -p $1/runs $1/sub
  btftool convert --tensor 0 "$TESTDATA/good/mixed.btf" $1/w.npy
  btftool convert --tensor 1 "$TESTDATA/good/mixed.btf" $1/sub/v.npy
  printf '# A model\n\nIts weights.\n' >$1/README.md
  printf '{"hidden_size": 8, "layers": 2}\n' >$1/config.json
  printf '*.npy filter=lfs diff=lfs merge=lfs -text\n' >$1/.gitattributes
  printf 'import numpy as np\n\nprint(np.load("w.npy"))\n' >$1/sub/run.py
  : >$1/sub/__init__.py
  printf '\x89PNG\r\n\x1a\n....' >$1/plot.png
  printf '\x1f\x8b\x08\0........' >$1/logs.tar.gz
  printf 'Permission is granted, to whom it may concern\n' >$1/LICENSE
  printf '\n\x0e\n\5<unk>\x15\0\0\0\0\x18\2' >$1/tokenizer.model
  python3 -c "
import sys, zipfile
with zipfile.ZipFile(sys.argv[1] + '/notes.zip', 'w') as archive: archive.writestr(zipfile.ZipInfo('a.txt'), 'text')" $1
}
run() { btftool "$@"; echo "exit $?"; }
model a
model b
run inspect a
run -v inspect a >/dev/null
run -q inspect a >/dev/null
run validate a
run inspect --json a | python3 -c 'import json, sys; print(json.loads(sys.stdin.readline())["other_files"])'
run validate --json a | python3 -c 'import json, sys; print(json.loads(sys.stdin.readline())["other_files"])'
run convert a packed.btf
run inspect packed.btf
run convert --json a packed.btf | python3 -c 'import json, sys; print(len(json.loads(sys.stdin.readline())["other_files"]))'
run diff a b
run layers a b >/dev/null
btftool layers --json a b >layers.json 2>/dev/null
python3 -c 'import json; print(len(json.load(open("layers.json"))["other_files"]))'
# By its name a file is what it is asked for.
run inspect a/README.md
run diff a/config.json b/config.json
# All bytes count with --strict.
run diff --strict a b
printf '# a model\n' >b/README.md
printf '{"hidden_size": 8, "layers": 2}\n\n' >b/config.json
rm b/LICENSE
echo more than there was >b/sub/NEWS
run diff a b >/dev/null
run diff --strict a b
run diff --strict --summary a b
run diff --strict --exclude README.md --exclude '*.json' --exclude LICENSE --exclude NEWS a b
btftool diff --strict --json a b >report.json
python3 - <<'END'
import json
report = json.load(open("report.json"))
print(report["result"], len(report["other_files"]))
for member in report["members"]:
    if member["error"]: print(member["name"], member["result"], member["error"])
END
run diff --from-json report.json
run diff -q --strict a b
# What should be tensors stays trouble: by its name, or because nothing says that it is none.
mkdir broken
btftool convert --tensor 0 "$TESTDATA/good/mixed.btf" broken/w.npy
printf '<!DOCTYPE html>\n<html></html>\n' >broken/x.safetensors
printf 'not an array\n' >broken/y.npy
printf '\x1f\x8b\x08\0........' >broken/z.npy.gz
printf '\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8' >broken/data.bin
printf '\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8' >broken/unknown
printf 'words in the place of weights\n' >broken/model.bin
: >broken/nothing
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 7\n' >broken/big
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 7\n' >broken/big.png
mkfifo broken/pipe
ln -s gone broken/link.md
ln -s ../a/README.md broken/read.md
run inspect broken >/dev/null
run validate broken
# Text that a spec is given for is a file of tensors; JSON of tensors is one anyhow.
mkdir told golden
printf '%032d' 7 >told/dump.txt; printf '%032d' 7 >golden/dump.txt
run diff told golden
run diff --actual-spec 'dump*=u8:32' --golden-spec 'dump*=u8:32' told golden
run inspect --input-spec u8:32 told
mkdir none && cp a/README.md none && run inspect none; run convert none out.btf; run diff none none; run layers none none
