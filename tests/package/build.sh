#!/usr/bin/env bash
# Makes Debian packages of what BUILD_DIR has built, in its folder packages/. Where that cannot be, it says so, and their test is skipped.
#
#   build.sh BUILD_DIR
set -euo pipefail
build=$(realpath -- "$1")
rm -rf -- "$build/packages"
# A library with a sanitizer in it is for nobody.
! grep -q '^BTF_SANITIZE:[A-Z]*=.' "$build/CMakeCache.txt" || exit 0
for command in cpack dpkg-architecture dpkg-shlibdeps; do
  type -P "$command" >/dev/null || { echo "build.sh: without $command no Debian packages are made"; exit 0; }
done

cached() {
  sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"
}

# As tools/presets/debian_places.cmake has it; the cache knows other places.
back=(-DCMAKE_INSTALL_PREFIX="$(cached CMAKE_INSTALL_PREFIX)" -DCMAKE_INSTALL_LIBDIR="$(cached CMAKE_INSTALL_LIBDIR)" -DCMAKE_SKIP_INSTALL_RPATH=OFF)
made=0
{ cmake "$build" -UCMAKE_INSTALL_PREFIX -UCMAKE_INSTALL_LIBDIR -UCMAKE_SKIP_INSTALL_RPATH \
    -C "$(dirname -- "$(realpath -- "$0")")/../../tools/presets/debian_places.cmake" &&
  cmake --build "$build" --target btf btftool &&
  (umask 022; cd -- "$build" && cpack -G DEB -B "$build/packages"); } >"$build/packages.log" 2>&1 || made=$?
# The directory is again what it was.
cmake "$build" "${back[@]}" >/dev/null
(( made == 0 )) || { tail -20 "$build/packages.log" >&2; rm -rf -- "$build/packages"; exit 1; }
