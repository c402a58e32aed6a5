#!/usr/bin/env bash
# The style that tools can judge: tests/check_style.sh format|tidy
#
# format: every C++ file is as clang-format lays it (.clang-format). tidy: clang-tidy finds nothing in
# the programs (.clang-tidy); the files of a room are read as one, which takes minutes instead of half
# an hour. Both say file and line, and end with 1.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
folders=(common daemon client backtest)

check_format() {
  find "${folders[@]}" bench config tests -name '*.cc' -o -name '*.h' |
    sort | xargs -P 2 -n 100 clang-format --dry-run --Werror
}

check_tidy() {
  cmake --preset tidy >/dev/null
  local found=0
  run-clang-tidy -p build/tidy -quiet "build/tidy/($(IFS='|' && echo "${folders[*]}"))/" \
    >build/tidy/found.log 2>build/tidy/progress.log || found=1
  sed 's/\x1b\[[0-9;]*m//g' build/tidy/found.log | grep -E '(error|warning):' | sort -u || true
  return "$found"
}

case ${1:-} in
  format) check_format ;;
  tidy) check_tidy ;;
  *) echo "usage: tests/check_style.sh format|tidy" >&2 && exit 2 ;;
esac
