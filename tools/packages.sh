#!/usr/bin/env bash
# Installs the packages that building and testing btftool needs.
#
#   packages.sh build|static|test|browser|engines|cross|package|fuzz|analysis|mutate...
#
# Missing packages are installed with apt-get; without apt-get they are listed. If nothing is missing,
# the network is not used.
# Exit codes: 0 nothing is missing, 2 something is still missing, or wrong usage.
set -euo pipefail

say() {
  echo "packages.sh: $*" >&2
}

# Prints a line for each package of a group: the Debian package, and a command, header, file or Python module that shows whether
# it is installed, in whatever way.
group() {
  case $1 in
    build)
      echo 'g++                command c++
            cmake              command cmake
            ninja-build        command ninja
            libcli11-dev       header  CLI/CLI.hpp
            libspdlog-dev      header  spdlog/spdlog.h
            libfmt-dev         header  fmt/format.h
            libpng-dev         header  png.h
            libpugixml-dev     header  pugixml.hpp
            libhwy-dev         header  hwy/highway.h
            libzstd-dev        header  zstd.h
            libisal-dev        header  isa-l/crc.h
            zlib1g-dev         header  zlib.h
            libxxhash-dev      header  xxhash.h
            nlohmann-json3-dev header  nlohmann/json.hpp
            pkg-config         command pkg-config'
      ;;
    static)  # for the static program and the Python package
      echo 'libdeflate-dev     header  libdeflate.h
            python3-dev        command python3-config'
      ;;
    test)
      echo 'catch2             header  catch2/catch.hpp
            python3            command python3
            python3-jsonschema module  jsonschema
            time               command time
            groff-base         command groff
            zsh                command zsh
            fish               command fish
            zstd               command zstd'
      ;;
    browser)  # for tests of the HTML pages
      echo 'chromium           command chromium'
      ;;
    engines)  # for tests of starting shards: docs/scaling.md
      echo 'parallel           command parallel
            munge              file    /usr/sbin/munged
            slurm-wlm          command slurmctld'
      ;;
    cross)  # for aarch64
      echo 'g++-aarch64-linux-gnu command aarch64-linux-gnu-g++
            qemu-user-static      command qemu-aarch64-static'
      ;;
    package)  # for checks of Debian packages
      echo 'lintian            command lintian
            mmdebstrap         command mmdebstrap'
      ;;
    fuzz)
      echo 'clang-19           command clang++-19
            libclang-rt-19-dev file    /usr/lib/llvm-19/lib/clang/19/lib/linux'
      ;;
    analysis)
      echo 'clang-tidy-19      command run-clang-tidy-19
            cppcheck           command cppcheck
            valgrind           command valgrind'
      ;;
    mutate)
      echo 'clang-19           command clang++-19
            lld-19             command ld.lld-19
            llvm-19            command llvm-cov-19'
      ;;
    *)
      say "usage: packages.sh build|static|test|browser|engines|cross|package|fuzz|analysis|mutate... (got '$1')"
      return 2
      ;;
  esac
}

compiler() {
  local name
  for name in "${CXX:-c++}" g++ clang++; do
    type -P "$name" && return
  done
  return 1
}

# is_there PACKAGE KIND NAME: succeeds if it is installed.
is_there() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]] && return
  local cxx
  case "$2 $3" in
    'command c++') compiler >/dev/null ;;
    command*) type -P "$3" >/dev/null ;;
    file*) [[ -e $3 ]] ;;
    module*) python3 -c "import $3" >/dev/null 2>&1 ;;
    header*)
      cxx=$(compiler) || return 1
      # CMake also searches CMAKE_PREFIX_PATH.
      local -a flags=()
      local prefix
      while IFS= read -r -d : prefix; do
        [[ -z $prefix ]] || flags+=("-I$prefix/include")
      done <<<"${CMAKE_PREFIX_PATH-}:"
      "$cxx" "${flags[@]}" -E -x c++ - <<<"#include <$3>" >/dev/null 2>&1
      ;;
  esac
}

# find_missing: fills `missing` (packages) and `described` (for messages) from `wanted`.
find_missing() {
  missing=()
  described=()
  local package kind name
  while read -r package kind name; do
    if ! is_there "$package" "$kind" "$name"; then
      missing+=("$package")
      described+=("$kind $name (Debian package $package)")
    fi
  done <<<"$wanted"
}

install_missing() {
  local -a as_root=()
  type -P apt-get >/dev/null || { say "apt-get was not found"; return 1; }
  if (( EUID != 0 )); then
    type -P sudo >/dev/null || { say "apt-get needs root, and there is no sudo"; return 1; }
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  # Out-of-date lists are often good enough, so a failure here is not fatal.
  "${as_root[@]}" apt-get update -qq || say "apt-get update failed, continuing"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq -y --no-install-recommends -o DPkg::Lock::Timeout=120 "${missing[@]}"
}

(( $# > 0 )) || group ''
wanted=$(for name in "$@"; do group "$name" || exit 2; done)
find_missing
(( ${#missing[@]} > 0 )) || exit 0
install_missing >&2 || say "could not install ${missing[*]}"
find_missing
if (( ${#missing[@]} > 0 )); then
  say "still missing:"
  printf '  %s\n' "${described[@]}" >&2
  exit 2
fi
