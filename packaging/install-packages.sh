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

# Those of which no alternative is installed.
missing_of() { # PACKAGE[|PACKAGE...]...
  local installed wanted package
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' ${*//|/ } 2>/dev/null || true)
  for wanted in "$@"; do
    for package in ${wanted//|/ }; do
      grep -qxF "$package installed" <<<"$installed" && continue 2
    done
    echo "$wanted"
  done
}

# The first alternative of each that this system's archive has.
chosen_of() { # PACKAGE[|PACKAGE...]...
  local wanted package
  for wanted in "$@"; do
    for package in ${wanted//|/ }; do
      grep -q '^  Candidate: [^(]' <<<"$(LC_ALL=C apt-cache policy "$package")" || continue
      echo "$package"
      continue 2
    done
    echo "${wanted%%|*}"
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

echo "Installing ${#missing[@]} packages: ${missing[*]}"
quiet=(-o Dpkg::Use-Pty=0 -qq)
as_root apt-get "${quiet[@]}" update ||
  echo "install-packages: the package lists could not be refreshed; trying with those that are there" >&2
mapfile -t chosen < <(chosen_of "${missing[@]}")
as_root apt-get "${quiet[@]}" install -y --no-install-recommends "${chosen[@]}" >/dev/null ||
  fail "apt-get could not install all of: ${chosen[*]} (the lines above say why; Debian 12 and 13 have every one of them)"
