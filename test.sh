#!/usr/bin/env bash
# Installs what the tests need, builds, and runs every test: ./test.sh
#
# Layout first, then fuzz targets (1,000 runs each), all tests of the dev preset (the fast ones, then
# those against a real Slurm, which need root), and clang-tidy. The last line counts tests of the page and
# names lab tests that passed only in a second run; everything else must pass at once. Debian 12; two cores take 30 to 50
# minutes the first time.
#
# ./test.sh --releases instead compiles the slurm-api source against every Slurm release from 20.11 to
# 26.05 (tests/releases/compile_matrix.py, whose options may follow), and as root runs the releases that
# Debian has, each in a root of its own (tests/lab/releases/run.py), and installs the packages in clean
# roots (tests/releases/packages.py). The portable bundle takes half an hour to build: tests/releases/portable.py
# tries one that packaging/portable.sh has made, and is run by hand.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"

if [ "${1:-}" = --releases ]; then
  packaging/install-packages.sh build test releases
  python3 -B tests/releases/compile_matrix.py "${@:2}"
  cmake --preset dev
  cmake --build --preset dev
  python3 -B tests/lab/releases/run.py build/dev/bin || [ $? = 77 ]
  python3 -B tests/releases/packages.py || [ $? = 77 ]
  exit
fi
packaging/install-packages.sh build page test portable

ccache=()
if command -v ccache >/dev/null; then ccache=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi

tests/check_style.sh format

for preset in fuzz dev; do
  cmake --preset "$preset" "${ccache[@]}"
  cmake --build --preset "$preset"
done
failed=0
ctest --preset fuzz || failed=1
ctest --preset dev -LE lab || failed=1
page_tries=$(grep -c 'needed a second run: ' build/dev/Testing/Temporary/LastTest.log || true)
# These mostly wait for their Slurm, which may be slow: one that fails is run once more, and said to have needed it.
ctest --preset dev -L lab -j 4 --repeat until-pass:2 || failed=1
second_tries=$(python3 -B tests/lab/second_try.py build/dev/Testing/Temporary/LastTest.log) || failed=1
tests/check_style.sh tidy || failed=1
echo "$page_tries tests of the page needed a second run. $second_tries"
exit "$failed"
