#!/usr/bin/env bash
# Makes what a release is made of, from the commit that is checked out, and checks it: the sources, a btftool that is one file
# for x86-64 and for aarch64, Debian packages, each with a bill of materials, the Python package, and checksums.
#
#   release.sh [-o FOLDER] [-w FOLDER] [source|debian|static|aarch64|wheel...]
#
# -o: where it goes, build/dist by default. -w: where it is built, build/release; what is there of the same commit is used again.
# The same commit gives the same bytes, with the same packages of Debian. A part is made alone if it is named.
# Exit codes: 0 made and checked, 2 not.
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
  [[ $part =~ ^(source|debian|static|aarch64|wheel)$ ]] || fail "there is no part '$part': source, debian, static, aarch64, wheel"
done

# wanted PART...: is one of them to be made?
parts=" $* "
wanted() {
  local part
  for part in "$@"; do
    [[ $parts != *" $part "* ]] || return 0
  done
  return 1
}

commit=$(git rev-parse HEAD) || fail "there is no git repository here; the sources of a release have none"
[[ -z $(git status --porcelain --untracked-files=no) ]] || fail "there are changes that are not committed"
version=$(sed -n 's/^  VERSION \([0-9.]*\)$/\1/p' CMakeLists.txt)
umask 022
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
mkdir -p -- "$folder" "$work"
folder=$(realpath -- "$folder")
work=$(realpath -- "$work")
jobs=${JOBS:-$(nproc)}

# run COMPLAINT COMMAND...: what the command says is wanted only where it fails.
run() {
  "${@:2}" >"$work/log" 2>&1 || { tail -40 -- "$work/log" >&2; fail "$1"; }
}

# put FILE...: into the release, each under a name that nothing else of this run has.
names=" "
put() {
  local file
  for file in "$@"; do
    [[ $names != *" ${file##*/} "* ]] || fail "two parts are named ${file##*/}"
    names+="${file##*/} "
    cp -- "$file" "$folder"
    say "made ${file##*/}"
  done
}

# built FOLDER PRESET TARGET...: from the sources of the release.
built() {
  local build=$work/$1 preset=$2
  run "$preset cannot be configured" cmake -C "$source/tools/presets/$preset.cmake" -S "$source" -B "$build" -G Ninja
  run "$preset cannot be built" cmake --build "$build" --parallel "$jobs" --target "${@:3}"
}

# packed NAME: the folder NAME in $work as an archive, always of the same bytes.
packed() {
  tar --create --directory "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -- "$1" |
    gzip --best --no-name >"$work/$1.tar.gz"
  put "$work/$1.tar.gz"
}

# one_file MACHINE BUILD STRIP OPTION...: the static program with licences and what goes beside it. OPTION: of sbom.py.
one_file() {
  local name=btftool-$version-linux-$1
  rm -rf -- "${work:?}/$name"
  mkdir -- "$work/$name"
  "$3" -o "$work/$name/btftool" "$work/$2/bin/btftool"
  "$source/tools/package/sbom.py" --name "$name" --version "$version" --licences "$work/$name/licences" "${@:4}" \
    "$work/$name/btftool" >"$work/$name.spdx.json"
  put "$work/$name.spdx.json"
  cp -- "$source/README.md" "$work/$name"
  # Texts, which are those of any machine.
  [[ ! -d $work/share ]] || cp -r -- "$work/share" "$work/$name/share"
  packed "$name"
}

tools/packages.sh build static test package || exit 2

# All is built from the archive, so that it is known to have all that is needed.
archive=btftool-$version
if [[ $(cat -- "$work/commit" 2>/dev/null) != "$commit" ]]; then
  rm -rf -- "${work:?}"/*
fi
git -c tar.umask=0022 archive --format=tar --prefix="$archive/" HEAD | gzip --best --no-name >"$work/$archive-source.tar.gz"
tar --extract --file "$work/$archive-source.tar.gz" --directory "$work"
echo "$commit" >"$work/commit"
source=$work/$archive
if wanted source; then
  put "$work/$archive-source.tar.gz"  # the Python package's sources have the name without that word
fi

if wanted debian static; then
  # The objects are the same; the program is linked once with libraries and once without.
  [[ ! -e $work/x86_64/CMakeCache.txt ]] || run "the build cannot be configured" cmake -DBTF_STATIC=OFF "$work/x86_64"
  built x86_64 debian btf btftool
  rm -rf -- "$work/share"
  cp -r -- "$work/x86_64/tools/share" "$work/share"
  run "it breaks what was promised" python3 "$source/tests/stability/stability.py" "$work/x86_64/bin/btftool" "$source"
fi
if wanted debian; then
  rm -rf -- "$work/packages"
  (cd -- "$work/x86_64" && run "no Debian packages" cpack -G DEB -B "$work/packages")
  rm -rf -- "$work/packages/_CPack_Packages"
  "$source/tests/package/debian.sh" "$work/packages" >&2 || fail "the Debian packages are not as they should be"
  "$source/tools/package/sbom.py" --name "btftool-$version-debian" --version "$version" \
    "$work/x86_64"/lib/libbtf.so.*.*.* "$work/x86_64/bin/btftool" >"$work/btftool-$version-debian.spdx.json"
  put "$work/packages"/*.deb "$work/btftool-$version-debian.spdx.json"
fi
if wanted static; then
  run "the static program cannot be configured" cmake -DBTF_STATIC=ON "$work/x86_64"
  run "the static program cannot be built" cmake --build "$work/x86_64" --parallel "$jobs" --target btftool
  "$source/tests/package/static.sh" "$work/x86_64/bin/btftool" >&2 || fail "the static program is not as it should be"
  one_file x86_64 x86_64 strip
fi
if wanted aarch64; then
  run "no libraries of aarch64" "$source/tools/package/foreign.sh" "$work/aarch64/foreign"
  built aarch64 aarch64 btftool
  "$source/tests/package/static.sh" -e qemu-aarch64-static "$work/aarch64/bin/btftool" >&2 ||
    fail "the static program for aarch64 is not as it should be"
  one_file aarch64 aarch64 aarch64-linux-gnu-strip --foreign "$work/aarch64/foreign" --compiler aarch64-linux-gnu-g++
fi
if wanted wheel; then
  run "no wheel" "$source/tools/wheel.sh" -o "$work/wheel"
  put "$work/wheel"/*.whl "$work/wheel"/*.tar.gz
fi

cd -- "$folder"
rm -f SHA256SUMS
sha256sum -- * >SHA256SUMS
cat SHA256SUMS
