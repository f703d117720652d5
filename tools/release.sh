#!/usr/bin/env bash
# Makes and checks the files of a release from the checked-out commit: the sources, a static btftool for x86-64 and for aarch64
# and Debian packages, each with a bill of materials, the Python package, and checksums.
#
#   release.sh [-o FOLDER] [-w FOLDER] [source|debian|static|aarch64|wheel...]
#
# -o: the folder for the files, build/dist by default. -w: the folder to build in, build/release by default; results of the same
# commit there are used again. With parts given, only these are made. The same commit and the same Debian packages give the same
# bytes.
# Exit codes: 0 made and checked, 2 failed.
set -euo pipefail
cd -- "$(dirname -- "$(realpath -- "$0")")/.."

say() {
  echo "release.sh: $*" >&2
}

fail() {
  say "$*"
  exit 2
}

folder=build/dist
work=build/release
while getopts o:w: option; do
  case $option in
    o) folder=$OPTARG ;;
    w) work=$OPTARG ;;
    *) fail "usage: release.sh [-o FOLDER] [-w FOLDER] [source|debian|static|aarch64|wheel...]" ;;
  esac
done
shift $((OPTIND - 1))
(( $# > 0 )) || set -- source debian static aarch64 wheel
for part in "$@"; do
  [[ $part =~ ^(source|debian|static|aarch64|wheel)$ ]] || fail "unknown part '$part'; there are source, debian, static, aarch64, wheel"
done

# wanted PART...: succeeds if one of them is to be made.
parts=" $* "
wanted() {
  local part
  for part in "$@"; do
    [[ $parts != *" $part "* ]] || return 0
  done
  return 1
}

commit=$(git rev-parse HEAD) || fail "this is not a git repository, which a release is made from"
[[ -z $(git status --porcelain --untracked-files=no) ]] || fail "there are uncommitted changes"
version=$(sed -n 's/^  VERSION \([0-9.]*\)$/\1/p' CMakeLists.txt)
umask 022
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
mkdir -p -- "$folder" "$work"
folder=$(realpath -- "$folder")
work=$(realpath -- "$work")
jobs=${JOBS:-$(nproc)}

# run MESSAGE COMMAND...: shows the output of the command only if it fails, and then exits with the message.
run() {
  "${@:2}" >"$work/log" 2>&1 || { tail -40 -- "$work/log" >&2; fail "$1"; }
}

# put FILE...: copies files into the release; their names must be unique.
names=" "
put() {
  local file
  for file in "$@"; do
    [[ $names != *" ${file##*/} "* ]] || fail "two files are named ${file##*/}"
    names+="${file##*/} "
    cp -- "$file" "$folder"
    say "made ${file##*/}"
  done
}

# built FOLDER PRESET TARGET...: builds from the sources of the release.
built() {
  local build=$work/$1 preset=$2
  run "$preset cannot be configured" cmake -C "$source/tools/presets/$preset.cmake" -S "$source" -B "$build" -G Ninja
  run "$preset cannot be built" cmake --build "$build" --parallel "$jobs" --target "${@:3}"
}

# packed NAME: makes a reproducible archive of the folder NAME in $work.
packed() {
  tar --create --directory "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -- "$1" |
    gzip --best --no-name >"$work/$1.tar.gz"
  put "$work/$1.tar.gz"
}

# one_file MACHINE BUILD STRIP OPTION...: packs the static program with licences, completion scripts and man pages. OPTION: for
# sbom.py.
one_file() {
  local name=btftool-$version-linux-$1
  rm -rf -- "${work:?}/$name"
  mkdir -- "$work/$name"
  "$3" -o "$work/$name/btftool" "$work/$2/bin/btftool"
  "$source/tools/package/sbom.py" --name "$name" --version "$version" --licences "$work/$name/licences" "${@:4}" \
    "$work/$name/btftool" >"$work/$name.spdx.json"
  put "$work/$name.spdx.json"
  cp -- "$source/README.md" "$work/$name"
  # These are texts, so those of x86-64 serve all machines.
  [[ ! -d $work/share ]] || cp -r -- "$work/share" "$work/$name/share"
  packed "$name"
}

tools/packages.sh build static test package || exit 2

# Everything is built from the archive, which shows that it is complete.
archive=btftool-$version
if [[ $(cat -- "$work/commit" 2>/dev/null) != "$commit" ]]; then
  rm -rf -- "${work:?}"/*
fi
git -c tar.umask=0022 archive --format=tar --prefix="$archive/" HEAD | gzip --best --no-name >"$work/$archive-source.tar.gz"
tar --extract --file "$work/$archive-source.tar.gz" --directory "$work"
echo "$commit" >"$work/commit"
source=$work/$archive
if wanted source; then
  put "$work/$archive-source.tar.gz"  # "-source", since the sources of the Python package have the other name
fi

if wanted debian static; then
  # Both programs are linked from the same objects, with shared and with static libraries.
  [[ ! -e $work/x86_64/CMakeCache.txt ]] || run "the build cannot be configured" cmake -DBTF_STATIC=OFF "$work/x86_64"
  built x86_64 debian btf btftool
  rm -rf -- "$work/share"
  cp -r -- "$work/x86_64/tools/share" "$work/share"
  run "it breaks a promise of docs/stability.md" python3 "$source/tests/stability/stability.py" "$work/x86_64/bin/btftool" "$source"
fi
if wanted debian; then
  rm -rf -- "$work/packages"
  (cd -- "$work/x86_64" && run "the Debian packages cannot be made" cpack -G DEB -B "$work/packages")
  rm -rf -- "$work/packages/_CPack_Packages"
  "$source/tests/package/debian.sh" "$work/packages" >&2 || fail "the check of the Debian packages failed"
  "$source/tools/package/sbom.py" --name "btftool-$version-debian" --version "$version" \
    "$work/x86_64"/lib/libbtf.so.*.*.* "$work/x86_64/bin/btftool" >"$work/btftool-$version-debian.spdx.json"
  put "$work/packages"/*.deb "$work/btftool-$version-debian.spdx.json"
fi
if wanted static; then
  run "the static program cannot be configured" cmake -DBTF_STATIC=ON "$work/x86_64"
  run "the static program cannot be built" cmake --build "$work/x86_64" --parallel "$jobs" --target btftool
  "$source/tests/package/static.sh" "$work/x86_64/bin/btftool" >&2 || fail "the check of the static program failed"
  one_file x86_64 x86_64 strip
fi
if wanted aarch64; then
  run "the libraries for aarch64 cannot be fetched" "$source/tools/package/foreign.sh" "$work/aarch64/foreign"
  built aarch64 aarch64 btftool
  "$source/tests/package/static.sh" -e qemu-aarch64-static "$work/aarch64/bin/btftool" >&2 ||
    fail "the check of the static program for aarch64 failed"
  one_file aarch64 aarch64 aarch64-linux-gnu-strip --foreign "$work/aarch64/foreign" --compiler aarch64-linux-gnu-g++
fi
if wanted wheel; then
  run "the Python package cannot be made" "$source/tools/wheel.sh" -o "$work/wheel"
  put "$work/wheel"/*.whl "$work/wheel"/*.tar.gz
fi

cd -- "$folder"
rm -f SHA256SUMS
sha256sum -- * >SHA256SUMS
cat SHA256SUMS
