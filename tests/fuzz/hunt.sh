#!/usr/bin/env bash
# A longer hunt: tests/fuzz/hunt.sh RUNS SECONDS [TARGET...]
#
# Gives each target of the preset `fuzz` (all, or those named) RUNS runs from its seeds and corpus, or
# as many as it makes in SECONDS, two targets at a time. Build the preset first. Prints a line of a table for each: runs, runs a second, edges found.
# What was found goes, reduced to what covers as much, into corpora/TARGET.tar.gz, which the tests
# begin from. Ends with 1 where a target crashed; the input is left in the folder that it names.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: hunt.sh RUNS SECONDS [TARGET...]" >&2; exit 2; }
runs=$1 seconds=$2
shift 2
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
cd "$root"
work=$(mktemp -d)
most_kept=200 # files of a corpus that are kept: the smallest

if [ $# -eq 0 ]; then
  mapfile -t all < <(sed -n 's/^fuzz_target(\([a-z_]*\) .*/\1/p' tests/fuzz/CMakeLists.txt)
  set -- "${all[@]}"
fi

hunt() { # TARGET
  local target=$1 found=$work/$1 log=$work/$1.log kept=$work/$1.kept
  mkdir -p "$found" "$kept"
  [ ! -f "tests/fuzz/corpora/$target.tar.gz" ] || tar -C "$found" -xzf "tests/fuzz/corpora/$target.tar.gz"
  if ! (cd "$work" && "$root/build/fuzz/bin/${target}_fuzz" -runs="$runs" -max_total_time="$seconds" -max_len=4096 -timeout=20 \
    -rss_limit_mb=2048 -malloc_limit_mb=256 \
    -artifact_prefix="$work/$target-" "$found" "$root/tests/fuzz/seeds/$target" >"$log" 2>&1); then
    echo "| $target | crashed: $log |"
    return 1
  fi
  "build/fuzz/bin/${target}_fuzz" -merge=1 -max_len=1024 "$kept" "$found" >>"$log" 2>&1
  mkdir -p tests/fuzz/corpora
  (cd "$kept" && find . -type f -printf '%s %p\n' | sort -n | awk -v most="$most_kept" 'NR <= most {print $2}' |
    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - -T - | gzip -n) >"tests/fuzz/corpora/$target.tar.gz"
  local done_line edges speed
  done_line=$(grep -o '^Done [0-9]* runs in [0-9]* second' "$log" | head -n 1)
  edges=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1)
  speed=$(sed -n 's/^Done \([0-9]*\) runs in \([0-9]*\) second.*/\1 \2/p' "$log" | awk 'NR==1 {print int($1 / ($2 > 0 ? $2 : 1))}')
  echo "| $target | $(awk '{print $2}' <<<"$done_line") | $speed | ${edges#cov: } |"
}
export -f hunt
export runs seconds root work most_kept
printf '%s\0' "$@" | xargs -0 -n 1 -P 2 bash -euo pipefail -c 'hunt "$0"'
