#!/usr/bin/env bash
# Makes gpuadvise-VERSION-linux-ARCH.tar.xz, which needs nothing of the machine but its kernel, and of the same programs
# packages for EL (.rpm) and Ubuntu (.deb):
#
#     packaging/portable.sh [--arch x86_64|aarch64] [FOLDER]     # FOLDER: for what is made, else build/portable
#
# On Debian 12 or 13. All programs are static: Debian's static libraries, and prometheus-cpp, of which Debian has none,
# from Debian's source package. Another architecture is built by Debian's cross compiler, with Debian's packages of that
# architecture unpacked in the build folder, and its programs run under qemu while the man pages are made.
set -euo pipefail

top=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
arch=$(uname -m)
folder=$top/build/portable

fail() {
  printf 'portable: %s\n' "$*" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      sed -n '2,10s/^#\( \|$\)//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    --arch)
      arch=${2:-}
      shift
      ;;
    -*) fail "unknown option $1; usage: packaging/portable.sh [--arch x86_64|aarch64] [FOLDER]" ;;
    *) folder=$(readlink -m "$1") ;;
  esac
  shift
done
case $arch in
  x86_64) debian_arch=amd64 ;;
  aarch64) debian_arch=arm64 ;;
  *) fail "--arch is x86_64 or aarch64, not '$arch'" ;;
esac
is_cross=$([ "$arch" = "$(uname -m)" ] || echo yes)
work=$top/build/portable-$arch
tree=$work/tree   # the installation
parts=$work/parts # the root of another architecture's packages
prometheus=$work/prometheus
options=()        # of CMake, for everything that is built here

# apt with a state of its own in the build folder: this machine's stays as it is.
own_apt() {
  apt-get -qq -o APT::Architecture="$debian_arch" -o APT::Architectures="$debian_arch" -o Dir::State="$work/apt" \
    -o Dir::State::status="$work/apt/status" -o Dir::Cache="$work/apt" -o Dir::Etc::sourceparts=- \
    -o Dir::Etc::sourcelist="$work/apt/sources.list" -o APT::Sandbox::User=root "$@"
}

# The mirrors are those of this machine.
prepare_apt() {
  [ ! -e "$work/apt/ready" ] || return 0
  mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial"
  : >"$work/apt/status"
  local mirrors
  # shellcheck disable=SC2016 # apt's own variables
  mirrors=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' | sort -u)
  [ -n "$mirrors" ] || fail "apt knows no Debian mirror; run apt-get update on a Debian 12 or 13"
  sed 's/^/deb /; p; s/^deb /deb-src /' <<<"$mirrors" >"$work/apt/sources.list"
  own_apt update
  touch "$work/apt/ready"
}

# Headers and libraries of the other architecture: the packages of [build] with what they depend on, unpacked below
# $parts, but for what the cross compiler has itself.
unpack_packages() {
  [ ! -e "$parts/unpacked" ] || return 0
  local names package packages=() deb
  while read -r names; do
    for package in ${names//|/ }; do
      own_apt install --print-uris --no-install-recommends "$package" >/dev/null 2>&1 && break
    done
    packages+=("$package")
  done < <(sed -n '/^\[build\]/,/^\[page\]/p' "$top/packaging/debian-packages.txt" | grep -E -- '-dev(\||$)' |
    grep -vE '^(dpkg|libslurm|libpq|libjwt|prometheus)')
  own_apt install --download-only -y --no-install-recommends "${packages[@]}" >/dev/null
  for deb in "$work"/apt/archives/*.deb; do
    case ${deb##*/} in
      libc6* | libc-dev* | linux-libc-dev* | libstdc++* | libgcc* | gcc-*) ;;
      lib* | zlib* | nlohmann*) dpkg-deb -x "$deb" "$parts" ;;
    esac
  done
  touch "$parts/unpacked"
}

use_cross_compiler() {
  export PKG_CONFIG_LIBDIR=$parts/usr/lib/$arch-linux-gnu/pkgconfig:$parts/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$parts
  options+=(-DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=$arch" "-DCMAKE_CXX_COMPILER=$arch-linux-gnu-g++"
    "-DCMAKE_CXX_FLAGS=-isystem $parts/usr/include/$arch-linux-gnu"
    "-DCMAKE_LIBRARY_ARCHITECTURE=$arch-linux-gnu" "-DCMAKE_FIND_ROOT_PATH=$parts" "-DCMAKE_STRIP=$(command -v "$arch-linux-gnu-strip")"
    -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY
    -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY
    "-DCMAKE_CROSSCOMPILING_EMULATOR=$(command -v "qemu-$arch-static");-L;/usr/$arch-linux-gnu")
}

