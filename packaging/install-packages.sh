#!/usr/bin/env bash
# Installs the Debian packages of the named sections of debian-packages.txt that are not there yet.
#
#     packaging/install-packages.sh build [page] [test]
#
# Says what it installs, uses sudo only when not root, and does nothing when all are there.
set -euo pipefail

list=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/debian-packages.txt
export DEBIAN_FRONTEND=noninteractive

fail() {
  printf 'install-packages: %s\n' "$*" >&2
  exit 1
}

# A package with a command behind its name is not wanted where that command is there already.
packages_of() { # SECTION...
  local package command section=""
  while read -r package command; do
    case $package in
      '' | '#'*) ;;
      '['*']') section=${package:1:-1} ;;
      *)
        [[ " $* " == *" $section "* ]] || continue
        [ -n "$command" ] && command -v "$command" >/dev/null && continue
        echo "$package"
        ;;
    esac
  done <"$list"
  return 0
}

# Those that are not installed; of A|B the first that apt can install here is meant, A where apt knows neither.
missing_of() { # PACKAGES...
  local names package installed wanted=()
  for names in "$@"; do
    for package in ${names//|/ }; do
      [ "$package" != "$names" ] || break # no choice, no question
      grep -q '^ *Candidate: [^(]' <<<"$(LC_ALL=C apt-cache policy "$package" 2>/dev/null)" && break
      package=${names%%|*}
    done
    wanted+=("$package")
  done
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true)
  for package in "${wanted[@]}"; do
    grep -qxF "$package installed" <<<"$installed" || echo "$package"
  done
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo DEBIAN_FRONTEND=noninteractive "$@"
  else
    fail "root is needed to install packages and there is no sudo; as root run: apt-get install ${missing[*]}"
  fi
}

[ $# -gt 0 ] || fail "say which packages: build, page, test"
for section in "$@"; do
  grep -qxF "[$section]" "$list" || fail "no packages are listed under: $section"
done
mapfile -t wanted < <(packages_of "$@")
[ "${#wanted[@]}" -gt 0 ] || exit 0
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  fail "this is not a Debian-like system; install the counterparts of these by hand, then use cmake --preset release: ${wanted[*]}"
fi
mapfile -t missing < <(missing_of "${wanted[@]}")
[ "${#missing[@]}" -gt 0 ] || exit 0

quiet=(-o Dpkg::Use-Pty=0 -qq)
as_root apt-get "${quiet[@]}" update ||
  echo "install-packages: the package lists could not be refreshed; trying with those that are there" >&2
mapfile -t missing < <(missing_of "${wanted[@]}") # a fresh system knows only now what there is
[ "${#missing[@]}" -gt 0 ] || exit 0
echo "Installing ${#missing[@]} packages: ${missing[*]}"
as_root apt-get "${quiet[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null ||
  fail "apt-get could not install all of: ${missing[*]} (the lines above say why; Debian 12 and 13 have every one of them)"
