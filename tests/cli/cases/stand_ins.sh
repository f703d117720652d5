# What stands in the place of a file is called that under any name.
pointer='version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 438007537\n'
page='<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>\n'
for ending in .safetensors .npy .npz .pt .onnx .pb .gguf .btf .bin .raw .json .npy.zst ''; do
  printf "$pointer" >"model$ending"
  btftool inspect "model$ending"; echo "$ending: exit $?"
  printf "$page" >"page$ending"
  btftool inspect "page$ending"; echo "$ending: exit $?"
  : >"empty$ending"
  btftool inspect "empty$ending"; echo "$ending: exit $?"
done
answer() {
  printf "$2" >"$1"
  btftool inspect "$1"; echo "$1: exit $?"
}
answer a.safetensors 'Entry not found'
answer b.npy '404: Not Found\n'
answer c.pt '{"error":"Repository not found"}'
answer d.npz '{\n  "message": "Not Found", "status": "404"\n}\n'
answer e.gguf '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code></Error>\n'
answer f.safetensors '\r\n<HTML lang="en"><body>busy</body></HTML>\n'
answer g.btf '<html></html>'
# And through a pipe, in every command.
printf "$pointer" | btftool inspect -; echo "exit $?"
btftool inspect - </dev/null; echo "exit $?"
for command in "validate" "convert" "diff" "layers"; do
  case $command in
    validate) btftool validate model.safetensors ;;
    convert) btftool convert model.safetensors out.btf ;;
    *) btftool $command model.safetensors "$TESTDATA/good/mixed.btf" ;;
  esac
  echo "$command: exit $?"
done
# Of what has another format's name, and is of no known kind, no count is believed.
printf '\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9' >junk
for ending in .safetensors .npy .npz .pt .gguf .onnx .params .btf ''; do
  [ -z "$ending" ] || cp junk "junk$ending"
  btftool inspect "junk$ending"; echo "exit $?"
done
btftool validate junk junk.safetensors; echo "exit $?"
yes | btftool inspect -; echo "exit $?"
head -c 3000000 /dev/zero | tr '\0' '\377' >big && zstd -q big && btftool inspect big.zst; echo "exit $?"
# A spec that fits says what it is.
btftool inspect --values --input-spec u8:9 junk; echo "exit $?"
: >nothing && btftool inspect --input-spec fp32:0x3 nothing; echo "exit $?"
