#!/usr/bin/env bash
# Debian packages as tools/package makes them: what lintian says, what is in them, a system with nothing else where they are
# installed, used and removed, and a program that is compiled with them.
#
#   debian.sh FOLDER
#
# Exit codes: 0 as they should be, or skipped, which it says; 1 not.
set -euo pipefail

fail() {
  echo "debian.sh: $*" >&2
  exit 1
}

skip() {
  echo "skipped: $*"
  exit 0
}

folder=${1:?usage: debian.sh FOLDER}
[[ -d $folder ]] || skip "no packages were made in $folder"
folder=$(realpath -- "$folder")
tests=$(realpath -- "$(dirname -- "$0")/..")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

shopt -s nullglob
debs=("$folder"/*.deb)
(( ${#debs[@]} == 3 )) || fail "three packages are wanted, there are: ${debs[*]##*/}"
library=$(echo "$folder"/libbtf[0-9]*.deb)
development=$(echo "$folder"/libbtf-dev_*.deb)
tool=$(echo "$folder"/btftool_*.deb)

# What a user looks for is there.
dpkg-deb -x "$library" "$scratch/all"
soname=$(LC_ALL=C readelf -d "$scratch"/all/usr/lib/*/libbtf.so.*.*.* | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[[ $(dpkg-deb -f "$library" Package) == libbtf${soname#libbtf.so.} ]] || fail "${library##*/} is not named after $soname"
dpkg-deb -x "$development" "$scratch/all"
dpkg-deb -x "$tool" "$scratch/all"
for path in usr/bin/btftool usr/include/btf/btf.h usr/include/btf/convert.h usr/share/man/man1/btftool.1.gz usr/share/man/man1/btftool-diff.1.gz \
  usr/share/bash-completion/completions/btftool usr/share/zsh/site-functions/_btftool usr/share/fish/vendor_completions.d/btftool.fish \
  usr/share/btftool/schemas/diff-2.json usr/share/doc/btftool/cli.md usr/share/doc/btftool/copyright usr/share/doc/libbtf-dev/examples/read_tensor.c; do
  [[ -s $scratch/all/$path ]] || fail "no $path"
done
! LC_ALL=C readelf -d "$scratch/all/usr/bin/btftool" | grep -E 'R(UN)?PATH' || fail "btftool looks for its library elsewhere"

if type -P lintian >/dev/null; then
  lintian --fail-on error --allow-root "${debs[@]}" >"$scratch/lintian" 2>&1 || { cat -- "$scratch/lintian"; fail "lintian finds errors"; }
  echo "lintian: no error, $(grep -c '^W:' "$scratch/lintian" || true) warnings"
else
  echo "without lintian: apt-get install lintian"
fi

# A program in C, as a user of these packages compiles it.
lib=$(echo "$scratch"/all/usr/lib/*/pkgconfig)
flags=$(PKG_CONFIG_LIBDIR=$lib pkg-config --cflags --libs btf) || fail "pkg-config does not know btf"
# shellcheck disable=SC2086
"${CC:-cc}" -std=c99 -Wall -Werror "$tests/consume/main.c" -o "$scratch/consume" $flags -Wl,-rpath-link,"${lib%/pkgconfig}" ||
  fail "a program cannot be compiled: $flags"

# What Debian's tools say that a package of such a program needs; and what the program that comes with the library does.
name=libbtf${soname#libbtf.so.}
dpkg-deb -e "$library" "$scratch/control"
mkdir -- "$scratch/debian"
printf 'Source: consume\n\nPackage: consume\nArchitecture: any\n' >"$scratch/debian/control"
needed=$(cd -- "$scratch" && dpkg-shlibdeps -O "-l${lib%/pkgconfig}" "-L$scratch/control/shlibs" "-e$scratch/consume" 2>"$scratch/log") || { cat -- "$scratch/log"; fail "dpkg-shlibdeps fails"; }
version=$(dpkg-deb -f "$library" Version)
[[ $needed =~ "$name (>= $version)" ]] || fail "a program that uses the library is told to need: $needed"
[[ $(dpkg-deb -f "$tool" Depends) =~ "$name (= $version)" ]] || fail "btftool needs: $(dpkg-deb -f "$tool" Depends)"

# A system with nothing in it but apt.
type -P mmdebstrap >/dev/null || skip "the rest, without mmdebstrap: apt-get install mmdebstrap"
cp -- "${debs[@]}" "$scratch/consume" "$tests/../testdata/good/mixed.btf" "$scratch/all"
cat >"$scratch/all/use.sh" <<'END'
set -eu
cd /packages
files() {
  find / -xdev \( -path /packages -o -path /proc -o -path /sys -o -path /var/cache -o -path /var/lib -o -path /var/log -o -path /etc/ld.so.cache -o -path /tmp \) -prune -o -print | sort
}
apt="apt-get -qq -y -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root -o APT::Keep-Downloaded-Packages=0"
export DEBIAN_FRONTEND=noninteractive
# What they need comes first, so that what is left behind is theirs.
needed=$(for deb in *.deb; do dpkg-deb -f $deb Depends; done | tr ',' '\n' | sed 's/ *\([^ ]*\).*/\1/' | grep -v '^libbtf' | sort -u)
$apt install --no-install-recommends $needed >/dev/null
files >/tmp/before
began=$(date +%s%N)
$apt install --no-install-recommends ./*.deb >/dev/null
btftool inspect mixed.btf >listing
echo "from apt install to the first result: $(( ($(date +%s%N) - began) / 1000000 )) ms"
grep -q '^mixed.btf: BTF, 4 tensors, 3144 bytes$' listing
btftool -q convert --tensor 0 --dtype fp16 --layout hwc8 mixed.btf out.btf.zst
btftool -q diff --close --tensor 0 out.btf.zst mixed.btf
./consume mixed.btf | grep -q '^0 float32 kLINEAR \[ 1 3 8 8 \]'
dpkg --verify $(for deb in *.deb; do dpkg-deb -f $deb Package; done)
$apt purge $(for deb in *.deb; do dpkg-deb -f $deb Package; done) >/dev/null
files >/tmp/after
diff /tmp/before /tmp/after
END
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mmdebstrap --quiet --variant=apt --customize-hook="mkdir \"\$1/packages\"" \
  --customize-hook="cp $scratch/all/*.deb $scratch/all/consume $scratch/all/mixed.btf $scratch/all/use.sh \"\$1/packages\"" \
  --customize-hook="chroot \"\$1\" sh /packages/use.sh >$scratch/used 2>&1 || { touch $scratch/failed; exit 1; }" \
  "$suite" /dev/null >"$scratch/log" 2>&1 || {
    [[ -e $scratch/failed ]] || skip "no system to install them in: $(tail -n 1 "$scratch/log")"
    cat -- "$scratch/used" >&2
    fail "not installed, used and removed in a clean system"
  }
cat -- "$scratch/used"
echo "installed, used and removed in a clean $suite"