build_prometheus() {
  [ ! -e "$work/prometheus-installed" ] || return 0
  local root=
  if [ -n "$is_cross" ]; then root=$parts prometheus=/usr; fi # pkg-config puts $parts before it
  rm -rf "$work/source"
  mkdir -p "$work/source"
  (cd "$work/source" && own_apt source prometheus-cpp >"$work/source.log" 2>&1) ||
    fail "the source package prometheus-cpp could not be fetched; $work/source.log says why"
  cmake -S "$work"/source/prometheus-cpp-*/ -B "$work/source/build" -G Ninja "${options[@]}" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_FLAGS='-fPIE -fstack-protector-strong -D_FORTIFY_SOURCE=2' -DCMAKE_INSTALL_PREFIX="$prometheus" \
    -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF -DENABLE_PULL=OFF -DENABLE_PUSH=OFF -DENABLE_COMPRESSION=OFF \
    -DENABLE_TESTING=OFF --no-warn-unused-cli >/dev/null
  DESTDIR=$root cmake --build "$work/source/build" --target install >/dev/null
  touch "$work/prometheus-installed"
}

build() {
  if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  cd "$top"
  PKG_CONFIG_PATH=$prometheus/lib/pkgconfig cmake --preset portable -B "$work" "${options[@]}" >"$work/configure.log" ||
    fail "the build could not be configured; $work/configure.log says why"
  cmake --build "$work"
}

check_programs() { # FOLDER
  local program
  for program in "$1"/bin/gpuadvise "$1"/bin/gpuadvise-backtest "$1"/sbin/gpuadvised "$1"/libexec/gpuadvise/gpuadvise-collect; do
    ! readelf -dlW "$program" | grep -qE 'NEEDED|INTERP' || fail "$program is not static"
  done
  [ -s "$work/web/page/dist/index.html" ] || fail "the daemon has no dashboard: install nodejs and npm, and see the build's warnings"
  [ -s "$1/share/man/man1/gpuadvise.1.gz" ] || fail "there are no man pages: install scdoc"
}

# As packages have it, below /usr; gpuadvise-up gives the unit another prefix.
install_tree() {
  rm -rf "$tree"
  DESTDIR=$tree cmake --install "$work" --prefix /usr --strip >/dev/null
  check_programs "$tree/usr"
}

say_made() { # FILES...
  local file
  mkdir -p "$folder"
  for file in "$@"; do
    mv "$file" "$folder/"
    echo "$(stat -c '%s bytes' "$folder/${file##*/}")  $folder/${file##*/}"
  done
}

pack_rpms() {
  rm -rf "$work/rpm"
  rpmbuild -bb --quiet --nodeps --with portable --define "tree $tree" --define "_topdir $work/rpm" --target "$arch" \
    "$top/packaging/gpuadvise.spec" >"$work/rpm.log" 2>&1 || fail "the RPM packages could not be made; $work/rpm.log says why"
  say_made "$work"/rpm/RPMS/"$arch"/*.rpm
}

pack_debs() {
  rm -rf "$work/debs-made"
  cpack --config "$work/CPackConfig.cmake" -B "$work/debs-made" >"$work/deb.log" 2>&1 ||
    fail "the .deb packages could not be made; $work/deb.log says why"
  say_made "$work"/debs-made/*.deb
}

# The same source makes the same tarball.
pack_tarball() {
  local name
  name=gpuadvise-$("${run[@]}" "$tree/usr/bin/gpuadvise" --version | cut -d' ' -f2)-linux-$arch
  mv "$tree/usr" "$tree/$name"
  cp "$top/packaging/portable/gpuadvise-up" "$top/LICENSE" "$tree/$name/"
  tar -C "$tree" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git -C "$top" log -1 --format=%ct 2>/dev/null || echo 0)" \
    -cf - "$name" | xz -9e -T1 >"$work/$name.tar.xz"
  say_made "$work/$name.tar.xz"
}

"$top/packaging/install-packages.sh" build page portable
mkdir -p "$work" "$parts"
prepare_apt
run=()
if [ -n "$is_cross" ]; then
  "$top/packaging/install-packages.sh" aarch64
  run=("qemu-$arch-static")
  unpack_packages
  use_cross_compiler
fi
build_prometheus
build
install_tree
pack_rpms
pack_debs
pack_tarball
