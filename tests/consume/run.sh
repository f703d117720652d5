#!/usr/bin/env bash
# Installs a finished build into a scratch prefix and uses it as a user would:
# with find_package, and with pkg-config where there is one.
#
#   run.sh BUILD_DIR
set -euo pipefail

fail() {
  echo "consume: $*" >&2
  exit 1
}

# cached NAME: the value that the build was configured with.
cached() {
  sed -n "s/^$1:[^=]*=//p" "$build/CMakeCache.txt"
}

# run_consumer PROGRAM: it must run, and with the library that was just installed.
run_consumer() {
  [[ $(ldd "$1") == *"$prefix/lib/libbtf.so."* ]] || fail "$1 does not use the installed libbtf"
  "$1" "$source/../../testdata/good/mixed.btf" >"$scratch/listing" || fail "$1 failed with exit code $?"
  [[ $(<"$scratch/listing") == "0 float32 kLINEAR [ 1 3 8 8 ]"* ]] || fail "$1 lists something else"
}

[[ $# -eq 1 && -f $1/CMakeCache.txt ]] || fail "usage: run.sh BUILD_DIR"
build=$(realpath -- "$1")
source=$(dirname -- "$(realpath -- "$0")")
scratch=$(realpath -- "$(mktemp -d)")
trap 'rm -rf -- "$scratch"' EXIT
unset LD_LIBRARY_PATH

# Installed in one place and used in another: nothing may remember the first.
cmake --install "$build" --prefix "$scratch/installed" >"$scratch/install.log" ||
  fail "install failed: $(<"$scratch/install.log")"
mv -- "$scratch/installed" "$scratch/moved"
prefix=$scratch/moved

[[ -x $prefix/bin/btftool ]] || fail "no bin/btftool"
[[ -L $prefix/lib/libbtf.so ]] || fail "lib/libbtf.so is not a link to a versioned library"
soname=$(LC_ALL=C readelf -d "$prefix/lib/libbtf.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[[ $soname == libbtf.so.* && -e $prefix/lib/$soname ]] || fail "no file for the soname '$soname'"
for header in "$source"/../../lib/include/btf/*.h; do
  [[ -f $prefix/include/btf/${header##*/} ]] || fail "no include/btf/${header##*/}"
done
"$prefix/bin/btftool" --version >/dev/null || fail "the installed btftool does not run"
for made in bash-completion/completions/btftool zsh/site-functions/_btftool fish/vendor_completions.d/btftool.fish \
  man/man1/btftool.1 man/man1/btftool-diff.1; do
  [[ -s $prefix/share/$made ]] || fail "no share/$made"
done

compiler=$(cached CMAKE_CXX_COMPILER)
cmake -S "$source" -B "$scratch/build" -G "$(cached CMAKE_GENERATOR)" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$scratch/build"
run_consumer "$scratch/build/consume"
run_consumer "$scratch/build/consume_c"

[[ -f $prefix/lib/pkgconfig/btf.pc ]] || fail "no lib/pkgconfig/btf.pc"
if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
  flags=$(pkg-config --cflags --libs btf)
  # Unquoted: the flags are words. pkg-config leaves the run-time path to its caller.
  # shellcheck disable=SC2086
  "$compiler" -std=c++23 "$source/main.cc" -o "$scratch/by_pkg_config" $flags -Wl,-rpath,"$prefix/lib"
  run_consumer "$scratch/by_pkg_config"
  c_compiler=$(cached CMAKE_C_COMPILER)
  # shellcheck disable=SC2086
  "$c_compiler" -std=c99 -Wall -Wextra -Wpedantic -Werror "$source/main.c" -o "$scratch/c_by_pkg_config" $flags \
    -Wl,-rpath,"$prefix/lib"
  run_consumer "$scratch/c_by_pkg_config"
fi
echo "consume: ok"
