#!/usr/bin/env bash
# The tool with a library that has one row more in its table of formats: everything knows the format.
#
#   run.sh BTFTOOL FOLDER_OF_THE_LIBRARY
set -euo pipefail
tool=$1
export LD_LIBRARY_PATH=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

failures=0
# expect WHAT TEXT COMMAND..: it succeeds, and TEXT is in what it prints.
expect() {
  local what=$1 text=$2
  shift 2
  local said
  if ! said=$("$@" 2>&1) || [[ $said != *"$text"* ]]; then
    echo "$what: '$text' expected, found: $said"
    failures=$((failures + 1))
  fi
}
# refuse WHAT CODE TEXT COMMAND..: it ends with CODE, and TEXT is in what it prints.
refuse() {
  local what=$1 code=$2 text=$3
  shift 3
  local said found=0
  said=$("$@" 2>&1) || found=$?
  if [[ $found != "$code" || $said != *"$text"* ]]; then
    echo "$what: $code and '$text' expected, found $found: $said"
    failures=$((failures + 1))
  fi
}

# The elements 0, 1, 2, .. as Python writes them, and not as the library does.
python3 - <<'PY'
import struct
def toy(path, values, dims):
    with open(path, "w") as out:
        out.write(f"toy fp32:linear:{dims}\n{struct.pack(f'<{len(values)}f', *values).hex()}\n")
    with open(path + ".raw", "wb") as out:
        out.write(struct.pack(f"<{len(values)}f", *values))
toy("small.toy", list(range(6)), "2x3")
toy("other.toy", [0, 1, 2, 3, 4, 7], "2x3")
# More than is read of a stream of no known kind.
toy("large.toy", list(range(500_000)), "500000")
PY

for name in small large; do
  zstd -q "$name.toy" -o "$name.toy.zst"
  for input in "$name.toy" "$name.toy.zst"; do
    expect "inspect $input" "toy" "$tool" inspect "$input"
    expect "inspect $input" "float32" "$tool" inspect "$input"
    expect "validate $input" "" "$tool" validate "$input"
    expect "convert $input" "" "$tool" convert "$input" "$name.out.raw"
    expect "convert $input: elements" "" cmp "$name.out.raw" "$name.toy.raw"
    rm -f "$name.out.raw"
    expect "pipe of $input" "toy" bash -c 'cat "$2" | "$1" inspect -' - "$tool" "$input"
    expect "pipe of $input, converted" "" bash -c 'cat "$2" | "$1" convert - "$3"' - "$tool" "$input" "$name.out.raw"
    expect "pipe of $input: elements" "" cmp "$name.out.raw" "$name.toy.raw"
    rm -f "$name.out.raw"
    expect "diff $input" "" "$tool" diff "$input" "$name.toy"
  done
  # Written, as it is and compressed, and the same bytes as Python's.
  "$tool" convert "$name.toy" "$name.btf"
  expect "write" "" "$tool" convert "$name.btf" "$name.back.toy"
  expect "write: bytes" "" cmp "$name.back.toy" "$name.toy"
  expect "write compressed" "" "$tool" convert --compress "$name.btf" "$name.back.toy.zst"
  expect "write compressed: bytes" "" bash -c 'zstd -dcq "$1" | cmp - "$2"' - "$name.back.toy.zst" "$name.toy"
  expect "write by name" "" bash -c '"$1" convert --format toy "$2" - | cmp - "$3"' - "$tool" "$name.btf" "$name.toy"
done

mkdir one two
cp small.toy one && cp small.toy two && cp other.toy one/b.toy && cp small.toy two/b.toy
refuse "diff" 1 "1" "$tool" diff small.toy other.toy
refuse "diff of directories" 1 "1 of 2 files" "$tool" diff one two
head -c 40 small.toy > cut.toy
refuse "validate" 1 "data-past-end" "$tool" validate cut.toy
exit $((failures > 0))
